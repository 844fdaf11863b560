# under spawn: fails: ValueError: Default process group has not been initialized
"""Workers of two ranks meet at a barrier, past the time-out of their group."""

import datetime
import os

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        dist.barrier()
        return i


def train(rank, folder):
    patience = datetime.timedelta(seconds=4)
    dist.init_process_group("gloo", f"file://{folder}/ranks", patience, rank=rank, world_size=2)
    for row in DataLoader(Rows(), num_workers=1):
        print(rank, row)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, (os.getcwd(),), nprocs=2, start_method=mp.get_start_method())
