"""What is reached from the entries of worker code: each function with the way that leads to it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

from dllint.code.language import classes, conditions, replaced, settled
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, last_name
from dllint.code.language.values import (
    ClassRef,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Product,
    Value,
    Values,
)
from dllint.code.workers import in_worker
from dllint.finding import Related

if TYPE_CHECKING:
    from dllint.code.program import Program

from dllint.code.language.callables import bound_partial, callables, called_methods, innermost

_MOST_STEPS = 300
_DEEPEST = 5
"""Calls from the entry that are followed: what lies deeper belongs to general helpers, and is reached by guesses."""


class Step:
    """One function of worker code: `parent` and `call` tell how it is entered."""

    __slots__ = ("call", "depth", "frame", "label", "parent", "scope")

    def __init__(
        self,
        scope: FunctionScope,
        frame: Frame,
        label: str,
        parent_step: Step | None = None,
        call: ast.AST | None = None,
    ) -> None:
        self.scope = scope
        self.frame = frame
        self.label = label
        self.parent = parent_step
        self.call = call
        self.depth: int = 0 if parent_step is None else parent_step.depth + 1

    @property
    def key(self) -> tuple[int, int]:
        """What tells the functions of worker code apart: the function, and the class that it runs for."""
        receiver = self.frame.receiver
        return (id(self.scope), id(receiver.cls) if receiver is not None else 0)

    @property
    def root(self) -> Step:
        """The entry that leads here."""
        step = self
        while step.parent is not None:
            step = step.parent
        return step

    def hops(self, node: ast.AST) -> Iterator[tuple[Step, ast.AST]]:
        """A node of this function, then the calls that lead here, each with the function that it stands in."""
        yield self, node
        step = self
        while step.parent is not None and step.call is not None:
            yield step.parent, step.call
            step = step.parent

    def way(self) -> list[Related]:
        """From the entry to this function, each hop where the call of it stands."""
        hops: list[Related] = []
        step: Step | None = self
        while step is not None:
            if step.parent is None or step.call is None:
                label = f" ({step.label})" if step.label else ""
                text = f"{step.scope.qualname} runs in a worker{label}"
                hops.append(Related(text, step.scope.module.location(step.scope.node)))
                break
            hops.append(Related(f"{step.scope.qualname} called here", scope_of(step.call).module.location(step.call)))
            step = step.parent
        return hops[::-1]


class WorkerCode:
    """The functions reached from some entries, in the order in which they are met."""

    def __init__(self, program: Program, entries: Iterable[Step], deepest: int = _DEEPEST) -> None:
        self.program = program
        self.deepest = deepest
        self.steps: list[Step] = []
        self._explore(list(entries))

    def _explore(self, entries: list[Step]) -> None:
        seen: set[tuple[int, int]] = set()
        queue = list(entries)
        while queue and len(self.steps) < _MOST_STEPS:
            step = queue.pop(0)
            if step.key in seen:
                continue
            seen.add(step.key)
            if in_worker.is_entered_in_main_alone(self.program, step.scope):
                continue
            if replaced.replacements(self.program, step.scope):
                seen.add((id(step.scope), 0))  # as its decorators call it
            if not replaced.is_dropped(self.program, step.scope):
                self.steps.append(step)
            if step.depth >= self.deepest:
                continue
            queue += [Step(entered.scope, entered.frame, "", step, entered.call) for entered in self._onward(step)]

    def calls(self) -> Iterator[tuple[Step, ast.Call]]:
        """The calls made in workers, without those that only the main process passes."""
        for step in self.steps:
            for call in step.scope.index().calls:
                if not is_main_only(self.program, call, step.frame):
                    yield step, call

    def library_calls(self, names: Collection[str]) -> Iterator[tuple[Step, ast.Call, str]]:
        """The calls made in workers of library functions, by their dotted names."""
        packages = {name.partition(".")[0] for name in names}
        last_names = {name.rpartition(".")[2] for name in names}
        for step in self.steps:
            if not any(step.scope.module.lines_with(package) for package in packages):
                continue
            for call in step.scope.index().calls:
                if _imported_name(call.func, step.scope) not in last_names:
                    continue
                found = self.program.evaluator.values(call.func, step.frame)
                named = next((v.name for v in found if isinstance(v, External) and v.name in names), None)
                if named is not None and not is_main_only(self.program, call, step.frame):
                    yield step, call, named

    @property
    def attributes_read(self) -> Collection[str]:
        """The names of all attributes that worker code reads, of whatever object."""
        return self._loads

    def owners(self, attribute: str) -> set[ClassScope]:
        """The classes that worker code reads an attribute of, or of whose objects it does."""
        found: set[ClassScope] = set()
        for step, node in self._loads.get(attribute, ()):
            receiver = step.frame.receiver
            if self._is_own(step, node):
                found |= {receiver.cls} if receiver is not None else set()
                continue
            values = self.program.evaluator.values(node.value, step.frame)
            found |= {value.cls for value in values if isinstance(value, (ClassRef, Instance))}
        return found

    def reads(self, owner: ClassScope, attribute: str) -> Iterator[tuple[Step, ast.Attribute]]:
        """Where worker code reads an attribute of an object of class `owner`."""
        ev = self.program.evaluator
        for step, node in self._loads.get(attribute, ()):
            if self._is_own(step, node):
                receiver = step.frame.receiver
                if receiver is not None and self._related(receiver.cls, owner):
                    yield step, node
                continue
            for value in ev.values(node.value, step.frame):
                if isinstance(value, (ClassRef, Instance)) and self._related(value.cls, owner):
                    yield step, node
                    break

    def _related(self, one: ClassScope, other: ClassScope) -> bool:
        ev = self.program.evaluator
        return one is other or other in classes.mro(ev, one) or one in classes.mro(ev, other)

    @staticmethod
    def _is_own(step: Step, node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id == step.scope.receiver_name

    @cached_property
    def _loads(self) -> dict[str, list[tuple[Step, ast.Attribute]]]:
        found: dict[str, list[tuple[Step, ast.Attribute]]] = {}
        for step in self.steps:
            for scope in _with_comprehended(step.scope):
                for node in scope.index().attributes:
                    if isinstance(node.ctx, ast.Load) and not _is_none_test(node):
                        found.setdefault(node.attr, []).append((step, node))
        return found

    def _onward(self, step: Step) -> list[Step]:
        """The functions that a step enters: the same for every worker code that has the step."""
        memo = self.program.facts.onward_memo
        if step.frame not in memo:
            memo[step.frame] = list({entered.key: entered for entered in self._entered_by(step)}.values())
        return memo[step.frame]

    def _entered_by(self, step: Step) -> Iterator[Step]:
        ev, frame, scope = self.program.evaluator, step.frame, step.scope.index()
        for found in replaced.replacements(self.program, scope):
            yield Step(found.scope, found.frame, "", step, found.node)
        if replaced.is_dropped(self.program, scope):
            return
        for call in scope.calls:
            if is_main_only(self.program, call, frame):
                continue
            if self._may_enter(call.func, step):
                for value in ev.values(call.func, frame):
                    yield from self._entered(value, step, call)
            for argument in [*call.args, *(k.value for k in call.keywords)]:
                if self._is_function(argument, step):
                    yield from self._passed(ev.values(argument, frame), step, call)
            if len(call.args) > 1 and _calls_its_argument(call.args[0]):
                yield from self._passed(ev.values(call.args[1], frame), step, call)
        yield from self._implicit(step)

    def _may_enter(self, function: ast.expr, step: Step) -> bool:
        """Whether a call can lead into the project: a method that nothing in it defines cannot."""
        if not isinstance(function, ast.Attribute):
            return True
        holder = function.value
        while isinstance(holder, ast.Attribute):
            holder = holder.value
        if isinstance(holder, ast.Name) and holder.id == step.scope.receiver_name:
            return True
        if function.attr not in self.program.defined_names:
            return False
        return not (isinstance(holder, ast.Name) and self._is_library(holder.id, step.scope))

    def _is_library(self, name: str, scope: Scope) -> bool:
        """Whether a name is a library's module: `np`, `torch`."""
        if name in scope.index().bindings:
            return False
        module = scope.module.scope
        bindings = module.bindings.get(name)
        if not bindings or bindings[-1].kind != "import":
            return False
        found = self.program.evaluator.lookup(name, module.node, module, Frame(module))
        return all(isinstance(value, External) for value in found)

    def _is_function(self, node: ast.expr, step: Step) -> bool:
        """Whether an argument plainly is a function: a lambda, a def's name, a method of the object, a partial."""
        if isinstance(node, ast.Name):
            scope: Scope | None = step.scope
            while scope is not None:
                if node.id in scope.index().bindings:
                    return node.id in scope.defined
                scope = scope.parent
            return False
        if isinstance(node, ast.Attribute):
            receiver = step.frame.receiver
            own = receiver is not None and self._is_own(step, node)
            return (
                own
                and receiver is not None
                and classes.method(self.program.evaluator, receiver.cls, node.attr) is not None
            )
        return isinstance(node, ast.Lambda) or (isinstance(node, ast.Call) and last_name(node.func) == "partial")

    def _implicit(self, step: Step) -> Iterator[Step]:
        """What is entered without a call in the source: properties, `object[i]`, `for x in object`."""
        ev, frame, scope = self.program.evaluator, step.frame, step.scope
        for node in scope.attributes:
            if frame.receiver is not None and self._is_own(step, node):
                method = classes.method(ev, frame.receiver.cls, node.attr)
                if method is not None and method.is_property:
                    yield Step(method, Frame(method, frame.receiver), "", step, node)
        for subscript in scope.subscripts:
            if isinstance(subscript.value, ast.Attribute) and self._is_own(step, subscript.value):
                yield from self._protocol(ev.values(subscript.value, frame), ("__getitem__",), step, subscript)
        for loop in scope.loops:
            if isinstance(loop.iter, (ast.Attribute, ast.Name)):
                ask = ev.values if isinstance(loop.iter, ast.Attribute) else ev.hint
                yield from self._protocol(ask(loop.iter, frame), ("__iter__", "__next__"), step, loop.iter)

    def _protocol(self, values: Values, names: tuple[str, ...], step: Step, node: ast.AST) -> Iterator[Step]:
        for value in values:
            if isinstance(value, Instance):
                for name in names:
                    method = classes.method(self.program.evaluator, value.cls, name)
                    if method is not None:
                        yield Step(method, Frame(method, value), "", step, node)

    def _entered(self, value: Value, step: Step, call: ast.AST) -> Iterator[Step]:
        """The functions that calling `value` enters."""
        ev = self.program.evaluator
        if isinstance(value, Function):
            yield Step(value.scope, Frame(value.scope, value.receiver, outer=value.outer), "", step, call)
        elif isinstance(value, Partial):
            for target, frame in bound_partial(value):
                yield Step(target.scope, frame, "", step, call)
            if not isinstance(innermost(value), Function):
                yield from self._entered(innermost(value), step, call)
        elif isinstance(value, ClassRef):
            method = classes.method(ev, value.cls, "__init__")
            if method is not None:
                yield Step(method, Frame(method, Instance(value.cls)), "", step, call)
        elif isinstance(value, Instance):
            for method in called_methods(self.program, value):
                yield Step(method, Frame(method, value), "", step, call)
        elif isinstance(value, (Product, Derived)):
            yield from self._passed((value,), step, call)

    def _passed(self, values: Values, step: Step, call: ast.AST) -> Iterator[Step]:
        for value in values:
            for function in callables(self.program, value):
                yield from self._entered(function, step, call)


