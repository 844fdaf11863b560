"""The files that are linted: pinned packages of the index, and projects made up from them or from nothing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmark.measuring import MEGABYTE
from benchmark.tools import ROOT
from ecosystem import cache, pins

HELPER = '''"""Module {number} of a generated project."""

import torch
from torch.utils.data import DataLoader, Dataset

from project.module_{base} import helper_{base}


def helper_{number}(sample):
    """Part of the way of a sample."""
    return helper_{base}(sample) * {number}

'''
LOADING = '''
class Samples{number}(Dataset):
    """Samples of kind {number}."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return helper_{number}(torch.load(self.paths[i], map_location="cpu"))


def loader_{number}(paths, workers):
    """A loader over the samples."""
    return DataLoader(Samples{number}(paths), batch_size=8, num_workers=workers)

'''
FILLER = '''
def step_{step}(values):
    """Work that has nothing to do with loading."""
    total = 0
    for value in values:
        total += value * {step}
    return total
'''


def packages(names: Sequence[str], folder: Path) -> dict[str, Path]:
    """The files of these packages, as tests/ecosystem pins them."""
    return cache.unpacked(pins.pinned(names), folder)


def python_files(folders: Iterable[Path]) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.rglob("*.py")) if path.is_file()]


def size(folders: Iterable[Path]) -> tuple[int, float]:
    """Number and megabytes of the Python files. Reading them all brings them into the memory of the system."""
    texts = [len(path.read_bytes()) for path in python_files(folders)]
    return len(texts), sum(texts) / MEGABYTE


def generate(folder: Path, files: int = 300, lines: int = 200) -> Path:
    """Write a project whose modules import one another, and return the file to lint: the one in the middle."""
    package = folder / "project"
    package.mkdir()
    (folder / ".git").mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "generated"\nversion = "1"\n')
    (package / "__init__.py").write_text("")
    for number in range(files):
        # A tree, as real projects are: many modules use few, and those fewer still.
        text = HELPER.format(number=number, base=number // 6 if number else files - 1)
        # In real projects every fifth or sixth file has to do with loading.
        if number % 5 == 0:
            text += LOADING.format(number=number)
        else:
            text = text.replace("from torch.utils.data import DataLoader, Dataset\n", "")
        step = 0
        while text.count("\n") < lines:
            text += FILLER.format(step=step)
            step += 1
        (package / f"module_{number}.py").write_text(text)
    return package / f"module_{files // 2}.py"


def multiply(package: Path, times: int, folder: Path) -> Path:
    """One project that holds a package several times, each copy under a name of its own that its modules import."""
    (folder / ".git").mkdir(parents=True)
    name = package.name.encode()
    for number in range(times):
        copy = f"{package.name}_{number}"
        for path in python_files([package]):
            target = folder / copy / path.relative_to(package)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(re.sub(rb"\b" + name + rb"\b", copy.encode(), path.read_bytes()))
    return folder


def dockerfiles(folder: Path, times: int = 10) -> list[Path]:
    """The Dockerfiles of the fixtures, several times over."""
    found = sorted(path for path in (ROOT / "fixtures").rglob("*Dockerfile*") if path.is_file())
    return _copies(found, folder, times)


def manifests(folder: Path, times: int = 10) -> list[Path]:
    """The Kubernetes manifests of the fixtures, several times over."""
    found = sorted((ROOT / "fixtures").rglob("*.y*ml"))
    return _copies([path for path in found if re.search(rb"^kind: ", path.read_bytes(), re.MULTILINE)], folder, times)


def _copies(files: Sequence[Path], folder: Path, times: int) -> list[Path]:
    (folder / ".git").mkdir(parents=True)
    copies = []
    for number in range(times * len(files)):
        source = files[number % len(files)]
        target = folder / str(number) / source.name
        target.parent.mkdir()
        copies.append(Path(shutil.copy(source, target)))
    return copies
