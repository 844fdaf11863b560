"""What a scope records of its names and of the attributes that it writes."""

from __future__ import annotations

import ast

from dllint.code.language.links import Block


class Binding:
    """One place where a scope gives a name a meaning.

    `kind` says how `value` is to be read: `assign` (the value itself), `item` (`index` of an unpacked value), `each`
    (an element of an iterated value), `each item` (`index` of each element), `with` (what a context manager gives),
    `augmented`, `import`, `scope` (a def or class), `parameter`, `global`, or `unknown`. `inner` are the indexes within
    what `index` gives, outermost first: `for i, (x, y) in ...`.
    """

    __slots__ = ("block", "index", "inner", "kind", "name", "node", "value")

    def __init__(
        self,
        name: str,
        kind: str,
        node: ast.AST,
        block: Block,
        value: ast.AST | None = None,
        index: int = 0,
        inner: tuple[int, ...] = (),
    ) -> None:
        self.name = name
        self.kind = kind
        self.node = node
        self.block = block
        self.value = value
        self.index = index
        self.inner = inner


class AttributeWrite:
    """`object.name = value` (or an element of it: `object.name[key] = value`, `object.name.append(value)`)."""

    __slots__ = ("binding", "element", "name", "node", "target")

    def __init__(self, name: str, target: ast.Attribute, binding: Binding, element: bool) -> None:
        self.name = name
        self.target = target
        self.binding = binding
        self.element = element
        self.node = binding.node
