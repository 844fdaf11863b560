"""What a file says, comments and places aside: to compare a text with one that only got comments."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

import yaml

from dllint.files import Kind
from dllint.syntax.dockerfile import instructions
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell import simple_commands

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def meaning(text: str, kind: Kind) -> object:
    """What can be compared with that of another text; None for what cannot be read, and kinds without comments."""
    read = _READERS.get(kind)
    return read(text) if read is not None else None


def _python(text: str) -> object:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _yaml(text: str) -> object:
    try:
        return [_event(event) for event in yaml.parse(text, Loader=_LOADER)]
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


def _event(event: yaml.Event) -> object:
    about = {name: value for name, value in vars(event).items() if not name.endswith("_mark")}
    if about.get("style") == "|":  # where a script stands, which may have comments of its own
        about["value"] = _shell(about["value"])
    return type(event).__name__, about


def _shell(text: str) -> object:
    return [_shape(command) for command in simple_commands(Mapped(text))]


def _shape(item: object) -> object:
    if isinstance(item, Mapped):
        return item.text
    if isinstance(item, (list, tuple)):
        return [_shape(part) for part in item]
    names = getattr(item, "__match_args__", ())  # of a record
    return [_shape(getattr(item, name)) for name in names] if names else item


def _dockerfile(text: str) -> object:
    return [
        (found.keyword, found.text, [(document.name, document.text) for document in found.heredocs])
        for found in instructions(text)
    ]


_READERS: dict[Kind, Callable[[str], object]] = {
    Kind.PYTHON: _python,
    Kind.YAML: _yaml,
    Kind.DOCKERFILE: _dockerfile,
    Kind.SHELL: _shell,
}
