"""The targets of docker-bake files: images that `docker buildx bake` builds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.workload import Build
from dllint.files import Kind
from dllint.finding import Location
from dllint.syntax.hcl import Value, parse
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.texts import DeployFile

_DEEPEST = 10
_Target = dict[str, Value]


class BakeTarget(NamedTuple):
    """One target whose context lies in the project."""

    name: str
    at: Location
    build: Build
    tags: tuple[str, ...]
    shm_size: Location | None
    """Where it, or a target that it inherits from, sizes the shared memory of the build."""


def bake_targets(file: DeployFile) -> Iterator[BakeTarget]:
    """The targets of a file; those that others inherit from come last."""
    targets = _of_json(file) if file.kind is Kind.JSON else _of_hcl(file)
    inherited = {item.text for _, own in targets.values() for item in _value(own, "inherits").items or ()}
    for name, (at, own) in sorted(targets.items(), key=lambda entry: entry[0] in inherited):
        target = _with_inherited(own, targets, 0)
        build = _build(target, file)
        if build is not None:
            tags = tuple(tag.text or tag.source.strip('"') for tag in _value(target, "tags").items or ())
            size = target.get("shm-size")
            yield BakeTarget(name, at, build, tags, size.at if size is not None else None)


def _build(target: _Target, file: DeployFile) -> Build | None:
    """What a target builds; None where that is not known, or lies on a server."""
    context, dockerfile = _text(target, "context", "."), _text(target, "dockerfile", "Dockerfile")
    inline = _text(target, "dockerfile-inline", "")
    if context is None or dockerfile is None or inline is None or "://" in context or context.startswith("git@"):
        return None
    folder = os.path.normpath(os.path.join(file.folder, context))
    path = "" if inline else os.path.normpath(os.path.join(folder, dockerfile))
    arguments = {name: value.text for name, value in (_value(target, "args").pairs or {}).items()}
    known = tuple((name, text) for name, text in arguments.items() if text is not None)
    return Build(folder, path, _text(target, "target", "") or "", inline, known)


def _value(target: _Target, name: str) -> Value:
    return target.get(name) or Value(Location("", 1, 1, 1, 1))


def _text(target: _Target, name: str, default: str) -> str | None:
    return target[name].text if name in target else default


def _with_inherited(own: _Target, targets: dict[str, tuple[Location, _Target]], depth: int) -> _Target:
    found: _Target = {}
    for parent in _value(own, "inherits").items or ():
        if parent.text in targets and depth < _DEEPEST:
            found |= _with_inherited(targets[parent.text][1], targets, depth + 1)
    return found | own


def _of_hcl(file: DeployFile) -> dict[str, tuple[Location, _Target]]:
    blocks = parse(file.text, file.path).of("target")
    return {block.labels[0]: (block.at, block.body.attributes) for block in blocks if block.labels}


def _of_json(file: DeployFile) -> dict[str, tuple[Location, _Target]]:
    found: dict[str, tuple[Location, _Target]] = {}
    for document in file.documents.trees:
        targets = document.get("target")
        for name, target in targets.pairs() if targets is not None else []:
            found[name] = (target.key_at, {key: _of_tree(value) for key, value in target.pairs()})
    return found


def _of_tree(tree: Tree) -> Value:
    text = None if tree.text is not None and "${" in tree.text else tree.text
    items = tuple(Value(item.at, item.text) for item in tree.items()) if tree.is_list else None
    return Value(tree.at, text, items, {key: Value(value.at, value.text) for key, value in tree.pairs()} or None)
