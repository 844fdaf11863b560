import torch
from torch.utils.data import DataLoader, Dataset


n = m
m = n
DataLoader(n, num_workers=m, prefetch_factor=n, **n)
