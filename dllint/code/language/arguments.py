"""The arguments of a call in normal form: positional, keyword, through `*args` and `**kwargs` that can be followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.language.containers import filled_later
from dllint.code.language.evaluator import Evaluator
from dllint.code.language.links import Block, block_of, parent, scope_of
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import Collection, Frame, Values
from dllint.records import dataclass, field

_MOST_DICTS = 4
_DEEPEST = 4
"""Splats within splats that are followed."""


@dataclass(slots=True)
class Argument:
    """One argument that is passed, or may be."""

    name: str
    node: ast.expr
    """The expression passed."""
    frame: Frame
    """The frame that it is evaluated in."""
    anchor: ast.AST
    """What to point at: the keyword, or the expression of a positional argument."""
    certain: bool = True
    """False if it is passed on some ways only."""
    block: Block | None = None
    """Where it is passed on some ways only: the block that these ways pass."""
    alone: bool = True
    """Whether nothing else is passed under its name, on any way."""

    def values(self, ev: Evaluator) -> Values:
        """What the argument can be, if it is passed."""
        return ev.values(self.node, self.frame)


_MUTATING = ("pop", "setdefault", "update")


@dataclass(slots=True)
class Arguments:
    """All arguments of one call by name. `open` says that there may be others that cannot be seen."""

    named: dict[str, Argument] = field(default_factory=dict)
    positional: list[Argument] = field(default_factory=list)
    open: bool = False
    chosen: dict[int, Collection] = field(default_factory=dict)
    """For a `**options` that is one of several dicts: the one to take, by the id of the splatted expression."""

    def add(self, argument: Argument) -> None:
        """Take in a keyword argument; a certain one replaces what was there."""
        earlier = self.named.get(argument.name)
        if earlier is None or argument.certain:
            self.named[argument.name] = argument
        else:
            earlier.certain = earlier.alone = False


def alternatives(ev: Evaluator, call: ast.Call, frame: Frame) -> Iterator[Arguments]:
    """The arguments of `call`, once for each dict that a `**options` of it can be."""
    for keyword in call.keywords:
        plain = keyword.arg is None and not isinstance(keyword.value, ast.IfExp)
        values = ev.values(keyword.value, frame) if plain else ()
        dicts = [v for v in values if isinstance(v, Collection) and v.kind == "dict" and v.each is None]
        if 1 < len(dicts) == len(values) <= _MOST_DICTS:
            yield from (collect(ev, call, frame, chosen={id(keyword.value): value}) for value in dicts)
            return
    yield collect(ev, call, frame)


def collect(
    ev: Evaluator, call: ast.Call, frame: Frame, depth: int = 0, chosen: dict[int, Collection] | None = None
) -> Arguments:
    """The arguments of `call`, with splats followed as far as they can be seen."""
    found = Arguments(chosen=chosen or {})
    for node in call.args:
        if isinstance(node, ast.Starred):
            _splat_positional(ev, found, node.value, frame, depth)
            if found.open:
                break
        else:
            found.positional.append(Argument("", node, frame, node))
    for keyword in call.keywords:
        if keyword.arg is None:
            _splat(ev, found, keyword.value, frame, depth)
    for keyword in call.keywords:
        if keyword.arg is not None:
            found.add(Argument(keyword.arg, keyword.value, frame, keyword))
    return found


def _splat_positional(ev: Evaluator, found: Arguments, node: ast.expr, frame: Frame, depth: int) -> None:
    scope = frame.scope
    if isinstance(node, ast.Name) and isinstance(scope, FunctionScope) and depth <= _DEEPEST:
        extra = scope.node.args.vararg
        if extra is not None and extra.arg == node.id and frame.call is not None and frame.caller is not None:
            passed = collect(ev, frame.call, frame.caller, depth + 1)
            taken = len(scope.node.args.posonlyargs) + len(scope.node.args.args) - (scope.receiver_name is not None)
            found.positional += passed.positional[taken:]
            found.open = found.open or passed.open
            return
    values = ev.values(node, frame)
    if len(values) == 1 and isinstance(values[0], Collection) and values[0].each is None and values[0].kind != "dict":
        found.positional += [Argument("", item, values[0].frame, item) for item in values[0].items]
        return
    found.open = True


def _splat(ev: Evaluator, found: Arguments, node: ast.expr, frame: Frame, depth: int) -> None:
    """Take in `**node`."""
    if depth > _DEEPEST:
        found.open = True
        return
    scope = frame.scope
    if isinstance(node, ast.Name) and isinstance(scope, FunctionScope):
        extra = scope.node.args.kwarg
        if extra is not None and extra.arg == node.id and _is_as_passed(scope, node):
            _passed_on(ev, found, scope, frame, depth)
            _mutations(ev, found, node, frame)
            return
    values: Values = (found.chosen[id(node)],) if id(node) in found.chosen else ev.values(node, frame)
    for value in values:
        if isinstance(value, Collection) and value.kind == "dict" and value.each is None:
            _from_dict(ev, found, value, len(values) == 1, depth)
            _filled_elsewhere(found, value, node, len(values) == 1)
        else:
            found.open = True
    if isinstance(node, ast.Name):
        _mutations(ev, found, node, frame)


def _is_as_passed(scope: FunctionScope, node: ast.Name) -> bool:
    """Whether a name still holds what the function was called with."""
    bindings = scope.index().bindings.get(node.id, [])
    return len(bindings) < 2 or all(binding.kind == "parameter" for binding in reaching(bindings, node))


def _from_dict(ev: Evaluator, found: Arguments, value: Collection, certain: bool, depth: int) -> None:
    for key, item in zip(value.keys, value.items, strict=False):
        if key is None:  # a splat within the dict display
            _splat(ev, found, item, value.frame, depth + 1)
            continue
        name = key if isinstance(key, str) else key.value if isinstance(key, ast.Constant) else None
        if isinstance(name, str):
            found.add(Argument(name, item, value.frame, item, certain))
        else:
            found.open = True


def _filled_elsewhere(found: Arguments, value: Collection, node: ast.expr, certain: bool) -> None:
    """What the function or module that made a dict puts into it: `OPTIONS["device"] = "cuda"`."""
    for binding in filled_later(value):
        statement = binding.node
        if not isinstance(statement, ast.Assign) or scope_of(statement) is scope_of(node):
            continue
        for key in (target.slice for target in statement.targets if isinstance(target, ast.Subscript)):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                always = certain and block_of(statement).owner is None
                found.add(Argument(key.value, statement.value, value.frame, statement, always))


def _passed_on(ev: Evaluator, found: Arguments, scope: FunctionScope, frame: Frame, depth: int) -> None:
    """The keyword arguments that `**kwargs` of this frame's function holds."""
    if frame.call is None or frame.caller is None:
        found.open = True
        return
    own = {argument.arg for argument in scope.parameters}
    passed = collect(ev, frame.call, frame.caller, depth + 1)
    found.open = found.open or passed.open
    for name, argument in passed.named.items():
        if name not in own:
            found.add(argument)


