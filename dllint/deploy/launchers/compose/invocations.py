"""Commands that start compose projects: which files they merge (`docker compose -f a.yml -f b.yml up`), and stacks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy import commands
from dllint.deploy.commands import Command, Word
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_COMPOSE = (
    ("docker", "compose"),
    ("podman", "compose"),
    ("nerdctl", "compose"),
    ("docker-compose",),
    ("podman-compose",),
)
_STACK = (("docker", "stack", "deploy"), ("docker", "stack", "up"))
_VALUED = frozenset(
    """-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress -c --context -H
    --host --log-level --tlscacert --tlscert --tlskey --compose-file --orchestrator --resolve-image""".split()  # noqa: SIM905
)
_STARTING = frozenset({"up", "run", "create", "start", "restart", "watch", "exec"})


class Started(NamedTuple):
    """Files that one command reads together."""

    files: tuple[str, ...]
    """Absolute paths; empty where compose looks for them itself."""
    folder: str
    """Absolute path: `--project-directory`, else that of the first file or of the command."""
    env_files: tuple[str, ...]
    """As written: instead of `.env`."""
    is_swarm: bool = False
    is_open: bool = False
    """Whether some of its files are not known."""


def started(plan: Plan, known: Mapping[str, list[Tree]]) -> list[Started]:
    """What the commands of the project start; where none starts anything, what others (`build`, `config`) read."""
    found = [(is_start, start) for command in commands.every(plan) for is_start, start in _of(command, plan, known)]
    starting = [start for is_start, start in found if is_start]
    return list(dict.fromkeys(starting or [start for _, start in found]))


def _of(command: Command, plan: Plan, known: Mapping[str, list[Tree]]) -> Iterator[tuple[bool, Started]]:
    stack = _behind(command, _STACK)
    words = stack if stack is not None else behind_compose(command)
    if words is None:
        return
    options = options_of(words)
    names = ("-c", "--compose-file") if stack is not None else ("-f", "--file")
    written = files_of(options, command, names)
    files = [_file(text, command.folder, plan, known) for text in written]
    directory = next((word.text for name, word in options.valued if name == "--project-directory" and word.known), "")
    first = next((file for file in files if file is not None), None)
    folder = os.path.normpath(os.path.join(command.folder, directory)) if directory else os.path.dirname(first or "")
    seen = tuple(file for file in files if file is not None)
    env_files = tuple(word.text for name, word in options.valued if name == "--env-file")
    is_start = stack is not None or not _STARTING.isdisjoint(word.text for word in options.rest[:1])
    if seen or not files:
        is_open = len(seen) < len(files) or options.is_open
        yield is_start, Started(seen, folder or command.folder, env_files, stack is not None, is_open)


class Options(NamedTuple):
    """The options of compose itself, before its subcommand."""

    valued: list[tuple[str, Word]]
    """Those with a value, by their names."""
    rest: list[Word]
    """The subcommand and what follows it."""
    is_open: bool
    """Whether there may be more options than can be seen."""


def behind_compose(command: Command) -> tuple[Word, ...] | None:
    """The words behind `docker compose` and the like; None for another command."""
    return _behind(command, _COMPOSE)


def _behind(command: Command, heads: tuple[tuple[str, ...], ...]) -> tuple[Word, ...] | None:
    """The words behind one of these heads; None where the command starts with none of them."""
    texts = (command.name.removesuffix(".exe"), *command.texts[1:3])
    return next((command.words[len(head) :] for head in heads if texts[: len(head)] == head), None)


def options_of(words: tuple[Word, ...]) -> Options:
    """The options before the subcommand."""
    valued: list[tuple[str, Word]] = []
    index, is_open = 0, False
    while index < len(words):
        word = words[index]
        name, equals, _ = word.text.partition("=")
        if word.many:
            is_open = True
        elif not word.text.startswith("-"):
            return Options(valued, list(words[index:]), is_open)
        elif equals:
            valued.append((name, word.after(len(name) + 1)))
        elif name in _VALUED and index + 1 < len(words):
            index += 1
            valued.append((name, words[index]))
        index += 1
    return Options(valued, [], is_open)


def files_of(options: Options, command: Command, names: tuple[str, ...] = ("-f", "--file")) -> list[str | None]:
    """The files that a command names, as written, by options or COMPOSE_FILE; None for one that is not known."""
    written = [word.text if word.known else None for name, word in options.valued if name in names]
    if written or command.compose_file == "":
        return written
    names_of_files = command.compose_file
    if names_of_files is None:
        return [None]
    return [text for text in names_of_files.split(";" if ";" in names_of_files else ":") if text]


def _file(text: str | None, folder: str, plan: Plan, known: Mapping[str, list[Tree]]) -> str | None:
    """The compose file that a text names, from the command's folder, or from the project's root."""
    if text is None:
        return None
    paths = (os.path.normpath(os.path.join(start, text)) for start in (folder, plan.root))
    return next((path for path in paths if path in known), None)
