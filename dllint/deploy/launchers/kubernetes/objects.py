"""The Kubernetes objects of a file: its documents, the items of lists, and manifests that stand in it as text.

Text inside of a file (a ConfigMap's data, an Argo resource template, a shell's here-document) is read as rows of the
file, so that its places are places in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from yaml.nodes import MappingNode, Node, ScalarNode

from dllint.deploy.launchers.kubernetes.pods import is_object
from dllint.deploy.texts import DeployFile
from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError
from dllint.syntax.tree import Tree, trees

_HERE = pattern(r"<<-?[ \t]*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")
_DEEPEST = 8
_DEEPEST_LIST = 4
_MOST_TEXTS = 100
"""Manifests that are read inside of one object or script."""


def objects(tree: Tree, file: DeployFile, depth: int = 0) -> Iterator[Tree]:
    """The objects that a document stands for, each with its kind."""
    if not is_object(tree) or depth > _DEEPEST_LIST:
        return
    if tree.text_of("kind").endswith("List") and (items := tree.get("items")) is not None and items.is_list:
        for item in items.items():
            yield from objects(item, file, depth + 1)
        return
    yield tree
    if not file.nests_objects:
        return
    for node in islice(_texts_with_objects(tree.node), _MOST_TEXTS):
        yield from _read(file, node.start_mark.line + 1, node.end_mark.line, depth + 1)


def here_documents(file: DeployFile) -> Iterator[Tree]:
    """The objects in the here-documents of a script, and of scripts in other files."""
    lines = file.lines
    starts = (row for row, line in enumerate(lines) if "<<" in line and _HERE.search(line))
    for row in islice(starts, _MOST_TEXTS):
        found = _HERE.search(lines[row])
        end = found[2] if found else ""
        last = next((at for at in range(row + 1, len(lines)) if lines[at].strip() == end), None)
        if last is not None and any(text.lstrip().startswith("apiVersion:") for text in lines[row + 1 : last]):
            yield from _read(file, row + 1, last, 1)


def _read(file: DeployFile, first: int, last: int, depth: int) -> Iterator[Tree]:
    """The objects in the rows `first` to `last` (from 0, without the last)."""
    try:
        found = list(trees(file.path, "\n".join(file.lines[first:last]) + "\n", first))
    except CannotParseError:
        return
    for tree in found:
        yield from objects(tree, file, depth)


def _texts_with_objects(root: Node) -> Iterator[ScalarNode]:
    """Block scalars that hold a manifest: their rows are rows of the file."""
    pending = [(root, 0)]
    seen: set[int] = set()
    while pending:
        node, depth = pending.pop()
        if isinstance(node, ScalarNode):
            if node.style == "|" and "apiVersion:" in node.value and "containers:" in node.value:
                yield node
        elif id(node) not in seen and depth < _DEEPEST:
            seen.add(id(node))
            children = [value for _, value in node.value] if isinstance(node, MappingNode) else node.value
            pending += [(child, depth + 1) for child in reversed(children)]
