"""Containers that end before they train: what they are told to run comes to a script as its arguments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dllint.deploy.command_words import PYTHON
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.images import Image
    from dllint.deploy.training import Training

_PROGRAM = pattern(r"(?:ba|da|z|k)?sh|torchrun|accelerate|deepspeed|pytest")
_PASSES_ON = (b"subprocess", b"os.exec", b"os.system", b"os.spawn", b"runpy", b"Popen")
"""How a script starts another program, which may be the one that it is passed."""


def stops_at_its_command(found: Training, image: Image | None) -> bool:
    """Whether a command that starts with a program stands behind an entry point that is a script of the project and
    takes options: `command: python evaluate.py` of an image with `ENTRYPOINT ["python", "train.py"]`."""
    start = found.workload.start
    if image is None or not image.entrypoint or start.entrypoint is not None or not start.command:
        return False
    program = os.path.basename(start.command[0])
    if not PYTHON.match(program) and not _PROGRAM.fullmatch(program):
        return False
    scripts = [run.module for run in found.runs if run.arguments[:1] == start.command[:1]]
    return any(script is not None and not any(map(script.has, _PASSES_ON)) for script in scripts)
