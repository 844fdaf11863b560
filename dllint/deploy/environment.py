"""The variables that a container's processes find: those that its image and its launcher set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dllint.patterns import pattern
from dllint.records import dataclass, field

_ASSIGNMENT = pattern(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_REFERENCE = pattern(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?[-=]([^{}$]*))?\})")
"""`$MODE`, `${MODE}`, `${MODE:-train}`: the name, and what stands for a variable that is not set."""
_GIVEN_BY_THE_SYSTEM = pattern(
    r"(?:(?:LOCAL|NODE|GROUP|GLOBAL)_)?RANK|\w*WORLD_SIZE|N?NODES?(?:_\w+)?|MASTER_(?:ADDR|PORT)|NPROC_PER_NODE|CI"
    r"|(?:SLURM|SM|OMPI|PMI|MPI|AIP|AZUREML|AWS|VC|KUBERNETES|GITHUB|GITLAB|CI|JOB|TASK|POD|NVIDIA|CUDA)_\w+"
    r"|HOME|HOSTNAME|USER|UID|EUID|PATH|PWD|SHELL|TERM|LANG|RANDOM|OSTYPE|BASH\w*|PYTHON\w*|LD_\w+|CONDA_\w+|VIRTUAL_ENV"
)
"""What platforms, shells and base images set: nobody sees it in the project."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables by their names."""

    values: Mapping[str, str | None] = field(default_factory=dict)
    """None for a value that cannot be known."""
    is_open: bool = False
    """Whether there may be others, that nobody sees."""

    def get(self, name: str) -> str | None:
        """The value of a variable; empty where it is not set, None where that cannot be known."""
        if name in self.values:
            return self.values[name]
        return None if self.is_open or _GIVEN_BY_THE_SYSTEM.fullmatch(name) else ""

    def put_into(self, words: Sequence[str]) -> list[str]:
        """Words with the values of variables in the place of these, where they are set and known."""
        return [_REFERENCE.sub(self._put, word) for word in words] if self.values else list(words)

    def _put(self, found: re.Match[str]) -> str:
        return self.values.get(found[1] or found[2]) or found[0]

    def plus(self, words: Sequence[str]) -> Environment:
        """The environment with what some words set, of which each may be `NAME=value`."""
        given = {found[1]: found[2] for word in words if (found := _ASSIGNMENT.fullmatch(word)) is not None}
        if not given:
            return self
        known = {name: None if "$" in value or "`" in value else value for name, value in given.items()}
        return Environment({**self.values, **known}, self.is_open)

    def opened(self) -> Environment:
        """The same where something unseen may set more."""
        return Environment(self.values, is_open=True)
