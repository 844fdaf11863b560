import torch
from torch.utils.data import DataLoader, Dataset


from functools import partial
f = partial(f, f)
f = partial(f, f)
DataLoader(f, collate_fn=f, num_workers=2)
