# under fork forkserver: runs
"""The dataset asks in main, and carries the answer into its workers."""

import os

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, IterableDataset


class Rows(IterableDataset):
    def __init__(self):
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()

    def __iter__(self):
        yield from range(self.rank, 8, self.ranks)


def train(rank, folder):
    dist.init_process_group("gloo", f"file://{folder}/ranks", rank=rank, world_size=2)
    rows = [int(row) for row in DataLoader(Rows(), num_workers=1)]
    dist.barrier()
    dist.destroy_process_group()
    if len(rows) != 4:
        raise SystemExit(f"rank {rank} has read {len(rows)} of 8 rows")


if __name__ == "__main__":
    mp.start_processes(train, (os.getcwd(),), nprocs=2, start_method=mp.get_start_method())
