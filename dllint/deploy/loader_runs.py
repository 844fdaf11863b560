"""The loaders of what a workload runs: how many workers each starts there, and the shared memory that it needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from dllint.code.language.conditions import is_main_test, leading_to
from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.options import option_names
from dllint.code.language.scopes import FunctionScope, dotted, last_name
from dllint.code.language.values import Const, Unknown, Value, bounds
from dllint.code.loaders.loader import Loader, Option
from dllint.code.tensors import shapes
from dllint.code.tensors.shapes import Sample
from dllint.deploy.demand import PREFETCH, Demand
from dllint.deploy.ranks import ranks
from dllint.deploy.runs import ScriptRun
from dllint.deploy.told_configs import ToldConfigs
from dllint.finding import Related

Environment = Mapping[str, str | None]
"""The variables that a container is given; None for a value that cannot be known."""
_ONE_RANK = ("rank", "is_main", "master")
"""Parts of names in a test that lets only one rank pass."""
_DECLARING = frozenset({"add_argument", "option", "Option"})
"""What argparse, click and typer declare an option with."""


PROCESSORS = 16
"""How many a machine that trains commonly has, where a loader has a worker for each."""


class Span(NamedTuple):
    """The bounds of a whole number; no upper one where that is not known."""

    low: int
    high: int | None


class LoaderRun:
    """One loader of a script, with what the command passes, and the container's environment, put in."""

    def __init__(self, loader: Loader, run: ScriptRun | None, environment: Environment | None = None) -> None:
        self.loader = loader
        self.run = run
        self.given = run.given() if run is not None else {}
        self.environment = environment or {}
        self._known_spans: dict[str, list[Span] | None] = {}

    def numbers(self, name: str) -> list[int] | None:
        """The whole numbers that an argument can be; None if any of them cannot be known."""
        spans = self._spans(name)
        if spans is None or any(span.low != span.high for span in spans):
            return None
        return [int(span.low) for span in spans]

    def _spans(self, name: str) -> list[Span] | None:
        """The bounds of the numbers that an argument can be; None if any of them may be anything."""
        if name not in self._known_spans:
            self._known_spans[name] = self._spans_of(name)
        return self._known_spans[name]

    def _spans_of(self, name: str) -> list[Span] | None:
        option = self.loader.option(name)
        told = self._told(option) if option.absent is not True else None
        if told is not None:
            return [told]
        if option.absent is None and name != "num_workers":
            return None
        replacing = (v.name for v in option.values if isinstance(v, Unknown) and v.overrides)
        # What torch refuses stands for another number, which takes its place before the loader is made.
        taken = [value for value in option.defaults if name != "num_workers" or not _is_refused(value)]
        spans = [self._span(value) for value in taken or option.defaults]
        spans += [_span_of(self.given[each]) for each in replacing if each in self.given]
        known = [span for span in spans if span is not None]
        return known if known and len(known) == len(spans) else None

    def _told(self, option: Option) -> Span | None:
        """The number that an argument has by a config which the command names: by itself, or in a section that the
        loader takes whole."""
        argument = option.argument
        if argument is None:
            text = self._spread(option.name)
        else:
            text = self._configs.text_at(argument.node, argument.frame) if self._configs is not None else None
        return _span_of(text) if text is not None else None

    def _spread(self, name: str) -> str | None:
        call = self.loader.call
        sections = [each.value for each in call.keywords if each.arg is None] if isinstance(call, ast.Call) else []
        if len(sections) != 1 or self._configs is None:
            return None
        values = self.loader.program.evaluator.values(sections[0], self.loader.frame)
        return self._configs.text_within(values, name)

    def _span(self, value: Value) -> Span | None:
        text = self._passed(value)
        if text is None and self.environment and isinstance(value, Const) and _variable(value) in self.environment:
            # What the container sets but nobody can see is no number.
            text = self.environment[_variable(value)] or ""
        if text is not None:
            return _span_of(text)
        low, high = bounds(value) or (None, None)
        if low is None or (isinstance(value, Const) and not _is_whole(value.value)):
            return None
        return Span(int(low), None if high is None else int(high))

    def _passed(self, value: Value) -> str | None:
        """What the command, or the script itself, passes for the option that a value is the default of."""
        names = [value.name] if isinstance(value, Unknown) else _names_of(value) if isinstance(value, Const) else ()
        texts = (self.given[name] if name in self.given else self._set_by_script(name) for name in names)
        passed = next((text for text in texts if text is not None), None)
        return self._configs.text_of(value) if passed is None and self._configs is not None else passed

    @cached_property
    def _configs(self) -> ToldConfigs | None:
        if self.run is None or not self.run.arguments:
            return None
        return ToldConfigs(self.run, self.loader.program.evaluator, self.loader.frame)

    def _set_by_script(self, name: str) -> str | None:
        script = self.run.module if self.run is not None and "workers" in name else None
        return _setting(name, script) if script is not None and script is not self.loader.module else None

    @cached_property
    def has_workers(self) -> bool:
        """Whether it certainly starts workers, though nobody may know how many: one for each processor."""
        spans = self._spans("num_workers")
        return spans is not None and all(span.low > 0 for span in spans)

    @property
    def workers(self) -> int | None:
        """The fewest workers that it starts; None if that cannot be known."""
        numbers = self.numbers("num_workers")
        return min(numbers) if numbers else None

    @property
    def most_workers(self) -> int | None:
        """The most workers that it starts; None if that cannot be known."""
        numbers = self.numbers("num_workers")
        return max(numbers) if numbers else None

    def related(self) -> Related:
        """The loader, for the way of a finding."""
        if self.workers is None:
            return self.loader.related()
        many = "worker" if self.workers == 1 else "workers"
        return Related(f"{self.workers} {many} started by this loader", self.loader.location)

    def demand(self, batch_bytes: int | None) -> Demand | None:
        """What it needs; None where a number of the formula is unknown. `batch_bytes`: what the user says it is."""
        workers = self.workers
        is_exact = workers == self.most_workers
        return self._demand(workers, batch_bytes, is_exact) if workers is not None and workers > 0 else None

    def demand_at_most(self, batch_bytes: int | None) -> Demand | None:
        """The same where the number of workers is not known: with the most of them, or one for each of the processors
        that a machine commonly has."""
        spans = self._spans("num_workers")
        if self.workers is not None or spans is None:
            return self.demand(batch_bytes)
        return self._demand(max(span.high or PROCESSORS for span in spans), batch_bytes, is_exact=True)

    def _demand(self, workers: int, batch_bytes: int | None, is_exact: bool) -> Demand | None:
        if self.loader.option("prefetch_factor").absent:
            prefetch: list[int] = [PREFETCH]
        else:
            prefetch = self.numbers("prefetch_factor") or []
        batch = Sample(batch_bytes, is_exact=True) if batch_bytes else self._batch()
        if batch is None or not prefetch or min(prefetch) < 1:
            return None
        is_exact = is_exact and batch.is_exact and len(set(prefetch)) == 1
        return Demand(self.loader, workers, min(prefetch), batch.bytes, is_exact, self.ranks)

    @cached_property
    def ranks(self) -> int:
        """In how many processes of the container it is built, at least."""
        around = parent(self.loader.call)
        while around is not None:
            if isinstance(around, ast.If) and any(word in ast.unparse(around.test) for word in _ONE_RANK):
                return 1
            around = parent(around)
        return ranks(self.run)

    def _batch(self) -> Sample | None:
        sizes = self.numbers("batch_size")
        if not sizes or min(sizes) < 1 or self.loader.option("batch_sampler").is_surely_given():
            return None
        sample = shapes.sample_of(self.loader)
        if sample is None:
            return None
        return Sample(sample.bytes * min(sizes), sample.is_exact and len(set(sizes)) == 1)


