import torch
from torch.utils.data import DataLoader, Dataset


class A(Dataset):

    @property
    def p(self):
        return self.p

    def __getitem__(self, i):
        return self.p
DataLoader(A(), num_workers=2)
