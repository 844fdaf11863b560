# always: fails: OSError: [Errno 24] Too many open files
# nofile: 256
"""The dataset keeps each file that it has opened."""

from torch.utils.data import DataLoader, Dataset


class Notes(Dataset):
    def __init__(self, path):
        self.path = path
        self.files = []

    def __len__(self):
        return 1000

    def __getitem__(self, i):
        file = open(self.path, "rb")
        self.files.append(file)
        return len(file.read())


def main():
    with open("note.txt", "w") as file:
        file.write("a note")
    for batch in DataLoader(Notes("note.txt"), batch_size=10, num_workers=1):
        print(batch.sum())


if __name__ == "__main__":
    main()
