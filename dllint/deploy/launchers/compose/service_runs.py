"""Commands that run something else in a service than its own command: `docker compose run trainer python train.py`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy import commands
from dllint.deploy.commands import Command, Word
from dllint.deploy.launchers.compose.invocations import behind_compose, files_of, options_of

if TYPE_CHECKING:
    from dllint.deploy.launchers.compose.projects import ComposeProject
    from dllint.deploy.plan import Plan

_VALUED = frozenset(
    """-e --env --env-from-file -l --label --name -p --publish --pull -u --user -v --volume -w --workdir --cap-add
    --cap-drop --index""".split()  # noqa: SIM905 - one word an option reads better than a list of quotes
)
_ENTRYPOINT = "--entrypoint"
_RUNNING = ("run", "exec")


class ServiceRun(NamedTuple):
    """One such command."""

    name: str
    """The service."""
    words: tuple[str, ...]
    """What runs; a word that cannot be known is the empty string."""
    files: tuple[str, ...]
    """The files that the command names, as their last parts; empty where compose looks for them itself."""
    folder: str
    """The absolute path of the folder that it is run in."""

    def is_of(self, project: ComposeProject) -> bool:
        """Whether it may run a service of a project: by the files that it names, or by the folder."""
        if self.files:
            return any(os.path.basename(path) in self.files for path in project.files)
        return f"{self.folder}/".startswith(f"{project.folder}/")


def runs_of(project: ComposeProject, name: str, plan: Plan) -> tuple[tuple[str, ...], ...]:
    """What else is run in a service of a project, each once."""
    found = (run.words for run in plan.shared(_by_name).get(name, ()) if run.is_of(project))
    return tuple(dict.fromkeys(found))


def _by_name(plan: Plan) -> dict[str, list[ServiceRun]]:
    found: dict[str, list[ServiceRun]] = {}
    for command in commands.every(plan):
        for run in _of(command):
            found.setdefault(run.name, []).append(run)
    return found


def _of(command: Command) -> Iterator[ServiceRun]:
    words = behind_compose(command)
    if words is None:
        return
    options = options_of(words)
    files = tuple(os.path.basename(text or "") for text in files_of(options, command))
    rest, entrypoint = _behind_options(options.rest)
    texts = (*entrypoint, *(word.text if word.known else "" for word in rest[1:]))
    if texts and rest[0].known:
        yield ServiceRun(rest[0].text, texts, files, command.folder)


def _behind_options(words: list[Word]) -> tuple[list[Word], tuple[str, ...]]:
    """The service and the command, behind `run` and its options, and what replaces the entry point.

    No words where an option may hide others.
    """
    if not words or words[0].text not in _RUNNING:
        return [], ()
    number = 1
    entrypoint: tuple[str, ...] = ()
    while number < len(words) and words[number].text.startswith("-"):
        name, equals, _ = words[number].text.partition("=")
        if words[number].many:
            return [], ()
        valued = not equals and (name in _VALUED or name == _ENTRYPOINT)
        if name == _ENTRYPOINT:
            value = words[number].after(len(name) + 1) if equals else next(iter(words[number + 1 :]), None)
            entrypoint = _split(value)
        number += 2 if valued else 1
    return (words[number:], entrypoint) if number < len(words) else ([], ())


def _split(word: Word | None) -> tuple[str, ...]:
    """The words of an entry point, which compose splits as a shell does."""
    if word is None or not word.known:
        return ("",)
    try:
        return tuple(shlex.split(word.text))
    except ValueError:
        return (word.text,)
