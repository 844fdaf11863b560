"""The configs of OpenMMLab: dicts that its runner makes loaders of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.apis import LoaderApi
from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.modules import Module
from dllint.code.language.values import Collection, Const, Frame
from dllint.code.loaders import bases
from dllint.code.loaders.bases import Entry
from dllint.code.loaders.loader import Loader
from dllint.finding import Location, Related

if TYPE_CHECKING:
    from dllint.code.program import Program

_CONFIG = LoaderApi(positional=())
_BUILT = frozenset({"dataset", "collate_fn", "batch_size", "sampler", "batch_sampler"})
"""What the runner makes objects of, or the batch sampler with; all else it hands to the loader as it is."""
_TEMPLATE = "{{"
"""In a text that stands for what a base has under a name: `"{{_base_.num_workers}}"`."""


class Recipe(Loader):
    """A loader that the runner makes of a dict."""

    def __init__(
        self, program: Program, node: ast.AST, frame: Frame, found: Arguments, base: Collection | None
    ) -> None:
        super().__init__(program, node, frame, _CONFIG, found)
        self._base = base

    def where(self, name: str) -> Location:
        """Where an argument stands; of what a base has, the dict that gives the loader another number of workers."""
        workers, argument = self.arguments.get("num_workers"), self.arguments.get(name)
        if argument is None or self._is_own(argument) or workers is None or not self._is_own(workers):
            return super().where(name)
        return self.location

    def _is_own(self, argument: Argument) -> bool:
        return argument.frame.scope.module is self.module

    def context_related(self) -> list[Related]:
        """The base that the dict is merged onto."""
        base = self._base
        return [Related("merged onto this", base.frame.scope.module.location(base.node))] if base is not None else []


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
                if isinstance(value, Collection) and value.kind == "dict":
                    yield from _from_config(program, value, node, frame, name)


def is_config(loader: Loader) -> bool:
    """Whether a loader is one of these: a dict that nothing in the project calls."""
    return isinstance(loader, Recipe)


def _from_config(program: Program, value: Collection, node: ast.AST, frame: Frame, name: str) -> Iterator[Loader]:
    own = list(bases.entries(program, value))
    replaces = bases.replaces(program, value)
    onto, whole = ([], True) if replaces else bases.inherited(program, frame.scope.module, name)
    below = [entry for base in reversed(onto) for entry in bases.entries(program, base)]
    if _is_complete(own) or (onto and _changes_more(own) and _is_complete(below)):
        yield _recipe(program, [*below, *own], node, frame, onto[0] if onto else None, whole=whole)


def _is_complete(entries: list[Entry]) -> bool:
    keys = {name for name, _, _ in entries}
    return bool(keys & {"dataset", "sampler", "batch_sampler"}) and bool(keys & {"batch_size", "num_workers"})


def _changes_more(entries: list[Entry]) -> bool:
    """Whether a dict gives the loader other options than its base: not only other data."""
    return any(name not in _BUILT for name, _, _ in entries)


def _recipe(
    program: Program, entries: list[Entry], node: ast.AST, frame: Frame, base: Collection | None, *, whole: bool
) -> Recipe:
    found = Arguments()
    keywords = {k.arg: k for k in node.keywords} if isinstance(node, ast.Call) else {}
    known = {name: (item, home) for name, item, home in entries if not _is_template(item)}
    for name, (item, home) in known.items():
        if name and name not in _BUILT:
            found.add(Argument(name, item, home, keywords.get(name, item) if home is frame else item))
    # The config's sampler and batch_sampler are recipes; the loader is given what is made of the one or the other.
    order = next((name for name in ("batch_sampler", "sampler") if _is_recipe(program, known, name)), None)
    if order is not None:
        found.add(Argument(order, *known[order], known[order][0]))
    names = {name for name, _, _ in entries}
    found.open = not whole or "dataset" not in names or names != known.keys() or "" in names
    return Recipe(program, node, frame, found, base)


def _is_template(item: ast.expr) -> bool:
    return isinstance(item, ast.Constant) and isinstance(item.value, str) and _TEMPLATE in item.value


def _is_recipe(program: Program, known: dict[str, tuple[ast.expr, Frame]], name: str) -> bool:
    """Whether something is made of what stands under a name: the runner passes None on."""
    values = program.evaluator.values(*known[name]) if name in known else ()
    return bool(values) and not any(isinstance(value, Const) and value.value is None for value in values)
