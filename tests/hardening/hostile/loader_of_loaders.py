import torch
from torch.utils.data import DataLoader, Dataset


a = DataLoader(a, num_workers=2)
b = DataLoader(DataLoader(b, num_workers=b), num_workers=a)
