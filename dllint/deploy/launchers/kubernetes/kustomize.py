"""Kustomize: what the overlays of a project make of its manifests.

Only what is built counts: a base that overlays use is judged as each of them renders it. A patch file is no manifest
of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode

from dllint.deploy.launchers.kubernetes.objects import objects
from dllint.deploy.launchers.kubernetes.patches import applied, image_names, merged, with_image
from dllint.files import Kind
from dllint.finding import Related
from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.python import CannotParseError
from dllint.syntax.tree import Tree, trees

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_BUILT_IN = pattern(r"v1|(?:apps|batch)/v\w+")
"""Versions of Kubernetes' own kinds, whose lists kustomize merges by key."""
_PLAIN_PATTERN = pattern(r"(?:[\w/-]|\.\*|\|){0,100}")
_DEEPEST = 30
_MOST_OBJECTS = 5_000


class Rendered(NamedTuple):
    """One object as one overlay makes it."""

    tree: Tree
    related: tuple[Related, ...]


@dataclass(slots=True)
class Builds:
    """All that the kustomizations of a project make."""

    objects: dict[str, list[Rendered]] = field(default_factory=dict)
    """By the absolute path of the file that an object comes from."""
    patches: set[str] = field(default_factory=set)
    """Files that are patches: their absolute paths."""


@dataclass(slots=True)
class _Object:
    node: Node
    file: str

    @property
    def tree(self) -> Tree:
        return Tree(self.node)


class _Patch(NamedTuple):
    node: Node
    target: Tree | None


def builds(plan: Plan) -> Builds:
    """What is built out of the kustomizations that no other one uses."""
    own = {file.folder: file for file in plan.files.values() if file.name in _NAMES}
    kustomize = _Kustomize(plan, own)
    used = {used for folder in own for used in kustomize.uses(folder)}
    for folder, file in own.items():
        if folder in used:
            continue
        for item in kustomize.build(folder, ()):
            origin = plan.files[item.file]
            related = () if origin.folder == folder else (Related("rendered by this overlay", file.at(1)),)
            kustomize.found.objects.setdefault(item.file, []).append(Rendered(item.tree, related))
    return kustomize.found


