"""What the comments of a Dockerfile tell people to run in its image: `# docker run --gpus all fit python train.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.commands import Script, commands_in
from dllint.deploy.docker_cli import run_options, subcommand
from dllint.deploy.launchers.docker_run import start_of
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.texts import DeployFile
    from dllint.deploy.workload import Start

_COMMAND = pattern(
    r"^[ \t]*#[^\n]*?\b((?:nvidia-)?docker|podman)[ \t]+"
    r"((?:container[ \t]+)?run[ \t][^\n]*(?:(?<=\\)\n[ \t]*#[^\n]*)*)",
    re.MULTILINE,
)
"""A command in a comment, up to the end of its last row."""
_ROW = pattern(r"\\\n[ \t]*#+")


def told_starts(file: DeployFile) -> Iterator[Start]:
    """What each of these commands says that a container runs, in the order of the rows."""
    for found in _COMMAND.finditer(file.text) if file.has(b"#", b"run") else ():
        text = f"{found[1]} {_ROW.sub(' ', found[2])}"
        for command in commands_in(Script(Mapped(text), file.folder), file):
            named = subcommand(command)
            if named is None or named[1] != "run":
                continue
            options = run_options(named[0], named[2])
            if len(options.rest) > 1 or options.last("entrypoint") is not None:
                yield start_of(options)
