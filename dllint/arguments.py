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


_SWITCHES = {
    "--exit-zero": "exit_zero",
    "--hook": "hook",
    "--no-color": "no_color",
    "--quiet": "quiet",
    "-q": "quiet",
    "--verbose": "verbose",
    "-v": "verbose",
}
"""What hooks and editors give beside paths. For no more than these argparse, slow to import, is not asked."""


def parse(words: Sequence[str]) -> Arguments:
    """Read the command line of `dllint check`. Bad usage ends the process with status 2, as argparse does."""
    arguments = Arguments()
    options = [word for word in words if word.startswith("-")]
    if all(word in _SWITCHES for word in options):
        for word in options:
            setattr(arguments, _SWITCHES[word], True)
        arguments.paths = [word for word in words if word not in _SWITCHES]
    else:
        from dllint.options import read

        read(words, arguments)
    if not arguments.paths and not arguments.hook:
        arguments.paths = ["."]
    return arguments
