"""docker-bake files: a target's `shm-size` is the memory of its build, which people take for that of its containers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.workload import DOCKERFILE, Build, Flaw, FlawKind, Setting, Workload
from dllint.files import Kind
from dllint.finding import Location
from dllint.syntax.hcl import Value, parse
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_DEEPEST = 10
_Target = dict[str, Value]


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The images of the targets whose build has a size of shared memory; one place is one report."""
    targets = _of_json(file) if file.kind is Kind.JSON else _of_hcl(file)
    inherited = {item.text for _, own in targets.values() for item in _value(own, "inherits").items or ()}
    seen: set[Location] = set()
    for name, (at, own) in sorted(targets.items(), key=lambda entry: entry[0] in inherited):
        target = _with_inherited(own, targets, 0)
        size = target.get("shm-size")
        build = _build(target, file)
        if size is None or build is None or size.at in seen:
            continue
        seen.add(size.at)
        what = "`shm-size` of a bake target sizes /dev/shm of the build alone"
        tags = [tag.text for tag in (_value(target, "tags").items or ()) if tag.text]
        image = Setting(tags[0], at, tags[0]) if tags else None
        flaw = Flaw(FlawKind.NOT_EFFECTIVE, size.at, what)
        yield Workload(DOCKERFILE, file.path, at, name, build.context, image, build, flaws=[flaw])


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