def _mutations(ev: Evaluator, found: Arguments, node: ast.Name, frame: Frame) -> None:
    """What `d["key"] = value`, `d.update(...)` and `d.pop("key")` change before the dict is used."""
    scope = scope_of(node).index()
    here, line = block_of(node), node.lineno
    first, last = _bound_between(scope, node)
    for target in scope.subscripts:
        stored = isinstance(target.ctx, ast.Store) and isinstance(target.value, ast.Name) and target.value.id == node.id
        if not stored or not first <= target.lineno <= line or block_of(target).excludes(here):
            continue
        statement = parent(target)
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        if not isinstance(statement, ast.Assign) or not isinstance(key, str):
            found.open = True
            continue
        certain = block_of(target).holds(here) and target.lineno >= last
        found.add(Argument(key, statement.value, frame, statement, certain, None if certain else block_of(target)))
    changing = sorted((call for name in _MUTATING for call in scope.calls_of(name)), key=lambda call: call.lineno)
    for call in changing:
        function = call.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            continue
        if function.value.id != node.id or not first <= call.lineno <= line or block_of(call).excludes(here):
            continue
        certain = block_of(call).holds(here) and call.lineno >= last
        _mutating_call(ev, found, function.attr, call, frame, certain)
    for deleted in scope.deletes:
        block = block_of(deleted)
        if not isinstance(deleted, ast.Subscript) or not first <= deleted.lineno <= line or block.excludes(here):
            continue
        if isinstance(deleted.value, ast.Name) and deleted.value.id == node.id:
            _taken_out(found, deleted.slice, block.holds(here) and deleted.lineno >= last)


def _bound_between(scope: Scope, node: ast.Name) -> tuple[int, int]:
    """The lines of the first and the last place that a name may have got its value at: what changes the dict before
    the first changes another one, what changes it before the last perhaps."""
    bindings = scope.bindings.get(node.id, [])
    if len(bindings) < 2:
        return 0, 0
    lines = [getattr(binding.node, "lineno", 0) for binding in reaching(bindings, node)]
    before = [line for line in lines if line <= node.lineno]
    return min(before, default=0), max(before, default=0)


def _taken_out(found: Arguments, key: ast.expr, certain: bool) -> None:
    """`options.pop("key")`, `del options["key"]`."""
    name = key.value if isinstance(key, ast.Constant) else None
    if certain and isinstance(name, str):
        found.named.pop(name, None)
        return
    for argument in found.named.values():
        if argument.name == name or not isinstance(name, str):
            argument.certain = False


def _mutating_call(ev: Evaluator, found: Arguments, method: str, call: ast.Call, frame: Frame, certain: bool) -> None:
    if method in ("pop", "setdefault") and call.args and isinstance(call.args[0], ast.Constant):
        name = str(call.args[0].value)
        if method == "pop":
            _taken_out(found, call.args[0], certain)
        elif method == "setdefault" and name in found.named:
            return
        elif method == "setdefault" and len(call.args) > 1:
            found.add(Argument(name, call.args[1], frame, call.args[1], certain and not found.open))
    elif method == "update":
        _update(ev, found, call, frame, certain)


def _update(ev: Evaluator, found: Arguments, call: ast.Call, frame: Frame, certain: bool) -> None:
    """Take in `d.update(...)`; uncertain where it is not always run."""
    changed = Arguments()
    for mapping in call.args:
        _splat(ev, changed, mapping, frame, _DEEPEST)
    for keyword in call.keywords:
        if keyword.arg is not None:
            changed.add(Argument(keyword.arg, keyword.value, frame, keyword))
    found.open = found.open or changed.open
    for argument in changed.named.values():
        argument.certain = argument.certain and certain
        argument.block = argument.block if certain else block_of(call)
        if certain or argument.name not in found.named:
            found.add(argument)
        else:
            found.named[argument.name].certain = found.named[argument.name].alone = False


def name_positional(found: Arguments, names: tuple[str, ...]) -> dict[str, Argument]:
    """All arguments by name, where `names` are the positional parameters."""
    named = dict(found.named)
    for name, argument in zip(names, found.positional, strict=False):
        argument.name = name
        named.setdefault(name, argument)
    return named
