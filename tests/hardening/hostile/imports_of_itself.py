import torch
from torch.utils.data import DataLoader, Dataset


from data import *
import data
from data import A as B

class A(data.A, B):
    pass
DataLoader(A(), num_workers=2)
