"""YAML and JSON values with their places: a reading view of PyYAML's nodes.

Merge keys (`<<`) are followed, anchors and aliases lead to one node, tags are seen and never obeyed. Nodes may form
cycles; nothing here walks further than it is asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.finding import Location
from dllint.syntax.yaml import documents

_MOST_MERGES = 50
_NULL, _MERGE = "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"


class Tree:
    """One value of a YAML or JSON document, and the key that leads to it where there is one."""

    __slots__ = ("_entries", "key", "node")

    def __init__(self, node: Node, key: Node | None = None) -> None:
        self.node = node
        self.key = key
        self._entries: dict[str, Tree] | None = None

    # What it is

    @property
    def path(self) -> str:
        """The file that it stands in, as shown: values of one tree may come out of several, where files are merged."""
        return str(self.node.start_mark.name)

    @property
    def is_mapping(self) -> bool:
        """Whether it has keys."""
        return isinstance(self.node, MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether it has items."""
        return isinstance(self.node, SequenceNode)

    @property
    def tag(self) -> str:
        """The tag: `!reset` as written, or the full name of a type, such as `tag:yaml.org,2002:int`."""
        return str(self.node.tag)

    @property
    def text(self) -> str | None:
        """The text of a scalar, None for a mapping or a list; null is the empty string, numbers stay as written."""
        node = self.node
        if not isinstance(node, ScalarNode):
            return None
        return "" if node.tag == _NULL else str(node.value)

    @property
    def is_null(self) -> bool:
        """Whether it is null, written out or left empty."""
        return self.node.tag == _NULL and isinstance(self.node, ScalarNode)

    @property
    def is_plain(self) -> bool:
        """Whether it is a scalar without quotes, whose type its text decides."""
        return isinstance(self.node, ScalarNode) and not self.node.style

    @property
    def is_true(self) -> bool:
        """Whether it is a boolean that is true."""
        return isinstance(self.node, ScalarNode) and self.tag.endswith(":bool") and self._word in ("true", "yes", "on")

    @property
    def is_false(self) -> bool:
        """Whether it is a boolean that is false."""
        return isinstance(self.node, ScalarNode) and self.tag.endswith(":bool") and not self.is_true

    @property
    def _word(self) -> str:
        return str(self.node.value).lower()

    # What it holds

    def get(self, *keys: str) -> Tree | None:
        """The value below these keys, one below the other; None where one is missing."""
        found = self
        for key in keys:
            entries = found._entries
            below = (found._own_entries() if entries is None else entries).get(key)
            if below is None:
                return None
            found = below
        return found

    def text_of(self, *keys: str) -> str:
        """The text of the scalar below these keys; empty where it is missing, null or no scalar."""
        found = self.get(*keys)
        return (found.text or "") if found is not None else ""

    def __contains__(self, key: str) -> bool:
        return key in self._own_entries()

    def pairs(self) -> list[tuple[str, Tree]]:
        """The keys (those that are scalars) and values of a mapping; none for anything else."""
        return list(self._own_entries().items())

    def items(self) -> list[Tree]:
        """The items of a list; none for anything else."""
        return [Tree(node) for node in self.node.value] if isinstance(self.node, SequenceNode) else []

    def texts(self) -> list[str]:
        """The texts of a list's scalars, or of one scalar alone."""
        if self.text is not None:
            return [self.text] if self.text else []
        return [item.text for item in self.items() if item.text is not None]

    def _own_entries(self) -> dict[str, Tree]:
        if self._entries is None:
            self._entries = _merged(self.node)
        return self._entries

    def walk(self, deepest: int = 40, without: Callable[[Tree], bool] | None = None) -> Iterator[Tree]:
        """It and all values below it, each node once, in the order of the text; `without` some and what is below."""
        seen: set[int] = set()
        pending = [(self, 0)]
        while pending:
            tree, depth = pending.pop()
            if id(tree.node) in seen or (without is not None and without(tree)):
                continue
            seen.add(id(tree.node))
            yield tree
            if depth < deepest:
                below = [value for _, value in tree.pairs()] or tree.items()
                pending.extend((child, depth + 1) for child in reversed(below))

    # Where it stands

    @property
    def at(self) -> Location:
        """The place of the value, from its first character to its last; of a block, its first line alone.

        The place of an alias is the key that it is given to: the value itself stands elsewhere.
        """
        key = self.key
        if key is not None and key.start_mark.name == self.path and self.node.start_mark.index < key.start_mark.index:
            return _place(key)
        return _place(self.node)

    @property
    def key_at(self) -> Location:
        """The place of the key that leads to it; of an item of a list, the place of the value."""
        return _place(self.key) if self.key is not None else self.at


def trees(path: str, text: str, row: int = 0) -> Iterator[Tree]:
    """The documents of a file that is shown as `path`, or of its text from a row (from 0) on.

    Raises CannotParseError, after those that can be read.
    """
    for node in documents(text, path, row):
        yield Tree(node)


def _merged(node: Node) -> dict[str, Tree]:
    """The keys of a mapping; its own win over merged ones, and of several merged mappings the first that has a key."""
    found: dict[str, Tree] = {}
    if not isinstance(node, MappingNode):
        return found
    merges = []
    for key, value in node.value:
        if isinstance(key, ScalarNode):
            if _is_merge(key):
                merges.append(value)
            else:
                found[str(key.value)] = Tree(value, key)
    _merge_in(found, merges)
    return found


def _is_merge(key: ScalarNode) -> bool:
    return bool(key.tag == _MERGE)


def _merge_in(found: dict[str, Tree], merges: list[Node]) -> None:
    seen: set[int] = set()
    while merges and len(seen) < _MOST_MERGES:
        source = merges.pop(0)
        if id(source) in seen:
            continue
        seen.add(id(source))
        if isinstance(source, SequenceNode):
            merges[:0] = source.value
        elif isinstance(source, MappingNode):
            nested = []
            for key, value in source.value:
                if isinstance(key, ScalarNode) and _is_merge(key):
                    nested.append(value)
                elif isinstance(key, ScalarNode):
                    found.setdefault(str(key.value), Tree(value, key))
            merges[:0] = nested


def _place(node: Node) -> Location:
    start, end = node.start_mark, node.end_mark
    path = str(start.name)
    if end.line == start.line:
        return Location(path, start.line + 1, start.column + 1, end.line + 1, max(end.column, start.column + 1) + 1)
    # The end of a block lies behind the comments after it: its first line is what a reader calls its place.
    return Location(path, start.line + 1, start.column + 1, start.line + 1, start.column + 2)
