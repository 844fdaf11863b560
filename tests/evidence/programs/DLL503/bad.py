# always: fails: RuntimeError: context has already been set
"""A queue has settled the start method."""

import torch.multiprocessing as mp


def main():
    queue = mp.Queue()
    mp.set_start_method("spawn")
    process = mp.Process(target=queue.put, args=(1,))
    process.start()
    print(queue.get())
    process.join()


if __name__ == "__main__":
    main()
