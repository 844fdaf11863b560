"""What Lightning runs of a program: the loaders that its hooks give, and the hooks that it calls between epochs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.scopes import ClassScope, FunctionScope, dotted
from dllint.code.language.values import Const, Derived, Frame, Instance, Product
from dllint.code.loaders import iterations
from dllint.code.loaders.loader import Loader
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_BASES = ("lightning.pytorch.LightningModule", "lightning.pytorch.LightningDataModule", "lightning.pytorch.Callback")
_TRAINER = "lightning.pytorch.Trainer"
_GIVES = frozenset({"train_dataloader", "val_dataloader"})
"""Hooks that give loaders, which are kept for the whole run."""
_TRAINS = frozenset({"train_dataloader"})
_BETWEEN = frozenset(f"on_{of}epoch_{at}" for of in ("", "train_", "validation_") for at in ("start", "end"))
"""Hooks that are called once in each epoch."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A method that Lightning calls, of a class of the project."""

    cls: ClassScope
    scope: FunctionScope

    @property
    def frame(self) -> Frame:
        """Its activation for some object of the class."""
        return Frame(self.scope, Instance(self.cls))


@dataclass(frozen=True, slots=True)
class Fit:
    """A call `trainer.fit(...)`."""

    call: ast.Call
    frame: Frame
    trainer: Product

    def loaders(self) -> Iterator[tuple[str, ast.expr]]:
        """The loaders that it is given, each under the name of the hook that would give it."""
        yield from zip(("train_dataloader", "val_dataloader"), self.call.args[1:], strict=False)
        for keyword in self.call.keywords:
            if keyword.arg is not None and keyword.arg.removesuffix("s") in _GIVES:
                yield keyword.arg.removesuffix("s"), keyword.value

    def related(self) -> Related:
        """This place, for the way of a finding."""
        return Related("trained on the GPU here", self.frame.scope.module.location(self.call))


class Lightning:
    """The hooks and trainers of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def between_epochs(self) -> list[Hook]:
        """The hooks that are called in each epoch."""
        return [hook for cls in self._classes for hook in _hooks(cls, _BETWEEN)]

    @cached_property
    def _given(self) -> list[tuple[Hook, Loader]]:
        hooks = (hook for cls in self._classes for hook in _hooks(cls, _GIVES))
        return [(hook, loader) for hook in hooks for loader in self._returned(hook)]

    @cached_property
    def _classes(self) -> list[ClassScope]:
        names = self.program.names_derived_from(_BASES)
        modules = [
            m for m in self.program.modules.by_file.values() if not names.isdisjoint(n for n, _ in m.class_bases)
        ]
        found = [cls for module in modules for cls in module.classes if cls.name in names]
        return [cls for cls in found if any(base in _BASES for base in classes.mro(self.program.evaluator, cls))]

    @cached_property
    def fits(self) -> list[Fit]:
        """Where trainers are told to train."""
        return list(self._find_fits())

    def _find_fits(self) -> Iterator[Fit]:
        for module in self.program.modules_with("Trainer", "fit"):
            for call, scope in module.calls_of("fit"):
                for value in self.program.evaluator.values(call.func, Frame(scope)):
                    trainer = value.base if isinstance(value, Derived) and value.via == ".fit" else None
                    if isinstance(trainer, Product) and trainer.name == _TRAINER:
                        yield Fit(call, Frame(scope), trainer)

    def _returned(self, hook: Hook) -> Iterator[Loader]:
        for returned in hook.scope.index().returns:
            given = returned.value.elts if isinstance(returned.value, (ast.List, ast.Tuple)) else [returned.value]
            for node in given:
                found = iterations.iterated(self.program, node, hook.frame) if node is not None else ()
                yield from (loader for loader, _ in found)

    @cached_property
    def _passed(self) -> list[tuple[Fit, str, Loader]]:
        """The loaders that `fit` is given, each under the name of the hook that would give it."""
        return [
            (fit, name, loader)
            for fit in self.fits
            for name, node in fit.loaders()
            for loader, _ in iterations.iterated(self.program, node, fit.frame)
        ]

    def owners(self, loader: Loader) -> list[ClassScope]:
        """The classes whose hooks give a loader."""
        return [hook.cls for hook, one in self._given if one.construction is loader.construction]

    def gives(self, loader: Loader) -> str:
        """The name of the hook that gives a loader to Lightning, or would; an empty string if there is none."""
        known = [(hook.scope.name, one) for hook, one in self._given] + [(name, one) for _, name, one in self._passed]
        return next((name for name, one in known if one.construction is loader.construction), "")

    def trained_on_gpu(self, loader: Loader) -> Fit | None:
        """Where a trainer that was told to use the GPU trains with a loader."""
        return next((fit for fit in self.fits if self._is_on_gpu(fit) and self._trains_with(fit, loader)), None)

    def _is_on_gpu(self, fit: Fit) -> bool:
        for keyword in fit.trainer.node.keywords:
            found = self.program.evaluator.values(keyword.value, fit.trainer.frame)
            known = [value.value for value in found if isinstance(value, Const)]
            if len(known) < len(found):
                continue
            if keyword.arg == "accelerator" and all(value in ("gpu", "cuda") for value in known):
                return True
            if keyword.arg == "gpus" and all(value not in (None, 0, "0", "") for value in known):
                return True
        return False

    def _trains_with(self, fit: Fit, loader: Loader) -> bool:
        passed = [one for at, name, one in self._passed if at is fit and name in _TRAINS]
        if any(one.construction is loader.construction for one in passed):
            return True
        objects = [*fit.call.args[:2], *(k.value for k in fit.call.keywords if k.arg in ("model", "datamodule"))]
        values = [value for node in objects for value in self.program.evaluator.values(node, fit.frame)]
        owners = {cls for v in values if isinstance(v, Instance) for cls in classes.mro(self.program.evaluator, v.cls)}
        return any(
            hook.scope.name in _TRAINS and hook.cls in owners and one.construction is loader.construction
            for hook, one in self._given
        )


def _hooks(cls: ClassScope, names: frozenset[str]) -> Iterator[Hook]:
    return (Hook(cls, scope) for name, scope in cls.methods.items() if name in names)


def is_loader_of(node: ast.expr, hook: FunctionScope, given_by: str) -> bool:
    """Whether an expression in a hook is a loader that the trainer got from another: `trainer.val_dataloaders[0]`, or
    the variable of a loop over them."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in (given_by, f"{given_by}s"):
            return "trainer" in dotted(part.value)
    bound = hook.index().bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    sources = [one.value for one in bound if isinstance(one.value, ast.expr)]
    return any(not isinstance(source, ast.Name) and is_loader_of(source, hook, given_by) for source in sources)
