"""A project that is several times as large takes about as many times as long, whatever it has more of.

Functions are counted, not timed: no function may be called out of proportion to the input. That is the same on every
machine, and names the culprit. What goes through all of a file in one call shows in the processor time alone.
"""

from __future__ import annotations

import cProfile
import time
from collections.abc import Callable

import pytest

from dllint.linter import lint
from harness import discovered, workspace

_TIMES = 4
"""How much larger the larger project is."""
_MOST_CALLS = 1.6 * _TIMES
"""Times as many calls of one function: what grows with the square has 16."""
_MOST_TIME = 1.75 * _TIMES
_FEW_CALLS = 500
"""Calls of one function, more or less, that say nothing: some tables are only made where they are worth it."""

Files = dict[str, str]

HEAD = "import torch\nfrom torch.utils.data import DataLoader, Dataset\n\n"
TRAIN = HEAD + "for batch in DataLoader(Images('x'), num_workers=4):\n    print(batch)\n"


def images(name: str = "Images", *, base: str = "Dataset", item: str = "self.items[index]") -> str:
    """A dataset class."""
    return (
        f"class {name}({base}):\n"
        "    def __init__(self, root):\n        self.root, self.items = root, list(range(9))\n\n"
        "    def __len__(self):\n        return len(self.items)\n\n"
        f"    def __getitem__(self, index):\n        return {item}\n\n\n"
    )


def loader(dataset: str, workers: str = "2") -> str:
    """A line that builds a loader."""
    return f"DataLoader({dataset}('x'), batch_size=4, num_workers={workers})\n"


def lines(count: int, make: Callable[[int], str]) -> str:
    return "".join(map(make, range(count)))


def datasets(count: int) -> Files:
    return {"a.py": HEAD + lines(count, lambda n: images(f"D{n}") + f"loader{n} = " + loader(f"D{n}"))}


def datasets_in_files(count: int) -> Files:
    return {f"m{n}.py": HEAD + images(f"D{n}") + "def make(root):\n    return " + loader(f"D{n}") for n in range(count)}


def shared_handles(count: int) -> Files:
    made = lines(count, lambda n: f"RECORDS{n} = open('x{n}')\n")
    read = lines(count, lambda n: images(f"D{n}", item=f"RECORDS{n}.read()") + f"loader{n} = " + loader(f"D{n}"))
    return {"a.py": HEAD + made + read}


def class_handles(count: int) -> Files:
    made = lines(count, lambda n: f"class Store{n}:\n    records = open('x{n}')\n\n")
    read = lines(count, lambda n: images(f"D{n}", item=f"Store{n}.records.read()") + f"loader{n} = " + loader(f"D{n}"))
    return {"a.py": HEAD + made + read}


def loader_classes(count: int) -> Files:
    def wrapper(n: int) -> str:
        init = f"    def __init__(self, data):\n        super().__init__(data, num_workers={n % 8})\n\n\n"
        return f"class Loader{n}(DataLoader):\n{init}loader{n} = Loader{n}(Images('x'))\n"

    return {"a.py": HEAD + images() + lines(count, wrapper)}


def loops(count: int) -> Files:
    turn = "    for batch in loader:\n        print(batch)\n"
    passed = ("    loader = " + loader("Images") + turn) * count
    return {"a.py": HEAD + images() + "def main():\n" + passed + "\n\nif __name__ == '__main__':\n    main()\n"}


def branches(count: int) -> Files:
    chosen = lines(count, lambda n: f"    elif name == 'x{n}':\n        workers = {n % 8}\n")
    start = "def main(name):\n    workers = 0\n    if name == 'y':\n        workers = 1\n"
    return {"a.py": HEAD + images() + start + chosen + "    return " + loader("Images", "workers")}


