"""Commands that run something else in a service than its own command: `docker compose run trainer python train.py`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy import commands
from dllint.deploy.commands import Command, Word
from dllint.deploy.launchers.compose.invocations import behind_compose, files_of, options_of
from dllint.deploy.workload import Start, words_in

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
    start: Start
    files: tuple[str, ...]
    """The files that the command names, as their last parts; empty where compose looks for them itself."""
    folder: str
    """The absolute path of the folder that it is run in."""

    def is_of(self, project: ComposeProject) -> bool:
        """Whether it may run a service of a project: by the files that it names, or by the folder."""
        if self.files:
            return any(os.path.basename(path) in self.files for path in project.files)
        return f"{self.folder}/".startswith(f"{project.folder}/")


def runs_of(project: ComposeProject, name: str, own: Start, plan: Plan) -> tuple[Start, ...]:
    """What else is run in a service of a project, each once; `own` is what the service itself runs."""
    starts = (run.start for run in plan.shared(_by_name).get(name, ()) if run.is_of(project))
    found = (own._replace(command=start.command) if start.entrypoint is None else start for start in starts)
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
    if not rest or not rest[0].known:
        return
    texts = tuple(word.text if word.known else "" for word in rest[1:])
    start = Start(texts) if options.rest[0].text == "exec" else Start(entrypoint, texts or None)
    if start.words:
        yield ServiceRun(rest[0].text, start, files, command.folder)


def _behind_options(words: list[Word]) -> tuple[list[Word], tuple[str, ...] | None]:
    """The service and the command, behind `run` and its options, and what replaces the entry point.

    No words where an option may hide others.
    """
    if not words or words[0].text not in _RUNNING:
        return [], None
    number = 1
    entrypoint: tuple[str, ...] | None = None
    while number < len(words) and words[number].text.startswith("-"):
        name, equals, _ = words[number].text.partition("=")
        if words[number].many:
            return [], None
        valued = not equals and (name in _VALUED or name == _ENTRYPOINT)
        if name == _ENTRYPOINT:
            value = words[number].after(len(name) + 1) if equals else next(iter(words[number + 1 :]), None)
            entrypoint = _split(value)
        number += 2 if valued else 1
    return (words[number:], entrypoint) if number < len(words) else ([], None)


def _split(word: Word | None) -> tuple[str, ...]:
    """The words of an entry point, which compose splits as a shell does."""
    return words_in(word.text) if word is not None and word.known else ("",)
