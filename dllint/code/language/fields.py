"""The fields of dataclasses, whose `__init__` nobody writes: what a new object keeps of its arguments and defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.links import block_of, set_parent
from dllint.code.language.scopes import ClassScope, last_name
from dllint.code.language.values import Frame, Instance

_DECORATORS = frozenset({"dataclass", "define", "frozen", "mutable"})
"""Of dataclasses, pydantic and attrs."""


def is_dataclass(cls: ClassScope) -> bool:
    """Whether a class gets its `__init__` from a decorator."""
    return any(last_name(decorator) in _DECORATORS for decorator in cls.node.decorator_list)


def fields(order: Iterable[ClassScope]) -> dict[str, tuple[ast.AnnAssign, ClassScope]]:
    """The fields of a dataclass by name, in the order of its parameters; `order` is its resolution order."""
    found: dict[str, tuple[ast.AnnAssign, ClassScope]] = {}
    for cls in reversed([cls for cls in order if is_dataclass(cls)]):
        for node in cls.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not _is_of_class(node):
                found[node.target.id] = (node, cls)
    return found


def _is_of_class(node: ast.AnnAssign) -> bool:
    annotation = node.annotation.value if isinstance(node.annotation, ast.Subscript) else node.annotation
    return last_name(annotation) == "ClassVar"


def passed(call: ast.Call | None, names: Iterable[str], name: str) -> ast.expr | None:
    """What a call of a dataclass passes for one of its fields."""
    if call is None:
        return None
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    positions = dict(zip(names, call.args, strict=False))
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return named if named is not None or starred else positions.get(name)


def stored(value: Instance, order: Iterable[ClassScope]) -> Iterator[tuple[AttributeWrite, Frame]]:
    """What the `__init__` of a dataclass stores on a new object, each with the frame to read it in."""
    known = fields(order)
    for name, (field, cls) in known.items():
        given = passed(value.node, known, name) if value.frame is not None else None
        node: ast.expr | None = given or field.value
        if node is None:
            continue
        target = _target(name, field)
        around = node if given is not None else field
        frame = value.frame if given is not None and value.frame is not None else Frame(cls)
        yield AttributeWrite(name, target, Binding(name, "assign", around, block_of(around), node), False), frame


def _target(name: str, field: ast.AnnAssign) -> ast.Attribute:
    """`self.name`, as the `__init__` that nobody wrote would say it."""
    receiver = ast.copy_location(ast.Name("self", ast.Load()), field)
    target = ast.copy_location(ast.Attribute(receiver, name, ast.Store()), field)
    set_parent(receiver, target)
    set_parent(target, field)
    return target
