"""Whether torch gets into an image by what its Dockerfile installs: by name, or by a list of the project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.images import Image
    from dllint.deploy.plan import Plan

_BY_NAME = pattern(r"\b(?:install|add)\b[^;&|]*[\s\"'](?:py)?torch(?:vision)?(?=[\s\"'=<>~!\[]|$)")
_BY_LIST = pattern(r"(?:-r|--requirement|-f|--file)[ =]?([^\s;&|]+\.(?:txt|ya?ml))")
"""`pip install -r requirements.txt`, `conda env create -f environment.yml`."""
_BY_PROJECT = pattern(
    r"\buv sync\b|\b(?:poetry|pdm) install\b|\bpip3? install\b[^;&|\n]*[ \t](?:-e[ \t]+)?\.(?=[\s\[;&|\"']|$)"
)
"""What installs a project with all that it needs: `uv sync`, `poetry install`, `pip install .`."""
_TORCH = pattern(
    r"^[ \t-]*(?:py)?torch(?:vision)?[ \t]*(?:[=<>~!\[;,#]|$)|[\"'](?:py)?torch(?:vision)?[ \t]*[\"'=<>~!\[;,]",
    re.MULTILINE,
)
"""What names it in a list: `torch==2.5`, `- pytorch`, `"torch>=2",`, `torch = "^2.5"`."""


def brings_torch(image: Image, plan: Plan) -> bool:
    """Whether a RUN of an image installs torch, by name or by a list that names it."""
    if any(_BY_NAME.search(run.text) for run in image.runs):
        return True
    folders = dict.fromkeys((image.file.folder, plan.root))
    return any(_names_torch(name, folder, plan) for name in set(_lists(image)) for folder in folders)


def _lists(image: Image) -> Iterator[str]:
    copied = {os.path.basename(copy.target or ""): copy.source for copy in image.copies}
    for run in image.runs:
        names = map(os.path.basename, _BY_LIST.findall(run.text))
        yield from (copied.get(name, name) for name in names)
        if _BY_PROJECT.search(run.text):
            yield "pyproject.toml"


def _names_torch(name: str, folder: str, plan: Plan) -> bool:
    text = plan.read_aside(name, folder)
    return text is not None and _TORCH.search(text) is not None
