"""What collate functions do with the samples that they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import parent
from dllint.code.language.returns import is_tested
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Const, External
from dllint.code.loaders.loader import Loader
from dllint.code.workers import exceptions
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.reach import Step
from dllint.finding import Location
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

DEFAULT_COLLATES = frozenset({"torch.utils.data.default_collate"})
_NEED_SAMPLES = DEFAULT_COLLATES | {
    "torch.stack",
    "torch.cat",
    "torch.concat",
    "torch.vstack",
    "torch.hstack",
    "torch.nn.utils.rnn.pad_sequence",
    "torch.nn.utils.rnn.pack_sequence",
    "numpy.stack",
    "numpy.concatenate",
    "builtins.max",
    "builtins.min",
    "torch_geometric.data.Batch.from_data_list",
}
"""Calls that fail on an empty list."""
_RAISED = frozenset({"IndexError", "RuntimeError", "ValueError", "LookupError"})


def is_default(loader: Loader) -> bool:
    """Whether a loader certainly puts its batches together by torch's default."""
    batch = loader.option("batch_size")
    if any(isinstance(v, Const) and v.value is None for v in batch.values) and "batch_sampler" not in loader.arguments:
        return False  # without batches nothing is collated
    option = loader.option("collate_fn")
    if option.absent is True:
        return True
    return option.is_known and all(
        (isinstance(v, Const) and v.value is None) or (isinstance(v, External) and v.name in DEFAULT_COLLATES)
        for v in option.values
    )


@dataclass(frozen=True, slots=True)
class Filtered:
    """A collate function that leaves out None, and hands on what may then be an empty list."""

    step: Step
    filter: ast.AST
    call: ast.Call

    @property
    def location(self) -> Location:
        """The return of what is made of the list; the call itself where there is none."""
        returned = _return_after(self.step, self.call)
        return self.step.scope.module.location(returned if returned is not None else self.call)

    @property
    def filter_location(self) -> Location:
        """Where None is left out."""
        return self.step.scope.module.location(self.filter)


def filtered(program: Program, loader: Loader) -> Iterator[Filtered]:
    """The collate functions of a loader that filter None and do not ask whether anything is left."""
    argument = loader.arguments.get("collate_fn")
    if argument is None:
        return
    for step in entries_of_values(program, argument.values(program.evaluator), "collate_fn"):
        found = _first_filtered(program, step)
        if found is not None:
            yield found


def _first_filtered(program: Program, step: Step) -> Filtered | None:
    scope = step.scope.index()
    lists = _filtered_lists(step)
    for call in scope.calls:
        source = next((f for name, f in lists.items() if _takes(call, name)), None) or _inline(call)
        if source is None or not _needs_samples(program, call, step):
            continue
        if not exceptions.is_caught(program, call, step, _RAISED):
            return Filtered(step, source, call)
    return None


def _filtered_lists(step: Step) -> dict[str, ast.AST]:
    """The names of lists that None is left out of, and that nothing is asked about: name -> the filter."""
    found: dict[str, ast.AST] = {}
    for name, bindings in step.scope.index().bindings.items():
        for binding in bindings:
            filters = binding.kind == "assign" and binding.value is not None and _leaves_out_none(binding.value)
            if filters and binding.value is not None and not is_tested(step.scope, name):
                found[name] = binding.value
    return found


def _leaves_out_none(node: ast.AST) -> bool:
    """`[x for x in xs if x is not None]`, `list(filter(None, xs))` and their kin."""
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        names = {n.id for n in ast.walk(node.generators[0].target) if isinstance(n, ast.Name)}
        return any(_is_presence(test, names) for test in node.generators[0].ifs)
    if isinstance(node, ast.Call) and last_name(node) in ("list", "tuple") and node.args:
        return _leaves_out_none(node.args[0])
    if isinstance(node, ast.Call) and last_name(node) == "filter" and len(node.args) == 2:
        test = node.args[0]
        if isinstance(test, ast.Lambda):
            return _is_presence(test.body, {a.arg for a in test.args.args})
        return isinstance(test, ast.Constant) and test.value is None
    return False


def _is_presence(test: ast.expr, names: set[str]) -> bool:
    """`x is not None`, `x`, `x[0] is not None`, `None not in x`."""
    if isinstance(test, ast.BoolOp):
        return any(_is_presence(part, names) for part in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        about_none = any(isinstance(n, ast.Constant) and n.value is None for n in ast.walk(test))
        return about_none and isinstance(test.ops[0], (ast.IsNot, ast.NotEq, ast.NotIn))
    return isinstance(test, ast.Name) and test.id in names


def _takes(call: ast.Call, name: str) -> bool:
    """Whether a call is given a list, or a list made of its elements."""
    for argument in call.args[:1]:
        if isinstance(argument, ast.Starred):
            argument = argument.value
        if isinstance(argument, ast.Name) and argument.id == name:
            return True
        if isinstance(argument, (ast.ListComp, ast.GeneratorExp)):
            source = argument.generators[0].iter
            return isinstance(source, ast.Name) and source.id == name and not argument.generators[0].ifs
    return False


def _inline(call: ast.Call) -> ast.AST | None:
    """The filter that a call is given on the spot: `torch.stack([...])`, `zip(*[...])`."""
    given = (argument.value if isinstance(argument, ast.Starred) else argument for argument in call.args[:1])
    return next((argument for argument in given if _leaves_out_none(argument)), None)


def _needs_samples(program: Program, call: ast.Call, step: Step) -> bool:
    """Whether a call fails on an empty list; `a, b = zip(*rows)` does too."""
    if last_name(call) == "zip":
        return _is_unpacked(call)
    if last_name(call) in ("max", "min") and any(k.arg == "default" for k in call.keywords):
        return False
    found = program.evaluator.values(call.func, step.frame)
    return any(isinstance(value, External) and value.name in _NEED_SAMPLES for value in found)


def _is_unpacked(call: ast.Call) -> bool:
    """`xs, ys = zip(*rows)`, in a `list()` or a `map()` too: there is nothing to unpack where there are no rows."""
    around = parent(call)
    while isinstance(around, ast.Call) and last_name(around) in ("list", "tuple", "map"):
        around = parent(around)
    if not isinstance(around, ast.Assign) or not call.args or not isinstance(call.args[0], ast.Starred):
        return False
    return any(isinstance(target, (ast.Tuple, ast.List)) for target in around.targets)


def _return_after(step: Step, call: ast.Call) -> ast.Return | None:
    """The return that hands out what a call makes: the one it stands in, or the next one."""
    later = [r for r in step.scope.index().returns if (r.end_lineno or r.lineno) >= call.lineno]
    return min(later, key=lambda r: r.lineno, default=None)
