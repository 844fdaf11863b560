# under fork: runs
# under forkserver: fails: rank ... has read 8 of 8 rows
"""Workers ask which rank they are in: those of forkserver are in none, and read everything."""

import os

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, IterableDataset


class Rows(IterableDataset):
    def __iter__(self):
        rank, ranks = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        yield from range(rank, 8, ranks)


def train(rank, folder):
    dist.init_process_group("gloo", f"file://{folder}/ranks", rank=rank, world_size=2)
    rows = [int(row) for row in DataLoader(Rows(), num_workers=1)]
    dist.barrier()
    dist.destroy_process_group()
    if len(rows) != 4:
        raise SystemExit(f"rank {rank} has read {len(rows)} of 8 rows")


if __name__ == "__main__":
    mp.start_processes(train, (os.getcwd(),), nprocs=2, start_method=mp.get_start_method())
