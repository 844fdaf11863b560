"""Texts that would fill the memory of the machine, if they were made."""

from torch.utils.data import DataLoader, Dataset

LINE = "a" * 999_999_999_999_999
LINES = 999_999_999_999 * ("b" * 9)
FIELD = "%0999999999d" % 1
WIDE = "%*d" % (999_999_999, 1)


class Lines(Dataset):
    def __init__(self):
        self.lines = [LINE, LINES, FIELD, WIDE, "x" * 10**15]

    def __len__(self):
        return len("y" * 10**15)

    def __getitem__(self, i):
        return self.lines[i]


loader = DataLoader(Lines(), num_workers=len(LINE), collate_fn=LINES)
