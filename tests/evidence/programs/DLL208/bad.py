# always: fails: clips are those of another index
"""All workers write the same file."""

from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __len__(self):
        return 2000

    def __getitem__(self, i):
        with open("clip.txt", "w") as file:
            file.write(f"{i} " * 1000)
        with open("clip.txt") as file:
            return int(file.read() == f"{i} " * 1000)


def main():
    right = sum(int(batch.sum()) for batch in DataLoader(Clips(), batch_size=10, num_workers=4))
    if right < 2000:
        raise SystemExit(f"{2000 - right} of 2000 clips are those of another index")


if __name__ == "__main__":
    main()
