import torch
from torch.utils.data import DataLoader, Dataset


n = n
n += n
args = dict(**args)
args = {**args, **args}
DataLoader(**args)
DataLoader(*args, num_workers=n)
