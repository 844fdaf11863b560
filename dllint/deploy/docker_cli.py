"""The command line of docker and those that copy it (podman, nerdctl, nvidia-docker): options, image, command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dllint.deploy.commands import Command, Word
from dllint.patterns import pattern

SDK = "docker SDK"
"""The program of an invocation that is a call of the docker SDK."""
_PROGRAMS = frozenset({"docker", "podman", "nvidia-docker", "nerdctl", "docker.exe", "podman-remote", "podman-hpc"})
_PROGRAM_VARIABLE = pattern(r"\$[({]?\w*(?:docker|podman)\w*[)}]?", re.IGNORECASE)
_GLOBAL_VALUED = frozenset(
    """-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey --connection --url --identity
    --root --namespace -n --address""".split()  # noqa: SIM905 - a list of quoted words would fill a page
)
_PATHS = {
    # The words of a subcommand -> what it is.
    ("run",): "run",
    ("create",): "run",
    ("container", "run"): "run",
    ("container", "create"): "run",
    ("build",): "build",
    ("image", "build"): "build",
    ("buildx", "build"): "build",
    ("buildx", "b"): "build",
    ("builder", "build"): "build",
}
_RUN_FLAGS = frozenset(
    """detach disable-content-trust help init interactive no-healthcheck oom-kill-disable privileged publish-all quiet
    read-only rm sig-proxy tty use-api-socket env-host http-proxy no-hosts no-hostname passwd read-only-tmpfs replace
    rmi rootfs tls-verify""".split()  # noqa: SIM905
)
"""Options of `run` and `create` that take no value: docker 28's, and those that podman adds."""
_RUN_LETTERS = "diPqt"
_BUILD_FLAGS = frozenset(
    """no-cache pull rm force-rm squash compress quiet push load disable-content-trust help debug stdin layers
    tls-verify squash-all all-platforms""".split()  # noqa: SIM905
)
_BUILD_LETTERS = "qDh"
_LONG = {
    # Short options that take a value, by the long name that this package asks for.
    "m": "memory",
    "v": "volume",
    "e": "env",
    "w": "workdir",
    "c": "cpu-shares",
    "t": "tag",
    "f": "file",
    "l": "label",
    "u": "user",
    "h": "hostname",
    "p": "publish",
    "a": "attach",
    "o": "output",
}
_SHORT = pattern(r"-[A-Za-z]")
_ELISION = pattern(
    r"\.{3,}|\N{HORIZONTAL ELLIPSIS}|\[.*\]|(?i:[<{][^<>{}]{0,60}(?:option|flag|arg)[^<>{}]{0,60}[>}])"
    r"|\$?\{?[A-Z_]*(?:OPTIONS|OPTS|FLAGS)\}?"
)
"""What stands on a page for options that are left out there."""
_IMAGE_VARIABLE = pattern(
    r"ima?ge?|tag|container|repo|docker_?file|version|(?:docker|podman|buildx) build\b", re.IGNORECASE
)


class Option(NamedTuple):
    """One option with its value; the value is None for an option without one."""

    name: str
    """Without dashes, the long one where there are two: `shm-size`, `volume`."""
    value: Word | None
    word: Word
    """The word that it starts in."""


class Invocation(NamedTuple):
    """A command line, taken apart."""

    program: str
    options: list[Option]
    rest: tuple[Word, ...]
    """What follows the options: of `run` the image and the command, of `build` the context."""
    has_unknown: bool
    """Whether options may come out of something that nobody sees."""

    def values(self, *names: str) -> list[Word]:
        """The values of options of these names, in order."""
        return [option.value for option in self.options if option.name in names and option.value is not None]

    def last(self, *names: str) -> Word | None:
        """The value of an option that counts when it is given again."""
        found = self.values(*names)
        return found[-1] if found else None

    def has(self, name: str) -> bool:
        """Whether an option is given."""
        return any(option.name == name for option in self.options)


def subcommand(command: Command) -> tuple[str, str, tuple[Word, ...]] | None:
    """The program, `run` or `build`, and the words behind; None where the command is none of these."""
    name = command.name
    if name not in _PROGRAMS:
        if not _PROGRAM_VARIABLE.fullmatch(command.words[0].text):
            return None
        name = "docker"
    words = command.words[1:]
    while words and words[0].text.startswith("-"):
        valued = words[0].text in _GLOBAL_VALUED
        words = words[2 if valued else 1 :]
    for length in (1, 2):
        kind = _PATHS.get(tuple(word.text for word in words[:length]))
        if kind is not None:
            return name.removesuffix(".exe"), kind, words[length:]
    return None


def run_options(program: str, words: Sequence[Word]) -> Invocation:
    """The words behind `docker run`."""
    return _parsed(program, words, _RUN_FLAGS, _RUN_LETTERS, stops=True)


def build_options(program: str, words: Sequence[Word]) -> Invocation:
    """The words behind `docker build`."""
    return _parsed(program, words, _BUILD_FLAGS, _BUILD_LETTERS, stops=False)


def _parsed(program: str, words: Sequence[Word], flags: frozenset[str], letters: str, *, stops: bool) -> Invocation:
    options: list[Option] = []
    rest: list[Word] = []
    has_unknown = False
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word.text == "--":
            rest += words[index:]
            break
        if word.text.startswith("-") and word.text != "-":
            found, takes_next = _options(word, flags, letters)
            if takes_next:
                found[-1] = found[-1]._replace(value=words[index] if index < len(words) else None)
                index += 1
            options += found
        elif stops and _leaves_out_options(word):
            has_unknown = True
        else:
            rest.append(word)
            if stops:
                rest += words[index:]
                break
    return Invocation(program, options, tuple(rest), has_unknown)


def _leaves_out_options(word: Word) -> bool:
    """Whether a word in the place of the image stands for options that nobody sees."""
    return (word.many and not _IMAGE_VARIABLE.search(word.text)) or _ELISION.fullmatch(word.text) is not None


def _options(word: Word, flags: frozenset[str], letters: str) -> tuple[list[Option], bool]:
    """The options in one word, and whether the last of them takes the next word for its value."""
    text = word.text
    if text.startswith("--"):
        name, equals, _ = text[2:].partition("=")
        value = word.after(len(name) + 3) if equals else None
        return [Option(name, value, word)], not equals and name not in flags
    found = []
    for index, letter in enumerate(text[1:], 1):
        if letter in letters:
            found.append(Option(letter, None, word))
            continue
        value = word.after(index + 1) if index + 1 < len(text) else None
        if value is not None and value.text.startswith("="):
            value = value.after(1)
        return [*found, Option(_LONG.get(letter, letter), value, word)], value is None
    return found, False
