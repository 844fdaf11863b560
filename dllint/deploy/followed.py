"""What a command of a container runs by way of a file of the project: a shell script, a target of a Makefile."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.command_words import ShellText, simple_commands, without_prefix
from dllint.deploy.commands import Command, Script, commands_in, steps_in, steps_of
from dllint.deploy.environment import Environment
from dllint.deploy.makefiles import Goals, goals_of, of_targets
from dllint.deploy.nearest import closest, parts_of
from dllint.deploy.script_flow import Choices, Come, come_to
from dllint.deploy.texts import DeployFile
from dllint.deploy.wrappers import SHELLS
from dllint.deploy.written_scripts import written_script
from dllint.files import Kind, SourceFile
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_MAKEFILES = {
    "make": ("makefile", "gnumakefile"),
    "gmake": ("makefile", "gnumakefile"),
    "just": ("justfile", ".justfile"),
}
_ENTRY = pattern(r"entry", re.IGNORECASE)
_SCRIPT_SUFFIXES = (".sh", ".bash")
_DEEPEST = 4


class InnerCommand(NamedTuple):
    """A command that a script runs."""

    words: list[str]
    """With those that the script is passed in the place of `"$@"`."""
    environment: Environment
    choices: Choices = ()
    """What decides whether it runs, as far as nobody sees how that ends."""


class Inner(NamedTuple):
    """What a script runs."""

    commands: list[InnerCommand]
    is_all: bool = True
    """Whether that is all; a script that nobody sees may run anything before what it is passed."""


def inner_of(command: Sequence[str], folder: str, plan: Plan, environment: Environment) -> Inner | None:
    """What the script or target that a command names runs; None where it names none."""
    made = _made(command, folder, plan)
    if made is not None:
        return Inner([InnerCommand(each.texts, environment.opened()) for each in made])
    name, passed = _script(command)
    if not name:
        return None
    script = _shell_script(name, folder, plan)
    if script is None:
        # One that is called an entry script only makes things ready.
        is_all = _ENTRY.search(os.path.basename(name)) is not None
        return Inner([InnerCommand(passed, environment.opened())], is_all) if passed else None
    every = _come_to(script, passed, environment, folder, plan)
    return Inner([InnerCommand(each.words, each.environment, each.choices) for each in every])


def inner_of_text(found: ShellText, folder: str, plan: Plan, environment: Environment) -> list[InnerCommand]:
    """What a shell runs that is given a text."""
    file = DeployFile(SourceFile("", os.path.join(folder, ""), Kind.SHELL, target=False), found.text.encode())
    steps = steps_in(Script(Mapped(found.text), folder), file)
    every = _come_to(steps, found.passed, environment, folder, plan)
    return [InnerCommand(each.words, each.environment, each.choices) for each in every]


def shell_commands(
    words: Sequence[str], folder: str, plan: Plan, environment: Environment, depth: int = 0
) -> Iterator[Command]:
    """The commands in the scripts and Makefiles that a container's words start, and in those that these start."""
    for command in map(without_prefix, simple_commands(words)):
        name, passed = _script(command)
        script = _made(command, folder, plan) or (_shell_script(name, folder, plan) if name else None)
        for each in _come_to(script or [], passed, environment, folder, plan):
            yield each.command
            if depth < _DEEPEST:
                yield from shell_commands(each.words, folder, plan, each.environment, depth + 1)


def _come_to(script: list[Command], passed: list[str], environment: Environment, folder: str, plan: Plan) -> list[Come]:
    return come_to(script, passed, environment, lambda name: _shell_script(name, folder, plan))


# --- shell scripts ---


def _script(command: Sequence[str]) -> tuple[str, list[str]]:
    """The shell script that a command runs, and the words that it is passed; empty where it runs none."""
    words = list(command[1:]) if command and os.path.basename(command[0]) in SHELLS else list(command)
    while words and words[0].startswith("-"):
        words.pop(0)
    return (words[0], words[1:]) if words and words[0].endswith(_SCRIPT_SUFFIXES) else ("", [])


def _shell_script(name: str, folder: str, plan: Plan) -> list[Command] | None:
    """The commands of a shell script; None where it is none of the project's, or one of several."""
    named = plan.called(os.path.basename(name), Kind.SHELL)
    found = closest(parts_of(name), named, folder)
    if found is None and not named:
        return written_script(os.path.basename(name), plan)
    return steps_of(found, plan) if found is not None else None


# --- make ---


def _made(command: Sequence[str], folder: str, plan: Plan) -> list[Command] | None:
    """The commands of the targets that make is given; None where it is not make, or they are not seen."""
    names = _MAKEFILES.get(os.path.basename(command[0])) if command else None
    if names is None:
        return None
    goals = goals_of(command[1:])
    file = _makefile(goals, names, folder, plan)
    scripts = of_targets(file, goals.targets, goals.variables) if file is not None else None
    if file is None or scripts is None:
        return None
    return [each for script in scripts for each in commands_in(script, file)]


def _makefile(goals: Goals, names: tuple[str, ...], folder: str, plan: Plan) -> DeployFile | None:
    """The file that make reads: where it runs, else at the top of the project, else the only one."""
    wanted = (os.path.basename(goals.file).lower(),) if goals.file else names
    found = [file for file in plan.of_kind(Kind.MAKEFILE) if file.name.lower() in wanted]
    for start in (folder, plan.root):
        place = os.path.normpath(os.path.join(start, goals.folder, os.path.dirname(goals.file)))
        here = next((file for file in found if file.folder == place), None)
        if here is not None:
            return here
    return found[0] if len(found) == 1 else None
