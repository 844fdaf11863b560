"""What a file is, by its name or, for a program without a suffix, by its first line."""

from __future__ import annotations

import os
import stat
from enum import Enum, auto


class Kind(Enum):
    """What a file is. A new kind needs a member here, and its names: below, and in `.pre-commit-hooks.yaml`."""

    PYTHON = auto()
    NOTEBOOK = auto()
    """Cells of Python in JSON."""
    YAML = auto()
    JSON = auto()
    """With comments, too."""
    DOCKERFILE = auto()
    SHELL = auto()
    """A POSIX shell's."""
    POWERSHELL = auto()
    BATCH = auto()
    """Of the Windows command line."""
    MAKEFILE = auto()
    MARKDOWN = auto()
    RESTRUCTURED = auto()
    """reStructuredText."""
    HCL = auto()
    """HashiCorp's language: Nomad jobs, docker-bake files, Terraform."""
    QUADLET = auto()
    """A unit of systemd: a container of podman's, or a service whose commands may start one."""
    TASKS = auto()
    """TOML with tables of commands, as pixi, PDM, Hatch and Poe run them."""


_SUFFIXES = {
    ".py": Kind.PYTHON,
    ".pyw": Kind.PYTHON,
    ".ipynb": Kind.NOTEBOOK,
    ".yaml": Kind.YAML,
    ".yml": Kind.YAML,
    ".json": Kind.JSON,
    ".jsonc": Kind.JSON,
    ".Dockerfile": Kind.DOCKERFILE,
    ".dockerfile": Kind.DOCKERFILE,
    ".Containerfile": Kind.DOCKERFILE,
    ".sh": Kind.SHELL,
    ".bash": Kind.SHELL,
    ".zsh": Kind.SHELL,
    ".ksh": Kind.SHELL,
    ".sbatch": Kind.SHELL,
    ".slurm": Kind.SHELL,
    ".ps1": Kind.POWERSHELL,
    ".bat": Kind.BATCH,
    ".cmd": Kind.BATCH,
    ".mk": Kind.MAKEFILE,
    ".md": Kind.MARKDOWN,
    ".markdown": Kind.MARKDOWN,
    ".rst": Kind.RESTRUCTURED,
    ".hcl": Kind.HCL,
    ".nomad": Kind.HCL,
    ".tf": Kind.HCL,
    ".container": Kind.QUADLET,
    ".service": Kind.QUADLET,
}
_NAMES = {
    "pyproject.toml": Kind.TASKS,
    "pixi.toml": Kind.TASKS,
    "Kustomization": Kind.YAML,
    "Dockerfile": Kind.DOCKERFILE,
    "DockerFile": Kind.DOCKERFILE,
    "dockerfile": Kind.DOCKERFILE,
    "Containerfile": Kind.DOCKERFILE,
    "Makefile": Kind.MAKEFILE,
    "makefile": Kind.MAKEFILE,
    "GNUmakefile": Kind.MAKEFILE,
    "justfile": Kind.MAKEFILE,
    "Justfile": Kind.MAKEFILE,
}
_DOCKERFILE_STARTS = ("Containerfile.", *(f"{d}ocker{f}ile{after}" for d in "Dd" for f in "Ff" for after in "._-"))
"""How the names of further Dockerfiles start, such as `Dockerfile.gpu`."""
_DOCKERFILE_ENDS = tuple(f"{before}Docker{f}ile" for f in "Ff" for before in "._-")
"""How they end, such as `train-Dockerfile`; what ends in `-dockerfile` may be a program about Dockerfiles."""
_LONGEST_SHEBANG = 200


def kind_of(name: str) -> Kind | None:
    """What a file with this name is; None if dllint does not read it."""
    return _kind_of_name(os.path.basename(name))


def _kind_of_name(name: str) -> Kind | None:
    kind = _SUFFIXES.get(name[name.rfind(".") :]) or _NAMES.get(name)
    is_dockerfile = kind is None and (name.startswith(_DOCKERFILE_STARTS) or name.endswith(_DOCKERFILE_ENDS))
    return Kind.DOCKERFILE if is_dockerfile else kind


def kind_of_entry(entry: os.DirEntry[str]) -> Kind | None:
    """What an entry of a folder is; None if dllint does not read it."""
    kind = _kind_of_name(entry.name)
    return _kind_of_script(entry.path) if kind is None and "." not in entry.name and _is_program(entry) else kind


def _is_program(entry: os.DirEntry[str]) -> bool:
    """Whether it can be run by its name: whether it is a shell's shows when it is read."""
    try:
        return entry.is_file() and bool(entry.stat().st_mode & stat.S_IXUSR)
    except OSError:
        return False


def _kind_of_script(path: str) -> Kind:
    """What a program without a suffix is by its first line: a shell's, unless that names Python."""
    try:
        with open(path, "rb") as stream:
            start = stream.read(_LONGEST_SHEBANG)
    except OSError:
        return Kind.SHELL
    first = start.partition(b"\n")[0]
    return Kind.PYTHON if first.startswith(b"#!") and b"python" in first else Kind.SHELL


def kind_of_path(path: str) -> Kind | None:
    """What a file of this machine is: by its name, else, if it can be run, by its first line."""
    kind = kind_of(path)
    if kind is None and "." not in os.path.basename(path) and os.access(path, os.X_OK):
        return _kind_of_script(path)
    return kind
