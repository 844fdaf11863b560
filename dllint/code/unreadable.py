"""What cannot be read though findings may be missing for it: files, folders, cells of notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.code.language import watched
from dllint.code.language.modules import Module
from dllint.records import dataclass
from dllint.syntax.python import CannotParseError

if TYPE_CHECKING:
    from dllint.code.program import Program

_TORCH = (b"torch", "torch".encode("utf-16-le"), "torch".encode("utf-16-be"))


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that could not be read as what it is."""

    path: str
    row: int
    column: int
    reason: str
    what: str = "file"
    needs: tuple[int, int] | None = None
    """The version of Python that its syntax needs, where that is newer than the one that runs dllint."""


def in_modules(program: Program) -> list[Unreadable]:
    """The modules, and cells of them, that cannot be parsed, behind the files that could not be opened."""
    found = list(program.unreadable)
    seeds = {id(module) for module in program.seeds}
    for module in program.modules.by_file.values():
        named = module.path in program.explicit
        if module.is_target and (named or _may_be_missed(module, id(module) in seeds)):
            found += _unreadable_parts(module) if module.is_sound else [_unreadable(module, module.error)]
    return found


def _may_be_missed(module: Module, is_seed: bool) -> bool:
    """Whether findings in a module are missing if it cannot be read: it speaks of torch's data, or may, being in no
    encoding that Python reads."""
    if module.has(watched.DATA_PACKAGE):
        return True
    is_broken = module.has(watched.NUL) or module.has(watched.UNKNOWN_ENCODING)
    return (is_seed or is_broken) and any(name in module.data for name in _TORCH)


def _unreadable(module: Module, error: CannotParseError | None, what: str = "file") -> Unreadable:
    assert error is not None
    return Unreadable(module.path, error.row, error.column, error.reason, what, error.needs)


def _unreadable_parts(module: Module) -> list[Unreadable]:
    """The cells of a notebook that cannot be read."""
    return [_unreadable(module, error, "cell") for error in module.broken]
