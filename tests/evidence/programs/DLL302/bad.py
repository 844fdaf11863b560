# under fork: fails: while it read the paths
# needs: numpy
"""A list with one string for each sample."""

from measure import private_mb, workers
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, total):
        self.paths = [f"/data/photos/{i % 1000:04d}/{i:09d}.jpg" for i in range(total)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return len(self.paths[i])


def main():
    batches = iter(DataLoader(Photos(400_000), batch_size=1000, shuffle=True, num_workers=1))
    next(batches)
    (worker,) = workers()
    before = private_mb(worker)
    for _ in range(390):
        next(batches)
    if private_mb(worker) > before + 20:
        raise SystemExit(f"a worker has grown by {private_mb(worker) - before} MB while it read the paths")


if __name__ == "__main__":
    main()
