# under fork: runs
# under spawn forkserver: fails: of 4 lines are left
"""Each spawned worker opens the journal for writing, which empties it."""

from torch.utils.data import DataLoader

journal = open("journal.txt", "w")


def main():
    for i in range(4):
        journal.write(f"line {i}\n")
    journal.flush()
    for batch in DataLoader([1, 2], num_workers=1):
        print(batch)
    with open("journal.txt") as file:
        left = len(file.readlines())
    if left < 4:
        raise SystemExit(f"{left} of 4 lines are left")


if __name__ == "__main__":
    main()
