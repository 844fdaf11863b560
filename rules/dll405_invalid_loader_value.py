"""DLL405 invalid-loader-value

## What it does

Reports loader arguments whose value DataLoader can never take: a negative `num_workers`, `timeout` or
`prefetch_factor`, a `batch_size` below 1, values of a wrong type, an unknown start method. Also counts that are options
of the command line with `type=float`: no number that is passed there works.

## Why it breaks workers

Most of them raise when the loader is built (`ValueError: num_workers option should be non-negative`, `timeout option
should be non-negative`, `batch_size should be a positive integer value, but got batch_size=0`). Some pass there and
fail at the first iteration: `prefetch_factor=0` (`AssertionError: prefetch_factor must be greater than 0`, in older
torch without a text), a float for `num_workers` (`TypeError: 'float' object cannot be interpreted as an integer`), a
`collate_fn` that cannot be called.

## Example

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=8, num_workers=-1)
```

## Use instead

```python
import os

from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=8, num_workers=min(8, len(os.sched_getaffinity(0))))
```

## When to ignore

Never: the value fails whenever the line runs.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, and every error of its constructor and first iteration, run
- https://github.com/pytorch/pytorch/pull/4019
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from dllint.basis import proven
from dllint.code.language import choices, classes
from dllint.code.language.values import Const, External, Instance, Number, Product, Unknown, Value
from dllint.code.loaders.loader import Loader, Option
from dllint.code.processes.start_method import METHODS
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL405",
    name="invalid-loader-value",
    severity=Severity.ERROR,
    failure=Failure.REFUSED_ARGUMENTS,
    since="0.1",
    basis=proven(),
)

BUILT = "when the loader is built"
ITERATED = "at the first iteration"
Verdict = tuple[str, str] | None


@RULE.check
def invalid_loader_value(loader: Loader) -> Iterator[Finding]:
    """Yield the arguments whose every possible value fails."""
    for name, judge in _JUDGES.items():
        option = loader.option(name)
        if option.absent is not False or not option.is_known:
            continue
        constants = [value for value in map(_as_constant, option.defaults) if isinstance(value, Const)]
        verdicts = [judge(value.value) for value in constants]
        if len(constants) < len(option.defaults) or not verdicts or not all(verdicts):
            yield from _of_float_option(loader, option)
            continue
        if _is_up_to_callers(option) or _is_set_from_outside(loader, option):
            continue
        problem, moment = verdicts[0] or ("", "")
        yield RULE.finding(
            loader.where(name),
            f"{name}={_shown(option.defaults[0], constants[0])} {problem}: fails {moment}",
            help=_HELP.get(name, f"pass a valid {name}"),
            related=loader.context_related(),
            symbol=loader.symbol,
            evidence=name,
        )


def _is_up_to_callers(option: Option) -> bool:
    """Whether it is the None by which a function that nobody is seen to call says that something has to be passed."""
    uncalled = any(isinstance(value, Unknown) and value.uncalled for value in option.values)
    return uncalled and any(isinstance(value, Const) and value.value is None for value in option.defaults)


def _is_set_from_outside(loader: Loader, option: Option) -> bool:
    """Whether it is an attribute that other code sets on the object: `data.num_workers = 4`."""
    node, ev = option.argument.node if option.argument is not None else None, loader.program.evaluator
    if not isinstance(node, ast.Attribute) or option.argument is None:
        return False
    holders = ev.values(node.value, option.argument.frame)
    return any(isinstance(v, Instance) and classes.is_set_from_outside(ev, v.cls, node.attr) for v in holders)


def _of_float_option(loader: Loader, option: Option) -> Iterator[Finding]:
    """An option of `type=float`: what is passed on the command line fails, whatever the default is."""
    declared = [choices.float_option(value) if isinstance(value, Const) else None for value in option.defaults]
    verdict = _JUDGES[option.name](0.5) if option.name in _COUNTS else None
    if verdict is None or None in declared:
        return
    places = [v.scope.module.location(v.node) for v in option.defaults if isinstance(v, Const) and v.scope is not None]
    yield RULE.finding(
        loader.where(option.name),
        f"{option.name} is an option of type=float: any number that is passed fails {verdict[1]}",
        help="declare the option with type=int",
        related=[*(Related("the option is declared here", place) for place in places), *loader.context_related()],
        symbol=loader.symbol,
        evidence=option.name,
    )


def _shown(value: Value, constant: Const) -> str:
    return repr(constant.value) if isinstance(value, Const) else ast.unparse(getattr(value, "node", constant.node))[:40]


def _as_constant(value: Value) -> Value:
    """A constant of the type that a value has: `os.environ.get("N", "2")` is a text, `os.cpu_count() / 2` a float."""
    if isinstance(value, Number) and value.real:
        return Const(0.5, value.node)
    if isinstance(value, External) and value.name in ("multiprocessing", "torch.multiprocessing"):
        return Const(value.name, ast.Constant(value=value.name))
    if isinstance(value, Product) and value.name in ("os.environ.get", "os.getenv") and len(value.node.args) > 1:
        return Const("", value.node)
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _workers(value: Any) -> Verdict:
    if value is None or isinstance(value, str):
        return ("is not a number", BUILT)
    if _is_number(value) and value < 0:
        return ("is negative", BUILT)
    return ("is not an integer", ITERATED) if isinstance(value, float) else None


def _timeout(value: Any) -> Verdict:
    if value is None or isinstance(value, str):
        return ("is not a number", BUILT)
    return ("is negative", BUILT) if _is_number(value) and value < 0 else None


def _prefetch(value: Any) -> Verdict:
    if not _is_number(value):
        return ("is not a number", BUILT) if isinstance(value, str) else None
    if value < 0:
        return ("is negative", BUILT)
    if value == 0:
        return ("prefetches nothing", ITERATED)
    return ("is not an integer", ITERATED) if isinstance(value, float) else None


def _batch_size(value: Any) -> Verdict:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        return ("is not an integer", BUILT)
    return ("is not positive", BUILT) if value < 1 else None


def _drop_last(value: Any) -> Verdict:
    return None if isinstance(value, bool) else ("is not a bool", BUILT)


def _context(value: Any) -> Verdict:
    return ("is no start method", BUILT) if isinstance(value, str) and value and value not in METHODS else None


def _function(value: Any) -> Verdict:
    return None if value is None else ("cannot be called", ITERATED)


def _generator(value: Any) -> Verdict:
    return None if value is None else ("is no torch.Generator", ITERATED)


_JUDGES: dict[str, Callable[[Any], Verdict]] = {
    "num_workers": _workers,
    "timeout": _timeout,
    "prefetch_factor": _prefetch,
    "batch_size": _batch_size,
    "drop_last": _drop_last,
    "multiprocessing_context": _context,
    "collate_fn": _function,
    "worker_init_fn": _function,
    "generator": _generator,
}

_COUNTS = frozenset({"num_workers", "prefetch_factor", "batch_size"})

_HELP = {
    "num_workers": "pass 0 to load in the main process, or a number such as min(8, len(os.sched_getaffinity(0)))",
    "prefetch_factor": "pass at least 1, or None without workers",
    "multiprocessing_context": "pass 'fork', 'spawn' or 'forkserver'",
    "batch_size": "pass a positive integer, or None to switch batching off",
}