def keys(count: int) -> Files:
    stored = lines(count, lambda n: f"OPTIONS['k{n}'] = {n % 8}\n")
    read = lines(count // 2, lambda n: f"loader{n} = " + loader("Images", f"OPTIONS['k{n}']"))
    return {"a.py": HEAD + images() + "OPTIONS = {}\n" + stored + read}


def fields(count: int) -> Files:
    declared = lines(count, lambda n: f"    workers{n}: int = {n % 8}\n")
    read = lines(count, lambda n: f"loader{n} = " + loader("Images", f"options.workers{n}"))
    options = "@dataclass\nclass Options:\n" + declared + "\n\noptions = Options()\n"
    return {"a.py": "from dataclasses import dataclass\n" + HEAD + images() + options + read}


def nested_functions(count: int) -> Files:
    built = loader("Images")
    made = lines(count, lambda n: f"    def collate{n}(batch):\n        return batch\n\n    loader{n} = {built}")
    return {"a.py": HEAD + images() + "def main():\n" + made + "\n\nmain()\n"}


def scripts(count: int) -> Files:
    run = "docker run --gpus all pytorch/pytorch bash run{next}.sh\npython train.py --workers {n}\n"
    return {"train.py": TRAIN} | {f"run{n}.sh": run.format(n=n, next=n + 1) for n in range(count)}


def services(count: int) -> Files:
    one = "  s{n}:\n    image: pytorch/pytorch\n    command: python train.py\n    depends_on: [s{before}]\n"
    text = "services:\n" + lines(count, lambda n: one.format(n=n, before=max(0, n - 1)))
    return {"train.py": TRAIN, "compose.yaml": text}


def programs(count: int) -> Files:
    built: Files = {}
    for n in range(count):
        built[f"s{n}/train.py"] = HEAD + images() + "for batch in " + loader("Images").strip() + ":\n    print(batch)\n"
        built[f"s{n}/Dockerfile"] = "FROM pytorch/pytorch\nCOPY train.py .\nCMD python train.py\n"
    return built


def profiled(files: Files) -> dict[str, int]:
    """How often each function was called while a project of these files was linted."""
    profile = cProfile.Profile()
    with workspace() as folder:
        projects, settings = discovered(folder, files)
        report = profile.runcall(lint, projects, settings)
    assert not report.errors, report.errors
    calls: dict[str, int] = {}
    for entry in profile.getstats():
        name = entry.code if isinstance(entry.code, str) else f"{entry.code.co_filename}:{entry.code.co_firstlineno}"
        calls[name] = calls.get(name, 0) + entry.callcount
    return calls


SHAPES: dict[Callable[[int], Files], int] = {
    datasets: 30,
    datasets_in_files: 15,
    shared_handles: 25,
    class_handles: 25,
    loader_classes: 40,
    loops: 40,
    branches: 100,
    keys: 60,
    fields: 60,
    nested_functions: 40,
    scripts: 40,
    services: 50,
    programs: 15,
}
"""What a project may have many of, and how many of it the smaller one has."""


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_function_is_called_out_of_proportion(shape: Callable[[int], Files]) -> None:
    count = SHAPES[shape]
    profiled(shape(4))  # imports what there is to import
    small, large = profiled(shape(count)), profiled(shape(_TIMES * count))
    grown = {
        name: (small.get(name, 0), calls)
        for name, calls in large.items()
        if calls > _MOST_CALLS * (small.get(name, 0) + _FEW_CALLS)
    }
    assert not grown


@pytest.mark.parametrize(("shape", "count"), [(loader_classes, 75), (shared_handles, 75)], ids=["classes", "handles"])
def test_the_time_grows_in_proportion(shape: Callable[[int], Files], count: int) -> None:
    def seconds(files: Files) -> float:
        with workspace() as folder:
            projects, settings = discovered(folder, files)
            start = time.process_time()
            lint(projects, settings)
            return time.process_time() - start

    seconds(shape(4))
    runs = [(seconds(shape(count)), seconds(shape(_TIMES * count))) for _ in range(3)]
    assert min(large for _, large in runs) < _MOST_TIME * min(small for small, _ in runs)
