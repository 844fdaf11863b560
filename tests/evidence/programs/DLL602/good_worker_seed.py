# under fork: runs
# needs: numpy
"""torch seeds NumPy in each worker and epoch by itself."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return int(np.random.randint(1_000_000))


def main():
    loader = DataLoader(Noise(), batch_size=2, num_workers=2)
    first, second = ([batch.tolist() for batch in loader] for _ in range(2))
    if first == second:
        raise SystemExit(f"the same numbers in both epochs: {first}")


if __name__ == "__main__":
    main()
