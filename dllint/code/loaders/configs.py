"""The configs of OpenMMLab: dicts that its runner makes loaders of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.apis import LoaderApi
from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.modules import Module
from dllint.code.language.reaching import reaching
from dllint.code.language.values import Collection, Const, External, Frame, Values
from dllint.code.loaders import bases
from dllint.code.loaders.bases import Entry
from dllint.code.loaders.config_changes import changed_names, changes
from dllint.code.loaders.loader import Loader
from dllint.finding import Location, Related

if TYPE_CHECKING:
    from dllint.code.program import Program

_CONFIG = LoaderApi(positional=())
_BUILT = frozenset({"dataset", "collate_fn", "batch_size", "sampler", "batch_sampler"})
"""What the runner makes objects of, or the batch sampler with; all else it hands to the loader as it is."""
_ENDING = "_dataloader"
_LIBRARY = b"mmengine"
_RUNNERS = frozenset({"mmengine.Runner", "mmengine.runner.Runner"})
_TEMPLATE = "{{"
"""In a text that stands for what a base has under a name: `"{{_base_.num_workers}}"`."""


class Recipe(Loader):
    """A loader that the runner makes of a dict."""

    environment: Values | None = None
    """What the call of the runner passes as `env_cfg`; None where a config says it."""

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
    if _ENDING.encode() not in module.data:
        return
    if _LIBRARY in module.data:
        yield from _of_runners(program, module)
    made = [name for name in module.scope.bindings if name.endswith(_ENDING) and _nodes(module, name)]
    for name in made:
        yield from _of_dicts(program, module, name)
    for name in changed_names(module, _ENDING):
        if name not in made:
            yield from _of_imported(program, module, name)


def _nodes(module: Module, name: str) -> list[ast.AST]:
    """What a name of a module has at its end."""
    found = reaching(module.scope.bindings[name], None)
    return [binding.value for binding in found if binding.kind == "assign" and binding.value is not None]


def _of_dicts(program: Program, module: Module, name: str) -> Iterator[Recipe]:
    frame = Frame(module.scope)
    for node in _nodes(module, name):
        for value in program.evaluator.values(node, frame) if isinstance(node, (ast.Call, ast.Dict)) else ():
            if isinstance(value, Collection) and value.kind == "dict":
                yield from _from_config(program, value, node, frame, name)


def _of_imported(program: Program, module: Module, name: str) -> Iterator[Recipe]:
    """`with read_base(): from .coco import *`, and then `train_dataloader.update(num_workers=0)`."""
    put = changes(program, module, name)
    own = [entry for _, each in put for entry in each]
    first = next((node for node, _ in put if isinstance(node, ast.Call)), None)
    holder = first.func.value if first is not None and isinstance(first.func, ast.Attribute) else None
    frame = Frame(module.scope)
    values = program.evaluator.values(holder, frame) if holder is not None else ()
    base = values[0] if len(values) == 1 else None
    if first is None or not isinstance(base, Collection) or base.kind != "dict" or base.frame.scope.module is module:
        return
    below = list(bases.entries(program, base))
    if _is_complete(below) and _changes_more(own) and _is_seen(own):
        yield _recipe(program, [*below, *own], first, frame, base, whole=True)


def _of_runners(program: Program, module: Module) -> Iterator[Recipe]:
    """The dicts that code hands to the runner itself: `Runner(train_dataloader=dict(...), env_cfg=dict(...))`."""
    for call, scope in module.calls_of("Runner"):
        frame = Frame(scope)
        if not any(isinstance(v, External) and v.name in _RUNNERS for v in program.evaluator.values(call.func, frame)):
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        environment = program.evaluator.values(given["env_cfg"], frame) if "env_cfg" in given else ()
        for name, node in given.items():
            for value in program.evaluator.values(node, frame) if name and name.endswith("_dataloader") else ():
                own = list(bases.entries(program, value)) if isinstance(value, Collection) else []
                if isinstance(value, Collection) and value.kind == "dict" and _is_complete(own):
                    recipe = _recipe(program, own, value.node, value.frame, None, whole=True)
                    recipe.environment = environment
                    yield recipe


def is_config(loader: Loader) -> bool:
    """Whether a loader is one of these: a dict that nothing in the project calls."""
    return isinstance(loader, Recipe)


def _from_config(program: Program, value: Collection, node: ast.AST, frame: Frame, name: str) -> Iterator[Recipe]:
    put = [entry for _, each in changes(program, frame.scope.module, name) for entry in each]
    if not _is_seen(put):
        return
    own = [*bases.entries(program, value), *put]
    replaces = bases.replaces(program, value)
    onto, whole = ([], True) if replaces else bases.inherited(program, frame.scope.module, name)
    below = [entry for base in reversed(onto) for entry in bases.entries(program, base)]
    if _is_complete(own) or (onto and _changes_more(own) and _is_complete(below)):
        yield _recipe(program, [*below, *own], node, frame, onto[0] if onto else None, whole=whole)


def _is_complete(entries: list[Entry]) -> bool:
    keys = {name for name, _, _ in entries}
    return bool(keys & {"dataset", "sampler", "batch_sampler"}) and bool(keys & {"batch_size", "num_workers"})


def _is_seen(entries: list[Entry]) -> bool:
    return all(name for name, _, _ in entries)


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
            keyword = keywords.get(name)
            found.add(Argument(name, item, home, keyword if keyword is not None and keyword.value is item else item))
    if "dataset" in known and not _is_dict(program, known["dataset"]):
        found.add(Argument("dataset", *known["dataset"], keywords.get("dataset", known["dataset"][0])))
    # The config's sampler and batch_sampler are recipes; the loader is given what is made of the one or the other.
    order = next((name for name in ("batch_sampler", "sampler") if _is_recipe(program, known, name)), None)
    if order is not None:
        found.add(Argument(order, *known[order], known[order][0]))
    names = {name for name, _, _ in entries}
    found.open = not whole or "dataset" not in names or names != known.keys() or "" in names
    return Recipe(program, node, frame, found, base)


def _is_template(item: ast.expr) -> bool:
    return isinstance(item, ast.Constant) and isinstance(item.value, str) and _TEMPLATE in item.value


def _is_dict(program: Program, given: tuple[ast.expr, Frame]) -> bool:
    return any(isinstance(value, Collection) for value in program.evaluator.values(*given))


def _is_recipe(program: Program, known: dict[str, tuple[ast.expr, Frame]], name: str) -> bool:
    """Whether something is made of what stands under a name: the runner passes None on."""
    values = program.evaluator.values(*known[name]) if name in known else ()
    return bool(values) and not any(isinstance(value, Const) and value.value is None for value in values)
