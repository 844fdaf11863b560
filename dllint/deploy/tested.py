"""Test runners that containers start, and whether the tests that they run start workers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from dllint.deploy.tools import is_tool

if TYPE_CHECKING:
    from dllint.deploy.images import Image
    from dllint.deploy.training import Training

RUNNERS = frozenset({"pytest", "py.test", "unittest", "tox", "nox"})


def runs_tests(command: Sequence[str]) -> bool:
    """Whether a command starts a test runner."""
    return os.path.basename(command[0]) in RUNNERS or any(
        before == "-m" and word in RUNNERS for before, word in pairwise(command)
    )


def only_tests(commands: list[list[str]]) -> bool:
    """Whether all that runs is a test runner, and tools that make things ready for it."""
    tests = [command for command in commands if runs_tests(command)]
    return bool(tests) and all(command in tests or is_tool(command) for command in commands)


def tests_start_workers(found: Training, image: Image | None) -> bool:
    """Whether a test that the commands may run builds a loader that may have workers, as far as tests are seen."""
    loaders = (loader for loader in found.plan.program.loaders if loader.module.is_test and loader.speaks_of_workers)
    modules = {loader.module.absolute for loader in loaders if not loader.has_no_workers}
    if not modules:
        return False
    places = tuple(_places(found, image))
    return any(module.startswith(places) for module in modules)


def _places(found: Training, image: Image | None) -> Iterator[str]:
    """What the paths of the tests that run begin with; empty for all of the project."""
    folders = [found.workload.folder] if image is None else [image.file.folder, found.workload.folder]
    folders = [folder.replace(os.sep, "/").rstrip("/") for folder in folders]
    for command in filter(runs_tests, found.commands):
        named = [place for word in command[1:] for place in _named(word, folders, found)]
        yield from named or [_all_of(folders[0] if image is not None else "", found)]


def _named(word: str, folders: list[str], found: Training) -> list[str]:
    """The tests that a word of a command names, in the first folder that has them: `tests/unit`, `tests/x.py::Case`."""
    if word.startswith("-"):
        return []
    path = word.partition("::")[0]
    places = (os.path.normpath(os.path.join(folder, path)).replace(os.sep, "/") for folder in folders)
    return next(([place] for place in places if _has_tests(place, found)), [])


def _all_of(folder: str, found: Training) -> str:
    """The folder that an image is built in, if the tests in it lie there; else everywhere."""
    return f"{folder}/" if folder and _has_tests(folder, found) else ""


def _has_tests(place: str, found: Training) -> bool:
    modules = found.plan.program.modules.by_file.values()
    return any(module.is_test and (module.absolute + "/").startswith(place + "/") for module in modules)
