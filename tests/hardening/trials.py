"""What the long run tries: each trial has a name, from which alone its input can be made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings

import expressions
from dllint.kinds import Kind, kind_of
from harness import EXPECT_FILE, FIXTURES, Case, split_labels
from languages import LANGUAGES
from mutations import MUTATIONS
from survival import survives

EXAMPLES = 50
"""Generated files of one trial."""
_LARGEST = 400_000
_SHOWN = 1_500
"""Characters of a generated file that a failure shows."""
_HOLDERS = {
    "train.py": ("import torch\nx = '@'\nDataLoader([1], num_workers=2)\n", "import torch  # @\n@\nDataLoader(x)\n@\n"),
    "train.ipynb": ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["import torch\\n", "@"]}]}',),
    "compose.yaml": (
        "services:\n  a:\n    image: @\n    command: '@'\n",
        "services:\n@: @\n",
        "services:\n  a: {volumes: ['@']}\n",
    ),
    "pod.yaml": (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - image: pytorch/pytorch\n      args: ['@']\n@\n",
    ),
    "chart/templates/pod.yaml": ("apiVersion: v1\nkind: Pod\nspec: {{ @ }}\n@\n{{- if @ }}\n@\n{{ end }}\n",),
    ".github/workflows/a.yml": (
        "jobs:\n  a:\n    container: pytorch/pytorch\n    steps:\n      - run: |\n          @\n",
    ),
    "task.json": ('{"containerDefinitions": [{"image": "@", "command": ["@"]}, @]}',),
    "Dockerfile": ("FROM pytorch/pytorch\nRUN @\nENV A=@\nCMD @\n", "FROM @\n@\n", "FROM a\nRUN <<E\n@\nE\n"),
    "run.sh": ("docker run @\n", "docker run pytorch/pytorch python train.py @\n@\n", "A=@\ndocker run $A '@'\n"),
    "Makefile": ("A = @\nrun: @\n\tdocker run pytorch/pytorch $(A) @\n", "@\n"),
    "justfile": ("a := '@'\nrun:\n    docker run pytorch/pytorch {{a}} @\n",),
    "README.md": ("```bash\ndocker run pytorch/pytorch @\n```\n\n    docker run @\n@\n", "@\n"),
    "README.rst": (".. code-block:: bash\n\n    docker run pytorch/pytorch @\n\n@::\n\n    @\n",),
    "bake.hcl": ('target "a" {\n  args = { A = "@" }\n  @\n}\n',),
    "a.container": ("[Container]\nImage=pytorch/pytorch\nExec=@\nPodmanArgs=@\n@\n",),
    "a.service": ("[Service]\nExecStart=/usr/bin/docker run pytorch/pytorch @\n@\n",),
    "run.bat": ("set A=@\ndocker run pytorch/pytorch %A% @\n",),
    "run.ps1": ("$A = @\ndocker run pytorch/pytorch $A @\n",),
    "requirements.txt": ("torch@\n@\n",),
    "pyproject.toml": ("[project]\ndependencies = ['torch@']\n@\n",),
    ".gitignore": ("@\n",),
    ".env": ("A=@\n@\n",),
}
"""Texts for each kind of file, with a place for a line that shall take for ever."""


@dataclass(frozen=True)
class Trial:
    """One thing to try. `run` returns how many inputs it was, and raises if one of them failed."""

    kind: str
    name: str
    run: Callable[[], int]


def of_expressions(number: int) -> Iterator[Trial]:
    """Every regular expression against every attack."""
    for index, use in enumerate(expressions.uses()):
        yield Trial("regex", f"{index} {use.place}.{use.method}", partial(_attack, use, number))


def _attack(use: expressions.Use, number: int) -> int:
    found = expressions.attacked(use, number)
    assert found.seconds <= expressions.SLOW, f"{found.seconds:.1f} s for {found.text}"
    return found.count


def of_lines(number: int) -> Iterator[Trial]:
    """Every kind of file with an endless line in it."""
    for (name, holders), text in product(_HOLDERS.items(), _attacks(number)):
        for index, holder in enumerate(holders):
            label = f"{name} {index} {text[:12]!r}..{text[-12:]!r}"
            yield Trial("line", label, partial(_line, name, holder, text))


def _attacks(number: int) -> list[str]:
    random = Random(number)
    pairs = (random.sample(expressions.ATOMS, 2) for _ in range(40))
    mixed = [(one + two) * (expressions.LENGTH // len(one + two)) for one, two in pairs]
    return [*(atom * (expressions.LENGTH // len(atom)) for atom in expressions.ATOMS), *mixed]


def _line(name: str, holder: str, text: str) -> int:
    escaped = json.dumps(text)[1:-1] if name.endswith(("json", "ipynb")) else text
    survives(holder.replace("@", escaped).encode(), name)
    return 1


def of_fixtures(number: int) -> Iterator[Trial]:
    """Every file of every fixture, broken in every way, within its project."""
    for path in sorted(FIXTURES.rglob("*")):
        if path.is_file() and path.name != EXPECT_FILE and "__pycache__" not in path.parts:
            yield from _broken("fixture", path, path.relative_to(FIXTURES).as_posix(), number)


def of_real(folders: Iterable[str], files: int, number: int) -> Iterator[Trial]:
    """Files of real projects, broken in every way: half of them code that names torch, half others by turns."""
    found: dict[Kind, list[Path]] = {}
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            kind = kind_of(path.name)
            if kind is not None and path.is_file() and path.stat().st_size < _LARGEST:
                found.setdefault(kind, []).append(path)
    random = Random(number)
    for paths in found.values():
        random.shuffle(paths)
    code = (path for path in found.pop(Kind.PYTHON, []) if b"torch" in path.read_bytes())
    chosen = [path for path, _ in zip(code, range(files // 2), strict=False)]
    while len(chosen) < files and any(found.values()):
        chosen += [paths.pop() for paths in found.values() if paths]
    for path in chosen[:files]:
        yield from _broken("real", path, str(path), number)


def _broken(kind: str, path: Path, label: str, number: int) -> Iterator[Trial]:
    for mutation in MUTATIONS:
        name = f"{mutation} {label}"
        yield Trial(f"{kind}: {mutation}", name, partial(_mutated, path, mutation, f"{number} {name}"))


def _mutated(path: Path, mutation: str, number: str) -> int:
    _, data = split_labels("", path.read_bytes())
    broken = MUTATIONS[mutation](data, kind_of(path.name) or Kind.SHELL, Random(number))
    project = _project(path)
    name = path.relative_to(project.source).as_posix() if project is not None else path.name
    survives(broken, name, project)
    return 1


def _project(path: Path) -> Case | None:
    """The fixture that a file stands in, where that is a folder."""
    if not path.is_relative_to(FIXTURES):
        return None
    top = FIXTURES.joinpath(*path.relative_to(FIXTURES).parts[: 1 if "showcase" in path.parts else 2])
    return Case(top) if top.is_dir() else None


def of_languages(examples: int, number: int) -> Iterator[Trial]:
    """Files that are made by grammar."""
    for language, chunk in product(LANGUAGES, range(max(1, examples // EXAMPLES))):
        name = f"{language} {chunk}"
        yield Trial(f"generated: {language}", name, partial(_generated, language, number * 10_000 + chunk))


def _generated(language: str, number: int) -> int:
    name, texts = LANGUAGES[language]

    # Not shrunk: for that hypothesis writes out what it draws from, which is gigabytes of a language.
    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(texts)
    def survive(text: str) -> None:
        try:
            survives(text.encode("utf-8", "surrogatepass"), name)
        except AssertionError as error:
            raise AssertionError(f"{error}\nof {len(text)} characters: {text[:_SHOWN]!r}") from None

    survive()
    return EXAMPLES
