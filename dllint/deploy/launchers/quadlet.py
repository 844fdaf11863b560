"""Podman's quadlets: systemd units (`*.container`) with the options of `podman run` as keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.commands import Word
from dllint.deploy.docker_cli import Invocation, Option, run_options
from dllint.deploy.docker_options import apply
from dllint.deploy.option_words import split
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Launcher, Setting, SharedMemory, ShmSource, Start, Workload
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

QUADLET = Launcher("quadlet", "write `ShmSize={size}` below `[Container]`")
_ROW = pattern(
    r"^[ \t]*(?:\[(?P<section>[^\]\n]*)\]|(?P<key>\w+)[ \t]*=[ \t]*(?P<value>(?:.*\\\r?\n)*.*))", re.MULTILINE
)
_SPECIFIER = pattern(r"(?<!%)%[A-Za-z]")
_OPTIONS = {
    "ShmSize": "shm-size",
    "Volume": "volume",
    "Mount": "mount",
    "Tmpfs": "tmpfs",
    "Ulimit": "ulimit",
    "AddDevice": "device",
    "Memory": "memory",
    "Environment": "env",
    "WorkingDir": "workdir",
}


class _Entry(NamedTuple):
    key: str
    word: Word
    source: Mapped


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The container of a unit."""
    entries = list(_entries(file))
    image = next((entry for entry in reversed(entries) if entry.key == "Image"), None)
    if image is None:
        return
    found = Workload(
        QUADLET,
        file.path,
        file.line_at(image.word.at.row),
        name=file.name.removesuffix(".container"),
        folder=file.folder,
        image=Setting(image.word.text if image.word.known else None, image.word.at, image.word.text),
        start=Start(_words(entries, "Entrypoint", file), _words(entries, "Exec", file)),
    )
    apply(_invocation(entries, file), found)
    if found.shm.source is ShmSource.DEFAULT and any(entry.key == "Pod" for entry in entries):
        found.shm = SharedMemory(ShmSource.OTHER_CONTAINER)
    yield found


def _words(entries: list[_Entry], key: str, file: DeployFile) -> tuple[str, ...] | None:
    return tuple(word.text for entry in entries if entry.key == key for word in _split(entry, file)) or None


def _entries(file: DeployFile) -> Iterator[_Entry]:
    """The keys of the section `Container`."""
    section = ""
    for row in _ROW.finditer(file.text):
        if row["section"] is not None:
            section = row["section"]
        elif section == "Container":
            start, end = row.span("value")
            source = Mapped(file.text).cut(start, start + len(file.text[start:end].rstrip()))
            text = source.text
            at = file.span_of(source) if text else file.line_at(file.text.count("\n", 0, start) + 1)
            yield _Entry(row["key"], Word(text, at, not _SPECIFIER.search(text), source=source, file=file), source)


def _split(entry: _Entry, file: DeployFile) -> list[Word]:
    return split(entry.source, file) if entry.source.text else []


def _invocation(entries: list[_Entry], file: DeployFile) -> Invocation:
    arguments = [word for entry in entries if entry.key == "PodmanArgs" for word in _split(entry, file)]
    found = run_options("podman", arguments)
    keys = [Option(_OPTIONS[entry.key], entry.word, entry.word) for entry in entries if entry.key in _OPTIONS]
    return found._replace(options=keys + found.options, has_unknown=found.has_unknown or bool(found.rest))
