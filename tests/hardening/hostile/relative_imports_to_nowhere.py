import torch
from torch.utils.data import DataLoader, Dataset


from ........ import x
from . import data, sentinel
from .data import *
DataLoader(x, num_workers=2)
