"""The configs of OpenMMLab: dicts that its runner makes loaders of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.apis import LoaderApi
from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.modules import Module
from dllint.code.language.values import Collection, Frame
from dllint.code.loaders.loader import Loader

if TYPE_CHECKING:
    from dllint.code.program import Program

_CONFIG = LoaderApi(positional=())
_DEEPEST = 4
"""Dicts within one another by `**base` that are followed."""


def loaders_of(program: Program, module: Module) -> Iterator[Loader]:
    """OpenMMLab configs: `train_dataloader = dict(batch_size=2, num_workers=2, dataset=dict(...))`."""
    if b"_dataloader" not in module.data:
        return
    frame = Frame(module.scope)
    for name, bindings in module.scope.bindings.items():
        if not name.endswith("_dataloader"):
            continue
        for binding in bindings:
            node = binding.value
            if binding.kind != "assign" or not isinstance(node, (ast.Call, ast.Dict)):
                continue
            for value in program.evaluator.values(node, frame):
                if isinstance(value, Collection) and value.kind == "dict" and _is_loader_config(program, value):
                    yield _from_config(program, value, node, frame)


def is_config(loader: Loader) -> bool:
    """Whether a loader is one of these: a dict that nothing in the project calls."""
    return loader.api is _CONFIG


def _is_loader_config(program: Program, value: Collection) -> bool:
    keys = {name for name, _, _ in _entries(program, value)}
    return bool(keys & {"dataset", "sampler", "batch_sampler"}) and bool(keys & {"batch_size", "num_workers"})


def _entries(program: Program, value: Collection, depth: int = 0) -> Iterator[tuple[str, ast.expr, Frame]]:
    """What a dict has under its keys, in order, what it takes from others by `**base` among it; an empty key stands for
    what cannot be seen."""
    for key, item in zip(value.keys, value.items, strict=False):
        name = key.value if isinstance(key, ast.Constant) else key
        if isinstance(name, str):
            yield name, item, value.frame
            continue
        inner = program.evaluator.values(item, value.frame) if key is None and depth < _DEEPEST else ()
        base = inner[0] if len(inner) == 1 else None
        if isinstance(base, Collection) and base.kind == "dict" and base.each is None:
            yield from _entries(program, base, depth + 1)
        else:
            yield "", item, value.frame


def _from_config(program: Program, value: Collection, node: ast.AST, frame: Frame) -> Loader:
    found = Arguments()
    keywords = {k.arg: k for k in node.keywords} if isinstance(node, ast.Call) else {}
    entries = list(_entries(program, value))
    for name, item, home in entries:
        # The config's sampler and batch_sampler are recipes, built with the batch size that stands beside them.
        if name not in ("", "sampler", "batch_sampler", "dataset", "collate_fn", "batch_size"):
            found.add(Argument(name, item, home, keywords.get(name, item)))
    names = {name for name, _, _ in entries}
    found.open = "" in names or "dataset" not in names or "_base_" in frame.scope.bindings
    return Loader(program, node, frame, _CONFIG, found)
