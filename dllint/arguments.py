"""What the command line of `dllint check` says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dllint.finding import Severity
from dllint.records import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """One report to write."""

    format: str
    file: str | None
    """None for stdout."""


class Arguments:
    """The command line of `dllint check`. What stands here holds where nothing is given."""

    paths: Sequence[str] = ()
    settings: dict[str, Any] = {}
    """The fields of Settings that were given."""
    outputs: Sequence[Output] = (Output("text", None),)
    """Where the findings go, and in which format; at least one."""
    fix = False
    unsafe_fixes = False
    diff = False
    fail_on = Severity.INFO
    """The lowest Severity that makes the run fail."""
    exit_zero = False
    statistics = False
    show_files = False
    show_settings = False
    quiet = False
    verbose = False
    no_color = False
    config: str | None = None
    isolated = False
    stdin_filename: str | None = None
    write_baseline = False
    new_since: str | None = None
    add_noqa = False
    hook = False
    """Whether the paths come from a hook: what is excluded stays so, and no path means nothing to do."""


def parse(words: Sequence[str]) -> Arguments:
    """Read the command line of `dllint check`. Bad usage ends the process with status 2, as argparse does."""
    arguments = Arguments()
    if any(word.startswith("-") for word in words):
        from dllint.options import read

        read(words, arguments)
    else:  # nothing but paths: argparse is not even imported
        arguments.paths = words
    if not arguments.paths and not arguments.hook:
        arguments.paths = ["."]
    return arguments