def _span_of(text: str) -> Span | None:
    """The number that a text is; None for any other text."""
    try:
        return Span(int(text), int(text))
    except ValueError:
        return None


def _is_refused(value: Value) -> bool:
    """Whether torch takes no such number of workers: None, or one below zero."""
    return isinstance(value, Const) and (value.value is None or (_is_whole(value.value) and value.value < 0))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _setting(name: str, script: Module) -> str | None:
    """The number of workers that a script gives by this name to what it makes, loaders aside: `Config(num_workers=0)`;
    None where it gives none, or several."""
    calls = (call for scope in script.scopes_around(script.lines_with(name)) for call in scope.index().calls)
    found = {
        str(keyword.value.value)
        for call in calls
        if not last_name(call.func).endswith("Loader")
        for keyword in call.keywords
        if keyword.arg == name and isinstance(keyword.value, ast.Constant)
    }
    return found.pop() if len(found) == 1 else None


def _variable(default: Const) -> str:
    """The variable of the environment that a default holds for where nobody sets it; empty where there is none."""
    inside: ast.AST | None = default.node
    while isinstance(inside, ast.Call):
        if name := _read_variable(inside):
            return name
        inside = inside.args[0] if inside.args else None
    around = parent(default.node)
    while around is not None and not isinstance(around, ast.stmt):
        if name := _read_variable(around):
            return name
        around = parent(around)
    return ""


def _read_variable(node: ast.AST) -> str:
    if not isinstance(node, ast.Call) or not dotted(node.func).endswith(("environ.get", "getenv")) or not node.args:
        return ""
    name = node.args[0]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def _is_conditional(statement: ast.stmt) -> bool:
    return any(not is_main_test(test) for test, _ in leading_to(statement))


def _names_of(default: Const) -> Iterator[str]:
    """The names by which the command line may give something else than a default: the options of argparse and click
    around it (`-j` and `--workers` are one), the parameter, or the field of a class, which it is the default of."""
    around = parent(default.node)
    while around is not None:
        if isinstance(around, ast.Call) and last_name(around.func) in _DECLARING:
            texts = [a.value for a in around.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            yield from (*option_names(around), *(text.lstrip("-").replace("-", "_") for text in texts))
        elif isinstance(around, ast.AnnAssign) and isinstance(around.target, ast.Name):
            yield around.target.id
        elif isinstance(around, ast.Assign) and _is_conditional(around):  # in the place of an option nobody gives
            yield from (target.attr for target in around.targets if isinstance(target, ast.Attribute))
        around = None if isinstance(around, ast.stmt) else parent(around)
    if default.scope is not None and isinstance(default.node, ast.expr):
        for scope in default.scope.module.scopes_around([default.node.lineno]):
            if isinstance(scope, FunctionScope):
                yield from (p.arg for p in scope.parameters if scope.default(p.arg) is default.node)
