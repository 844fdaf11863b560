"""Shell scripts that a Dockerfile writes itself: `COPY <<EOF /start.sh`, `RUN echo "python train.py" > /start.sh`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.commands import Command, Script, steps_in
from dllint.kinds import Kind
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.syntax.dockerfile import Instruction

_WRITES = pattern(
    r"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')[ \t]*>>?[ \t]*([^\s;&|]+)"
)
"""A text that goes into a file."""
_INTO = pattern(r">>?[ \t]*([^\s;&|<>]+)")
"""Where a `RUN cat <<EOF > /start.sh` puts the body of its here-document."""
_LINE_END = pattern(r"\\n(?:\\\n)?")


def written_script(name: str, plan: Plan) -> list[Command] | None:
    """The steps of a script of this name that a Dockerfile of the project writes; None where none does."""
    for file in plan.of_kind(Kind.DOCKERFILE):
        if not file.has(name.encode()):
            continue
        every = (each for found in file.instructions for each in _written(found))
        texts = [text for path, text in every if os.path.basename(path) == name]
        if texts:
            return steps_in(Script(Mapped("\n".join(texts)), file.folder), file)
    return None


def _written(instruction: Instruction) -> Iterator[tuple[str, str]]:
    """The files that an instruction writes, each with its text, or a part of that."""
    if instruction.keyword in ("COPY", "ADD"):
        words = instruction.words
        for doc in instruction.heredocs if words else ():
            yield words[-1], doc.text
    elif instruction.keyword == "RUN":
        into = _INTO.search(instruction.rest) if instruction.heredocs else None
        if into is not None:
            yield into[1], "\n".join(doc.text for doc in instruction.heredocs)
        for found in _WRITES.finditer(instruction.rest):
            text = found[1].replace('\\"', '"').replace("\\$", "$") if found[1] is not None else found[2]
            yield found[3], _LINE_END.sub("\n", text)
