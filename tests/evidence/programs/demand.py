"""How full /dev/shm gets while a slow main reads batches of 1 MB: `demand.py WORKERS PREFETCH` prints the peak in bytes."""

import os
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def used():
    state = os.statvfs("/dev/shm")
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def main(workers, prefetch):
    rows = TensorDataset(torch.zeros((workers * prefetch + 8) * 4, 1 << 16))
    loader = DataLoader(rows, batch_size=4, num_workers=workers, prefetch_factor=prefetch)
    levels = [0]
    reading = True

    def look():
        while reading:
            levels.append(used())
            time.sleep(0.001)

    batches = iter(loader)
    watcher = threading.Thread(target=look)
    watcher.start()
    for number, (batch,) in enumerate(batches):
        time.sleep(0.05 if number else 2)
        print(len(batch))
    reading = False
    watcher.join()
    print(f"peak {max(levels)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
