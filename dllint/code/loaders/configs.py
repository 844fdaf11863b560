"""The configs of OpenMMLab: dicts that its runner makes loaders of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.apis import LoaderApi
from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.modules import Module
from dllint.code.language.values import (
    Collection,
    Frame,
)
from dllint.code.loaders.loader import Loader

if TYPE_CHECKING:
    from dllint.code.program import Program

_CONFIG = LoaderApi(positional=())


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
                if isinstance(value, Collection) and value.kind == "dict" and _is_loader_config(value):
                    yield _from_config(program, value, node, frame)


def is_config(loader: Loader) -> bool:
    """Whether a loader is one of these: a dict that nothing in the project calls."""
    return loader.api is _CONFIG


def _is_loader_config(value: Collection) -> bool:
    keys = set(_keys(value))
    return bool(keys & {"dataset", "sampler", "batch_sampler"}) and bool(keys & {"batch_size", "num_workers"})


def _keys(value: Collection) -> list[str]:
    names = (key.value if isinstance(key, ast.Constant) else key for key in value.keys)
    return [name for name in names if isinstance(name, str)]


def _from_config(program: Program, value: Collection, node: ast.AST, frame: Frame) -> Loader:
    found = Arguments()
    keywords = {k.arg: k for k in node.keywords} if isinstance(node, ast.Call) else {}
    for key, item in zip(value.keys, value.items, strict=False):
        name = key.value if isinstance(key, ast.Constant) else key
        if not isinstance(name, str):
            found.open = True
            continue
        # The config's sampler and batch_sampler are recipes, built with the batch size that stands beside them.
        if name not in ("sampler", "batch_sampler", "dataset", "collate_fn", "batch_size"):
            found.add(Argument(name, item, frame, keywords.get(name, item)))
    if "dataset" not in _keys(value) or "_base_" in frame.scope.bindings:
        found.open = True
    return Loader(program, node, frame, _CONFIG, found)
