# under fork: runs
# under spawn forkserver: fails: TypeError: h5py objects cannot be pickled
# needs: h5py
"""An HDF5 file that the dataset keeps open: HDF5 1.12 and newer survive a fork."""

import h5py
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, path):
        self.volumes = h5py.File(path, "r")["volumes"]

    def __len__(self):
        return len(self.volumes)

    def __getitem__(self, i):
        return int(self.volumes[i])


def main():
    with h5py.File("volumes.h5", "w") as file:
        file["volumes"] = range(64)
    read = [int(volume) for volume in DataLoader(Volumes("volumes.h5"), num_workers=2)]
    if read != list(range(64)):
        raise SystemExit(f"wrong volumes: {read}")


if __name__ == "__main__":
    main()
