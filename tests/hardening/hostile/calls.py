import torch
from torch.utils.data import DataLoader, Dataset


class A(Dataset):

    def __getitem__(self, i):
        return f(i)

def f(i):
    return g(i)

def g(i):
    return f(i).cuda()
DataLoader(A(), num_workers=2)
