"""The arguments of a call in normal form: positional, keyword, through `*args` and `**kwargs` that can be followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.language.dict_changes import Change, changes, later_changes
from dllint.code.language.evaluator import Evaluator
from dllint.code.language.extra_arguments import own_places
from dllint.code.language.handed_dicts import changes_by_functions
from dllint.code.language.links import Block, block_of, scope_of
from dllint.code.language.reaching import first_alive, reaching
from dllint.code.language.scopes import FunctionScope, Scope, dotted
from dllint.code.language.values import Collection, Frame, Values, merge
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
    surely: bool = False
    """Whether on the other ways something else is passed under its name."""
    others: list[Argument] = field(default_factory=list)
    """What else may be passed under its name."""

    @property
    def alone(self) -> bool:
        """Whether nothing else is passed under its name, on any way."""
        return not self.others

    def values(self, ev: Evaluator) -> Values:
        """What the argument can be, if it is passed."""
        found = ev.values(self.node, self.frame)
        return merge([found, *(other.values(ev) for other in self.others)]) if self.others else found


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
            earlier.surely = earlier.surely or earlier.certain
            earlier.certain = False
            earlier.others.append(argument)

    def settle(self, name: str, here: Block) -> None:
        """Forget what later values replace on every way to a block: those of both branches of an `if`, of a `try`."""
        first = self.named.get(name)
        if first is None or not first.others:
            return
        every = [first, *first.others]
        blocks = [argument.block for argument in every if argument.block is not None]
        behind = every[len(every) - len(blocks) :]
        place = first_alive(blocks, here) if all(argument.block is not None for argument in behind) else None
        if place is None:
            return
        kept, *others = behind[place:]
        kept.others, kept.certain, kept.surely = others, True, True
        self.named[name] = kept


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
            found.positional += passed.positional[len(own_places(scope, frame.call)) :]
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
        if isinstance(value, Collection) and value.kind == "dict":
            _from_changed(ev, found, value, node, frame, len(values) == 1, depth)
        else:
            found.open = True
    if isinstance(node, (ast.Name, ast.Attribute)):
        _mutations(ev, found, node, frame)
    dicts = [value for value in values if isinstance(value, Collection) and value.kind == "dict"]
    for change in [change for value in dicts for change, _ in changes_by_functions(ev, value, node, frame)]:
        _forget(found, change)


def _is_as_passed(scope: FunctionScope, node: ast.Name) -> bool:
    """Whether a name still holds what the function was called with."""
    bindings = scope.index().bindings.get(node.id, [])
    return len(bindings) < 2 or all(binding.kind == "parameter" for binding in reaching(bindings, node))


def _from_changed(
    ev: Evaluator, found: Arguments, value: Collection, node: ast.expr, frame: Frame, certain: bool, depth: int
) -> None:
    """Take in a dict, and what other functions than this one do to it before."""
    own = Arguments(chosen=found.chosen)
    _from_dict(ev, own, value, depth)
    for change, scope, always in later_changes(ev, value, node, frame):
        if always is None or (not change.method and change.name is None and change.whole_loop is None):
            _forget(own, change)
        else:
            _apply(ev, own, change, value.frame if scope is value.frame.scope else Frame(scope), always)
    found.open = found.open or own.open
    for argument in own.named.values():
        argument.certain = argument.certain and certain
        argument.surely = argument.surely and certain
        found.add(argument)


def _from_dict(ev: Evaluator, found: Arguments, value: Collection, depth: int) -> None:
    if value.each is not None:
        copied = _copied(value.node)
        if copied is None:
            found.open = True
        else:
            _splat(ev, found, copied, value.frame, depth + 1)
    for key, item in zip(value.keys, value.items, strict=False):
        if key is None:  # a splat within the dict display
            _splat(ev, found, item, value.frame, depth + 1)
            continue
        name = key if isinstance(key, str) else key.value if isinstance(key, ast.Constant) else None
        if isinstance(name, str):
            found.add(Argument(name, item, value.frame, item))
        else:
            found.open = True


def _copied(node: ast.AST) -> ast.expr | None:
    """The dict in `{key: value for key, value in options.items()}`."""
    if not isinstance(node, ast.DictComp) or len(node.generators) > 1 or node.generators[0].ifs:
        return None
    target, source = node.generators[0].target, node.generators[0].iter
    function = source.func if isinstance(source, ast.Call) else None
    pair = ast.unparse(target) == f"({ast.unparse(node.key)}, {ast.unparse(node.value)})"
    return function.value if pair and isinstance(function, ast.Attribute) and function.attr == "items" else None


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


def _mutations(ev: Evaluator, found: Arguments, node: ast.Name | ast.Attribute, frame: Frame) -> None:
    """What `d["key"] = value`, `d.update(...)` and `d.pop("key")` change before the dict is used."""
    scope = scope_of(node).index()
    here, line = block_of(node), node.lineno
    found_changes = changes(scope, dotted(node))
    first, last = _bound_between(scope, node) if found_changes else (0, 0)
    for change in found_changes:
        if first <= change.line <= line and not change.block.excludes(here):
            _apply(ev, found, change, frame, _always_happens(found, change, here) and change.line >= last)
            for name in [change.name] if change.name is not None else list(found.named):
                found.settle(name, here)


def _always_happens(found: Arguments, change: Change, here: Block) -> bool:
    """Whether a change happens on every way to a block: not where another branch leads past it, but of an entry that is
    there (`if "device" in options: options["device"] = "cpu"`) all the same."""
    block = change.block
    entry = found.named.get(change.name or "")
    if change.is_for_present and entry is not None and entry.certain and block.parent is not None:
        block = block.parent
    return block.holds(here)


def _bound_between(scope: Scope, node: ast.Name | ast.Attribute) -> tuple[int, int]:
    """The lines of the first and the last place that a name may have got its value at: what changes the dict before
    the first changes another one, what changes it before the last perhaps."""
    if isinstance(node, ast.Attribute):
        return _stored_between(scope, node)
    bindings = scope.bindings.get(node.id, [])
    if len(bindings) < 2:
        return 0, 0
    lines = [getattr(binding.node, "lineno", 0) for binding in reaching(bindings, node)]
    before = [line for line in lines if line <= node.lineno]
    return min(before, default=0), max(before, default=0)


def _stored_between(scope: Scope, node: ast.Attribute) -> tuple[int, int]:
    stored = [write.node for write in scope.writes if not write.element and dotted(write.target) == dotted(node)]
    before = [one for one in stored if getattr(one, "lineno", 0) <= node.lineno]
    surely = [one for one in before if block_of(one).holds(block_of(node))]
    first, last = (max((getattr(one, "lineno", 0) for one in some), default=0) for some in (surely, before))
    return first, last


def _apply(ev: Evaluator, found: Arguments, change: Change, frame: Frame, certain: bool) -> None:
    """Take in what one change does to a dict; uncertain where it is not always run."""
    block = None if certain else change.block
    if change.is_for_present is True and change.name not in found.named:
        return
    if change.is_for_present is False and change.name in found.named and found.named[change.name].certain:
        return
    if change.method == "update":
        _update(ev, found, change, frame, certain)
    elif change.method in ("pop", "clear", "popitem"):
        _taken_out(found, change, certain)
    elif change.method == "setdefault":
        if change.name is not None and change.name not in found.named and change.value is not None:
            sure = certain and not found.open
            found.add(Argument(change.name, change.value, frame, change.value, sure))
    elif change.value is None or (change.name is None and change.whole_loop is None):
        found.open = True
    else:
        for name in list(found.named) if change.name is None else [change.name]:
            found.add(Argument(name, change.value, frame, change.node, certain, block))


def _forget(found: Arguments, change: Change) -> None:
    """Some other function may change the dict, nobody knows when."""
    found.open = True
    for name in list(found.named) if change.name is None else [change.name]:
        found.named.pop(name, None)


def _taken_out(found: Arguments, change: Change, certain: bool) -> None:
    """`options.pop("key")`, `del options["key"]`, `options.clear()`."""
    whole = change.method == "clear"
    if certain and (whole or change.name is not None):
        for name in list(found.named) if whole else [change.name]:
            found.named.pop(name or "", None)
        return
    for argument in found.named.values():
        if change.name in (None, argument.name):
            argument.certain = argument.surely = False


def _update(ev: Evaluator, found: Arguments, change: Change, frame: Frame, certain: bool) -> None:
    """Take in `d.update(...)`."""
    changed, call = Arguments(), change.node
    assert isinstance(call, ast.Call)
    for mapping in call.args:
        _splat(ev, changed, mapping, frame, _DEEPEST)
    for keyword in call.keywords:
        if keyword.arg is not None:
            changed.add(Argument(keyword.arg, keyword.value, frame, keyword))
    found.open = found.open or changed.open
    for argument in changed.named.values():
        argument.certain = argument.certain and certain
        argument.block = argument.block if certain else change.block
        found.add(argument)


def name_positional(found: Arguments, names: tuple[str, ...]) -> dict[str, Argument]:
    """All arguments by name, where `names` are the positional parameters."""
    named = dict(found.named)
    for name, argument in zip(names, found.positional, strict=False):
        argument.name = name
        named.setdefault(name, argument)
    return named
