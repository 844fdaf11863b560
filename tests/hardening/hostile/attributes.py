import torch
from torch.utils.data import DataLoader, Dataset


class A(Dataset):

    def __init__(self):
        self.a = self.b
        self.b = self.a
        self.c = self

    def __getitem__(self, i):
        return self.a.b.c.c.c(i)
DataLoader(A(), num_workers=2)
