"""Helm charts: which templates there are, the values that they are rendered with, and the objects that come out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.deploy.launchers.kubernetes.helm.expressions import Scope, Values
from dllint.deploy.launchers.kubernetes.helm.render import MARK, Put, Rendered, rendered
from dllint.deploy.launchers.kubernetes.values import MAYBE, UNSEEN
from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError
from dllint.syntax.tree import Tree, trees

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_VALUES = ("values.yaml", "values.yml")
_CHART = ("Chart.yaml", "Chart.yml")
_OTHER_VALUES = pattern(r"values[-_.].+\.ya?ml|.+[-_.]values\.ya?ml")
_DEEPEST = 6
_STR, _NULL, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"


def chart_of(file: DeployFile, plan: Plan) -> str | None:
    """The folder of the chart that a file is a template of."""
    parts = os.path.relpath(file.folder, plan.root).split(os.sep)
    if "templates" not in parts:
        return None
    folder = file.folder
    for _ in range(_DEEPEST):
        folder, name = os.path.split(folder)
        if name == "templates" and os.path.join(folder, "Chart.yaml") in plan.files:
            return folder
    return None


def templates(file: DeployFile, plan: Plan, chart: str | None) -> Iterator[Tree]:
    """The documents of a template, rendered with the values of its chart; of no chart: with nothing known."""
    scope, others = plan.shared(_Charts).scopes(chart) if chart is not None else (Scope(), ())
    made = rendered(file.text, scope, others)
    try:
        for tree in trees(file.path, made.text):
            yield Tree(_Filler(made).filled(tree.node, (), ()))
    except CannotParseError:
        # It is no YAML before it is rendered, so that nobody can call it broken.
        return


class _Charts:
    """The values of the charts of a project; charts have many templates, and values are read once."""

    def __init__(self, plan: Plan) -> None:
        self._files = plan.files
        self._scopes: dict[str, tuple[Scope, tuple[Scope, ...]]] = {}
        self._others: dict[str, list[str]] = {}
        self._apart: list[str] = []
        """Values files that lie beside no chart."""
        for path, file in plan.files.items():
            if not _OTHER_VALUES.fullmatch(file.name) and file.name not in _VALUES:
                continue
            beside = any(os.path.join(file.folder, chart) in plan.files for chart in _CHART)
            if not beside:
                self._apart.append(path)
            elif file.name not in _VALUES:
                self._others.setdefault(file.folder, []).append(path)

    def scopes(self, chart: str) -> tuple[Scope, tuple[Scope, ...]]:
        """The scope of a chart's own values, and those of other values files beside them."""
        if chart not in self._scopes:
            self._scopes[chart] = self._read(chart)
        own, others = self._scopes[chart]
        return Scope(own.values, own.chart), others

    def _read(self, chart: str) -> tuple[Scope, tuple[Scope, ...]]:
        own = self._document(chart, "Chart.yaml")
        parent, _, name = chart.rpartition(f"{os.sep}charts{os.sep}")
        given = self._document(parent, "values.yaml") if parent else None
        layers = [given.get(name) if given is not None else None, self._document(chart, "values.yaml")]
        known = [layer for layer in layers if layer is not None]
        others = [self._document("", path) for path in self._others.get(chart, ())]
        keys = {key for layer in known for key, _ in layer.pairs()}
        others += [values for path in self._apart if _only_has(values := self._document("", path), keys)]
        return Scope(Values(known), own), tuple(Scope(Values([other, *known]), own) for other in others if other)

    def _document(self, folder: str, name: str) -> Tree | None:
        file = self._files.get(os.path.join(folder, name))
        return file.documents.trees[0] if file is not None and file.documents.trees else None


def _only_has(values: Tree | None, keys: set[str]) -> bool:
    """Whether a values file sets some of these keys and no other: then it most likely is for their chart."""
    own = {key for key, _ in values.pairs()} if values is not None else set()
    return bool(own) and own <= keys


class _Filler:
    """Puts in what the marks stand for."""

    def __init__(self, made: Rendered) -> None:
        self.made = made
        self.done: dict[int, Node] = {}

    def filled(self, node: Node, around: tuple[int, ...], chain: tuple[int, ...]) -> Node:
        """A node with its values; `around` are the conditions of the value that holds it."""
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if id(node) in chain or len(chain) > 60:
            return node
        if id(node) not in self.done:
            own = self._conditions(node, around)
            inner = (*chain, id(node))
            if isinstance(node, SequenceNode):
                node.value = [filled for item in node.value for filled in self._item(item, own, inner)]
            elif isinstance(node, MappingNode):
                node.value = [made for key, value in node.value for made in self._entry(key, value, own, inner)]
            self.done[id(node)] = node
        return self.done[id(node)]

    def _item(self, item: Node, around: tuple[int, ...], chain: tuple[int, ...]) -> list[Node]:
        put = self._put(item)
        if put is not None and put.is_item and put.value.is_known:
            tree = put.value.tree
            return [child.node for child in tree.items()] if tree is not None else []
        own = self._conditions(item, around)
        filled = self.filled(item, around, chain)
        return [_maybe(filled)] if own != around else [filled]

    def _entry(
        self, key: Node, value: Node, around: tuple[int, ...], chain: tuple[int, ...]
    ) -> list[tuple[Node, Node]]:
        own = self._conditions(key, around)
        put = self._put(value) if key.value == "<<" else None
        if put is not None:
            tree = put.value.tree
            if own == around and put.value.is_known and (tree is None or tree.is_mapping or tree.is_null):
                return [(key, tree.node)] if tree is not None and tree.is_mapping else []
            return [(_unseen(key), value)]
        filled = self.filled(value, own, chain)
        key = self._scalar(key) if isinstance(key, ScalarNode) else key
        return [(_maybe(key) if own != around else key, filled)]

    def _conditions(self, node: Node, around: tuple[int, ...]) -> tuple[int, ...]:
        return self.made.conditions.get(node.start_mark.line, around)

    def _put(self, node: Node) -> Put | None:
        if not isinstance(node, ScalarNode):
            return None
        found = MARK.fullmatch(str(node.value))
        return self.made.marks.get(found[1]) if found else None

    def _scalar(self, node: ScalarNode) -> Node:
        if MARK.search(str(node.value)) is None:
            return node
        put = self._put(node)
        if put is not None and put.value.is_known and put.value.tree is not None:
            return put.value.tree.node
        text = MARK.sub(self._text, str(node.value))
        tag = _NULL if not text and put is not None else node.tag
        return ScalarNode(tag, text, node.start_mark, node.end_mark, node.style)

    def _text(self, found: re.Match[str]) -> str:
        put = self.made.marks[found[1]]
        text = put.value.shown
        return text if text is not None else put.action


def _unseen(at: Node) -> Node:
    """A key that says that nobody can see which keys a template puts here."""
    return ScalarNode(_STR, f"{UNSEEN}{at.start_mark.line}", at.start_mark, at.end_mark)


def _maybe(node: Node) -> Node:
    """A node that is there under a condition; the old one may be a value of the chart, which others share."""
    if isinstance(node, ScalarNode):
        return ScalarNode(MAYBE, node.value, node.start_mark, node.end_mark, node.style)
    kind = SequenceNode if isinstance(node, SequenceNode) else MappingNode
    return kind(MAYBE, node.value, node.start_mark, node.end_mark)
