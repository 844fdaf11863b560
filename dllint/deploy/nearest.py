"""Which file of the project a path in a container most likely is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import takewhile
from typing import TypeVar

from dllint.code.language.modules import Module
from dllint.deploy.texts import DeployFile

_File = TypeVar("_File", Module, DeployFile)


def parts_of(written: str) -> list[str]:
    """The folders and the name in a path, as far as they are known."""
    return [part for part in re.split(r"[/\\]", written) if part not in ("", ".", "..") and "$" not in part]


def folders_in_common(folder: str, path: str) -> int:
    """How many folders, from the root on, a folder and a file of absolute paths have in common."""
    pairs = zip(re.split(r"[/\\]", folder), re.split(r"[/\\]", path), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def closest(parts: list[str], modules: Iterable[_File], folder: str) -> _File | None:
    """The file whose path ends with the most of `parts`; None where two are as good and neither lies nearer."""
    best: list[_File] = []
    most = 0
    for module in modules:
        own = module.absolute.split("/")
        if own[-1] != parts[-1]:
            continue
        common = next((n for n, (a, b) in enumerate(zip(reversed(own), reversed(parts), strict=False)) if a != b), None)
        length = min(len(own), len(parts)) if common is None else common
        if length > most:
            best, most = [module], length
        elif length == most:
            best.append(module)
    if len(best) > 1:
        inside = folder.replace(os.sep, "/").rstrip("/") + "/"
        best = [module for module in best if module.absolute.startswith(inside)]
    return best[0] if len(best) == 1 else None
