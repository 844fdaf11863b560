import torch
from torch.utils.data import DataLoader, Dataset


class A(B):
    pass

class B(A):
    pass
for x in DataLoader(A(), num_workers=2):
    pass
