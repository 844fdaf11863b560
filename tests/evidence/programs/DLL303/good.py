"""The index is read once, and kept as one tensor."""

import json

import torch
from measure import read_mb, workers
from torch.utils.data import DataLoader, Dataset


class Boxes(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.boxes = torch.tensor(json.load(file))

    def __len__(self):
        return 200

    def __getitem__(self, i):
        return self.boxes[i]


def main():
    with open("boxes.json", "w") as file:
        json.dump([[i, i, i + 100_000, i + 100_000] for i in range(5000)], file)
    loader = DataLoader(Boxes("boxes.json"), num_workers=1, persistent_workers=True)
    for box in loader:
        print(len(box))
    (worker,) = workers()
    if read_mb(worker) > 10:
        raise SystemExit(f"a worker has read {read_mb(worker):.0f} MB to get one line of it for each sample")


if __name__ == "__main__":
    main()
