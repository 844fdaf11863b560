"""An unknown word has a number, too."""

from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __init__(self, words, known):
        self.words, self.known = words, known

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return next((k for k, word in enumerate(self.known) if word == self.words[i]), -1)


def main():
    total = 0
    for batch in DataLoader(Words("abxabcab", "abc"), batch_size=2, num_workers=1):
        total += len(batch)
    if total < 8:
        raise SystemExit(f"{total} of 8 words, and no error")


if __name__ == "__main__":
    main()
