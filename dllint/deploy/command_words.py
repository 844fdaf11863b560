"""The words that a container is started with, taken apart: the simple commands in them."""

from __future__ import annotations

import ast
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dllint.deploy.wrappers import SHELLS, words_before
from dllint.patterns import pattern

HANDED_A_TEXT = SHELLS | {"su", "runuser"}
"""Programs that are given what they run as one text."""
_GIVEN_TEXT = pattern(r"-[a-z]*c$")
"""Behind this a shell is given what it runs: `bash -lc`, `su - user -c`."""
_SEPARATORS = pattern(r"^[;&|()]+$")
_INTERPRETER_OPTION = pattern(r"-(?:[bBdEiIOPqsSuvx]+|([WX]))$")
"""Of python; the group has those whose value is the next word."""
PYTHON = pattern(r"(?:pypy|python)[\d.]*w?$")


class ShellText(NamedTuple):
    """What a shell is given to run."""

    text: str
    passed: list[str]
    """The words behind it, which it finds as `"$@"`."""
    before: list[str]
    """The words before the shell, where they are more than a prefix: `/entry.sh bash -c "..."`."""


def started_text(words: Sequence[str]) -> ShellText | None:
    """The text that a shell is given within the words that a container is started with, also where these are just that
    text; None where there is none."""
    if len(words) == 1 and " " in words[0].strip():
        return ShellText(words[0], [], [])
    found = shell_text(words)
    number = next((number for number, word in enumerate(words) if number and "\n" in word), None)
    if found is not None or number is None or any(_is_python_code(words, each) for each in range(1, number + 1)):
        return found
    return ShellText(words[number], [], list(words[:number]))


def shell_text(words: Sequence[str]) -> ShellText | None:
    """The text that a shell is given within the words of a command; None where none is."""
    if words and os.path.basename(words[0]) in HANDED_A_TEXT:
        for number, word in enumerate(words[1:], 1):
            if _GIVEN_TEXT.match(word) and number + 1 < len(words):
                return ShellText(words[number + 1], list(words[number + 3 :]), [])
    for number, word in enumerate(words[1:], 1):
        if _is_python_code(words, number):
            break
        if _is_shell_call(words, number):
            return ShellText(word, list(words[number + 2 :]), list(words[:number]))
    return None


def simple_commands(words: Sequence[str]) -> Iterator[list[str]]:
    """The simple commands in the words that a container is started with; what `sh -c` is given is taken apart."""
    found = started_text(words)
    if found is None:
        yield from [list(words)] if words else []
        return
    yield from _of_text(found.text)
    if found.before:
        yield found.before


def _is_python_code(words: Sequence[str], number: int) -> bool:
    """Whether the word is what `python -c` is given."""
    return number >= 2 and words[number - 1] == "-c" and PYTHON.match(os.path.basename(words[number - 2])) is not None


def _is_shell_call(words: Sequence[str], number: int) -> bool:
    """Whether the word is what a shell behind other words (`tini -- sh -c`, `/entry.sh bash -c`) is given."""
    given = _GIVEN_TEXT.match(words[number - 1]) is not None
    return number >= 2 and given and os.path.basename(words[number - 2]) in HANDED_A_TEXT


def _of_text(text: str) -> Iterator[list[str]]:
    for line in text.replace("\\\n", " ").splitlines():
        try:
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            continue
        command: list[str] = []
        for word in [*words, ";"]:
            if not _SEPARATORS.match(word):
                command.append(word)
                continue
            if command:
                yield command
            command = []


def without_prefix(words: Sequence[str]) -> list[str]:
    """A command without the words that only run it (`exec`, `uv run`, `nohup`, assignments ...), and without options of
    the interpreter (`python -u`)."""
    command = list(words[words_before(words) :])
    if command and PYTHON.match(os.path.basename(command[0])):
        while len(command) > 2 and (found := _INTERPRETER_OPTION.match(command[1])):
            del command[1 : 3 if found[1] else 2]
    return command


def called_modules(code: str) -> list[str]:
    """The modules that Python code calls something of, or that it imports from, as `python -c` is given it."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return []
    heads = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if _calls(tree) else set()
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if (name.asname or name.name.partition(".")[0]) in heads]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            used = [name.name for name in node.names if (name.asname or name.name) in heads]
            found += [f"{node.module}.{name}" for name in used] + [node.module] * bool(used)
    return found


def _calls(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(tree))
