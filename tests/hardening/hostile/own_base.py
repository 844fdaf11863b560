import torch
from torch.utils.data import DataLoader, Dataset


class A(A, Dataset):

    def __getitem__(self, i):
        return super().__getitem__(i).cuda()
DataLoader(A(), num_workers=2)
