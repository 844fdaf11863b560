# always: fails: ValueError: cannot find context for 'forks'
"""There is no such method."""

import torch.multiprocessing as mp


def main():
    mp.set_start_method("forks")
    process = mp.Process(target=print, args=(1,))
    process.start()
    process.join()


if __name__ == "__main__":
    main()