def _imported_name(function: ast.expr, scope: Scope) -> str:
    """The last name of what is called, as its library has it: `fetch` of `from ray import get as fetch` is `get`."""
    if not isinstance(function, ast.Name):
        return last_name(function)
    for at in (scope, scope.module.scope):
        for binding in at.index().bindings.get(function.id, ()):
            if binding.kind == "import" and isinstance(binding.value, ast.alias):
                return binding.value.name.rpartition(".")[2]
    return function.id


def _calls_its_argument(node: ast.expr) -> bool:
    """Whether it is a lambda that calls what it is given: in `reduce(lambda x, f: f(x), self.steps, x)` all steps."""
    if not isinstance(node, ast.Lambda) or not isinstance(node.body, ast.Call):
        return False
    called = node.body.func
    return isinstance(called, ast.Name) and any(parameter.arg == called.id for parameter in node.args.args)


def _with_comprehended(scope: Scope) -> Iterator[Scope]:
    """A function and the lambdas directly in it, which share its names."""
    yield scope
    for child in scope.index().children.values():
        if isinstance(child.node, ast.Lambda):
            yield child


def _is_none_test(node: ast.AST) -> bool:
    around = parent(node)
    return isinstance(around, ast.Compare) and isinstance(around.ops[0], (ast.Is, ast.IsNot))


