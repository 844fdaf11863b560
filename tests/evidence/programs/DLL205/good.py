# needs: cv2 numpy
"""OpenCV works in the thread that calls it."""

import os

import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)


class Photos(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, i):
        before = len(os.listdir("/proc/self/task"))
        cv2.resize(np.zeros((2000, 2000, 3), np.uint8), (1500, 1500))
        return len(os.listdir("/proc/self/task")) - before


def main():
    for threads in DataLoader(Photos(), num_workers=1):
        if threads > 0:
            raise SystemExit(f"{int(threads)} more threads of OpenCV in one worker")


if __name__ == "__main__":
    main()
