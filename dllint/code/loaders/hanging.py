"""Loaders that read one of several datasets: what chooses it, and whether the number of workers hangs on that."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.language import conditions
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import Scope, dotted
from dllint.code.language.values import Const
from dllint.code.loaders.loader import Loader


def has_workers_for_some(loader: Loader) -> bool:
    """Whether a loader has workers for some of the datasets that it may read, and none for others, by a test of them:
    `1 if "rendered" in dataset.name else 0`."""
    workers, dataset = loader.workers, loader.arguments.get("dataset")
    if dataset is None or not workers.is_known or 0 not in workers.constants() or loader.has_no_workers:
        return False
    names = {dotted(dataset.node), *keys_of(loader)}
    counts = [value.node for value in workers.values if isinstance(value, Const)]
    tests = [test for node in counts for test, _ in conditions.leading_to(node)]
    return any(conditions.mentions(test, name) for test in tests for name in names)


def keys_of(loader: Loader) -> frozenset[str]:
    """The variables and options by which its dataset is chosen: `args.name` of `get_dataset(args.name)`."""
    dataset = loader.arguments.get("dataset")
    calls = _calls(dataset.node, loader.frame.scope) if dataset is not None else ()
    given = (one for call in calls for one in (*call.args, *(keyword.value for keyword in call.keywords)))
    return frozenset(dotted(one) for one in given if isinstance(one, (ast.Name, ast.Attribute)))


def _calls(dataset: ast.expr, scope: Scope) -> Iterator[ast.Call]:
    """The calls that give a dataset."""
    if isinstance(dataset, ast.Call):
        yield dataset
    elif isinstance(dataset, ast.Name):
        bindings = reaching(scope.index().bindings.get(dataset.id, []), dataset)
        yield from (binding.value for binding in bindings if isinstance(binding.value, ast.Call))
