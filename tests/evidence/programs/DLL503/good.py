"""The script itself sets the method, before anything needs it."""

import torch.multiprocessing as mp


def main():
    queue = mp.Queue()
    process = mp.Process(target=queue.put, args=(1,))
    process.start()
    print(queue.get())
    process.join()


if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
