# under fork: fails: the same numbers in both epochs
# needs: numpy
"""Workers are seeded with their number, in each epoch."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return int(np.random.randint(1_000_000))


def seed(worker_id):
    np.random.seed(42 + worker_id)


def main():
    loader = DataLoader(Noise(), batch_size=2, num_workers=2, worker_init_fn=seed)
    first, second = ([batch.tolist() for batch in loader] for _ in range(2))
    if first == second:
        raise SystemExit(f"the same numbers in both epochs: {first}")


if __name__ == "__main__":
    main()