class _Kustomize:
    def __init__(self, plan: Plan, own: dict[str, DeployFile]) -> None:
        self.plan = plan
        self.own = own
        self.found = Builds()
        self._trees: dict[str, Tree | None] = {}
        self._built: dict[str, list[_Object]] = {}
        self._images: dict[int, tuple[Node, frozenset[str]]] = {}

    def uses(self, folder: str) -> Iterator[str]:
        """The folders with a kustomization that the one in `folder` includes."""
        for path in self._entries(folder, "resources", "bases", "components"):
            if path in self.own and path != folder:
                yield path

    def build(self, folder: str, around: tuple[str, ...]) -> list[_Object]:
        """The objects that the kustomization in a folder makes; `around` are the folders that include it."""
        if folder in around or len(around) > _DEEPEST:
            return []
        if folder not in self._built:
            tree = self._tree(folder)
            self._built[folder] = self._build(folder, tree, (*around, folder)) if tree is not None else []
        return [_Object(item.node, item.file) for item in self._built[folder]]

    def _build(self, folder: str, tree: Tree, around: tuple[str, ...]) -> list[_Object]:
        found: list[_Object] = []
        for path in self._entries(folder, "resources", "bases"):
            found += self.build(path, around) if path in self.own else self._read(path)
            del found[_MOST_OBJECTS:]
        self._change(folder, tree, found)
        for path in self._entries(folder, "components"):
            if path in self.own and path not in around and (component := self._tree(path)) is not None:
                found += [item for entry in self._entries(path, "resources") for item in self._read(entry)]
                self._change(path, component, found)
        return found

    def _change(self, folder: str, tree: Tree, found: list[_Object]) -> None:
        """Apply the patches and images of one kustomization to the objects that it has so far."""
        for patch in self._patches(folder, tree):
            for item in found:
                if _matches(patch, item.tree):
                    item.node = _patched(item, patch.node)
        images = tree.get("images")
        for image in images.items() if images is not None else ():
            for item in found:
                if image.text_of("name") in self._images_in(item.node):
                    item.node = with_image(item.node, image)

    def _images_in(self, node: Node) -> frozenset[str]:
        """The names of the images in a document; what many overlays share is looked through once."""
        known = self._images.get(id(node))
        if known is None:
            known = self._images[id(node)] = (node, image_names(node))  # the node is kept, and its id with it
        return known[1]

    def _tree(self, folder: str) -> Tree | None:
        if folder not in self._trees:
            file = self.own.get(folder)
            found = file.documents.trees if file is not None else []
            self._trees[folder] = found[0] if found else None
        return self._trees[folder]

    def _entries(self, folder: str, *keys: str) -> list[str]:
        """The absolute paths below these keys."""
        tree = self._tree(folder)
        lists = [found for key in keys if tree is not None and (found := tree.get(key)) is not None]
        return [_absolute(path, folder) for found in lists for path in found.texts()]

    def _read(self, path: str) -> list[_Object]:
        file = self.plan.files.get(path)
        if file is None or file.kind not in (Kind.YAML, Kind.JSON):
            return []
        found = [item for tree in file.documents.trees for item in objects(tree, file)]
        return [_Object(tree.node, path) for tree in found]

    # Patches

    def _patches(self, folder: str, tree: Tree) -> Iterator[_Patch]:
        for key in ("patchesStrategicMerge", "patchesJson6902", "patches"):
            given = tree.get(key)
            for item in given.items() if given is not None else ():
                target = item.get("target")
                text = item if item.text is not None else item.get("patch")
                path = _absolute(item.text_of("path") or item.text or "", folder)
                inline = self._inline(folder, text) if text is not None and path not in self.plan.files else []
                for node in inline or self._patch_file(path):
                    yield _Patch(node, target)

    def _patch_file(self, path: str) -> list[Node]:
        file = self.plan.files.get(path)
        if file is None or file.kind not in (Kind.YAML, Kind.JSON):
            return []
        self.found.patches.add(path)
        return [tree.node for tree in file.documents.trees]

    def _inline(self, folder: str, text: Tree) -> list[Node]:
        """A patch that stands in the kustomization itself: its rows are rows of that file."""
        node, file = text.node, self.own[folder]
        start, end = node.start_mark.line, node.end_mark.line
        is_block = isinstance(node, ScalarNode) and node.style == "|"
        content = "\n".join(file.lines[start + 1 : end]) if is_block else str(node.value)
        try:
            return [tree.node for tree in trees(file.path, content, start + is_block)]
        except CannotParseError:
            return []


def _absolute(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


def _matches(patch: _Patch, item: Tree) -> bool:
    target = patch.target
    if target is None:
        own = Tree(patch.node)
        return all(own.text_of(*keys) == item.text_of(*keys) for keys in (("kind",), ("metadata", "name"))) and bool(
            own.text_of("kind")
        )
    wanted = ((("kind",), target.text_of("kind")), (("metadata", "name"), target.text_of("name")))
    return all(not pattern or _is_like(pattern, item.text_of(*keys)) for keys, pattern in wanted)


def _is_like(pattern: str, text: str) -> bool:
    """Whether a target's pattern means a text. Of regular expressions only `.*` and `|` are read; others may match."""
    if _PLAIN_PATTERN.fullmatch(pattern) is None:
        return True
    return any(fnmatchcase(text, part.replace(".*", "*")) for part in pattern.split("|"))


def _patched(item: _Object, patch: Node) -> Node:
    if isinstance(patch, MappingNode):
        by_key = _BUILT_IN.fullmatch(item.tree.text_of("apiVersion")) is not None
        return merged(item.node, patch, by_key=by_key)
    node = item.node
    for operation in Tree(patch).items():
        value = operation.get("value")
        node = applied(node, operation.text_of("path"), operation.text_of("op"), value.node if value else None)
    return node
