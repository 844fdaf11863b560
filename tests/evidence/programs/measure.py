"""What a process costs, as the kernel tells it."""

import multiprocessing


def private_mb(pid="self"):
    """The memory that a process shares with no other."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_")) // 1024


def read_mb(pid="self"):
    """What a process has read from files and pipes."""
    with open(f"/proc/{pid}/io") as file:
        return int(file.readline().split()[1]) / 1e6


def workers():
    """The processes that main has started."""
    return [process.pid for process in multiprocessing.active_children()]
