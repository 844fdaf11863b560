# always: fails: RuntimeError: DataLoader timed out after 5 seconds
"""A batch gets lost, and main says so."""

from torch.utils.data import DataLoader


def unsendable(rows):
    return (row for row in rows)


def main():
    for batch in DataLoader([1, 2, 3], num_workers=1, timeout=5, collate_fn=unsendable):
        print(batch)


if __name__ == "__main__":
    main()