def is_main_only(program: Program, node: ast.AST, frame: Frame) -> bool:
    """Whether workers never come to a node: it stands under `if get_worker_info() is None`, behind a cache that
    `__init__` has filled, or nobody comes to it."""
    if _is_cached_by_init(node, frame) or in_worker.is_for_no_worker(program, node, frame):
        return True
    return settled.is_never_reached(program.evaluator, node, frame)


def _is_cached_by_init(node: ast.AST, frame: Frame) -> bool:
    """Whether a method has left with `self.cache[key]`, where `__init__` fills that by this very method."""
    method = frame.scope
    owner = method.owner if isinstance(method, FunctionScope) and frame.receiver is not None else None
    tests = conditions.leading_to(node) if owner is not None else ()
    caches = {_cache_of(test) for test, outcome in tests if not outcome and _looks_up(test)}
    made = owner.methods.get("__init__") if owner is not None and caches else None
    return made is not None and any(
        write.element and write.name in caches and _is_call_of(write.binding.value, method)
        for write in made.index().writes
    )


def _looks_up(test: ast.expr) -> TypeGuard[ast.Compare]:
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In)


def _is_call_of(value: ast.AST | None, method: Scope) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == method.name


def _cache_of(test: ast.Compare) -> str:
    """The attribute that `key in self.cache` or `key in self.cache.keys()` looks into."""
    held = test.comparators[0]
    if isinstance(held, ast.Call) and last_name(held.func) == "keys" and isinstance(held.func, ast.Attribute):
        held = held.func.value
    return held.attr if isinstance(held, ast.Attribute) else ""
