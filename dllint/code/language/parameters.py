"""What a parameter can be: by the call that entered its function, or by all calls that the project has."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import classes, elements, extra_arguments
from dllint.code.language.links import scope_of
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import (
    UNKNOWN,
    UNKNOWNS,
    ClassRef,
    Collection,
    Frame,
    Instance,
    Unknown,
    Value,
    Values,
    merge,
)

if TYPE_CHECKING:
    from dllint.code.language.arguments import Argument
    from dllint.code.language.evaluator import Evaluator

MOST_CALLERS = 2
"""Calls within calls that arguments are followed through."""


def parameter(ev: Evaluator, name: str, frame: Frame) -> Values:
    """What a parameter can be: by the call that made this frame, else by all calls that the project has."""
    scope = frame.scope
    if not isinstance(scope, FunctionScope):
        return UNKNOWNS
    if name == scope.receiver_name or (scope.owner is None and name == _given_object(scope, frame)):
        return _receiver(scope, frame)
    arguments = scope.node.args
    if any(extra is not None and extra.arg == name for extra in (arguments.vararg, arguments.kwarg)):
        return (_extra(scope, name, frame) or UNKNOWN,)
    if "main" in scope.decorators and scope.module.holds(b"hydra"):
        from dllint.code.language import hydra_mains

        config = hydra_mains.config(ev, name, scope)
        if config:
            return config
    if frame.call is not None and frame.caller is not None:
        return _argument(ev, name, scope, frame.call, frame.caller)
    return _over_all_calls(ev, name, scope, frame)


def _extra(scope: FunctionScope, name: str, frame: Frame) -> Collection | None:
    """What `*args` or `**options` holds in this activation, where the call is known."""
    if frame.call is None or frame.caller is None:
        return None
    kind = (
        extra_arguments.named
        if scope.node.args.kwarg and scope.node.args.kwarg.arg == name
        else extra_arguments.positional
    )
    return kind(scope, frame.call, _bounded(frame.caller), frame, name)


def _bounded(caller: Frame) -> Frame:
    """The frame of a call, without the calls that led there where there are many."""
    return Frame(caller.scope, caller.receiver) if caller.depth >= MOST_CALLERS else caller


def _given_object(scope: FunctionScope, frame: Frame) -> str | None:
    """The parameter of a function outside of classes that holds the object, where it runs in a method's place."""
    arguments = scope.node.args
    first = (arguments.posonlyargs + arguments.args)[:1]
    return first[0].arg if first and frame.receiver is not None else None


def _receiver(scope: FunctionScope, frame: Frame) -> Values:
    if frame.receiver is not None:
        return (frame.receiver,)
    owner = scope.owner
    if owner is None:
        return UNKNOWNS
    return (ClassRef(owner),) if "classmethod" in scope.decorators else (Instance(owner),)


def _over_all_calls(ev: Evaluator, name: str, scope: FunctionScope, frame: Frame) -> Values:
    calls = ev.program.call_sites(scope)
    if scope.default(name) is not None:  # what is optional, users of a library may pass to its classes
        calls = [(call, caller) for call, caller in calls if not _is_of_far_subclass(ev, call, caller)]
    if not calls or ev.is_deep:
        return _unseen(ev, name, scope, uncalled=not calls)
    groups = []
    for call, caller in calls:
        if frame.receiver is not None and isinstance(frame.receiver, Instance) and frame.receiver.node is not None:
            bound = classes.init_frame(ev, frame.receiver, scope)
            if bound is not None and bound.call is not None and bound.caller is not None:
                return _argument(ev, name, scope, bound.call, bound.caller)
        groups += [_argument(ev, name, scope, call, frame) for frame in extra_arguments.activations(ev, call, caller)]
    return merge(groups) if groups else _unseen(ev, name, scope, uncalled=True)


def _is_of_far_subclass(ev: Evaluator, call: ast.Call, caller: Frame) -> bool:
    """Whether it is a `super().__init__()` in a module that has nothing to do with data."""
    return last_name(call.func) == "__init__" and caller.scope.module not in ev.program.seeds


def _unseen(ev: Evaluator, name: str, scope: FunctionScope, *, uncalled: bool) -> Values:
    """A parameter of a function that nothing is seen to call: its default, and whatever else a user may pass."""
    default = scope.default(name)
    known = ev.infer(default, Frame(scope.parent or scope)) if default is not None else ()
    annotated = scope.annotation(name)
    typed = _annotated(ev, annotated, scope) if annotated is not None and not known else ()
    return merge([known, typed, (Unknown(name, bool(known or typed), uncalled),)])


def _annotated(ev: Evaluator, annotation: ast.AST, scope: FunctionScope) -> Values:
    """An object of the project class that an annotation names."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        top = scope.module.scope
        text = annotation.value
        found = ev.lookup(text, annotation, top, Frame(top)) if text.isidentifier() else ()
    elif isinstance(annotation, (ast.Name, ast.Attribute)):
        found = ev.infer(annotation, Frame(scope.parent or scope))
    else:
        return ()
    return tuple(Instance(value.cls) for value in found if isinstance(value, ClassRef))


def _argument(ev: Evaluator, name: str, scope: FunctionScope, call: ast.Call, caller: Frame) -> Values:
    """The value of parameter `name` in one call; the default where the call leaves it out."""
    given, certain = passed(name, scope, call)
    if given is not None:
        return ev.infer(given, _bounded(caller))
    if not certain:
        if extra_arguments.is_passed_on(call, caller):
            made = extra_arguments.activations(ev, call, caller)
            return merge(_argument(ev, name, scope, call, frame) for frame in made if frame is not caller) or UNKNOWNS
        if _passes_unspelled(call, caller):
            return _collected(ev, name, scope, call, caller)
        splat = _from_splat(ev, name, call, caller)
        if splat is not None:
            return splat
        certain = _is_left_out(ev, name, call, caller)
    return _default(ev, name, scope) if certain else _unseen_argument(name, scope)


def _unseen_argument(name: str, scope: FunctionScope) -> Values:
    """What a call passes for a parameter where that is not seen; of an optional one, its name tells nothing then."""
    return UNKNOWNS if scope.default(name) is not None else (Unknown(name),)


def _default(ev: Evaluator, name: str, scope: FunctionScope) -> Values:
    default = scope.default(name)
    known = ev.infer(default, Frame(scope.parent or scope)) if default is not None else ()
    return known or (Unknown(name),)


def _passes_unspelled(call: ast.Call, caller: Frame) -> bool:
    """Whether a call has `*args`, or passes on the `**options` of the function that it stands in."""
    extra = caller.scope.node.args.kwarg if isinstance(caller.scope, FunctionScope) else None
    passed_on = [k.value for k in call.keywords if k.arg is None] if extra is not None else []
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        isinstance(options, ast.Name) and extra is not None and options.id == extra.arg for options in passed_on
    )


def _collected(ev: Evaluator, name: str, scope: FunctionScope, call: ast.Call, caller: Frame) -> Values:
    """What a call with `*args` and `**options` passes for a parameter, in its place or by its name."""
    from dllint.code.language.arguments import collect  # which asks for values itself

    given, names = collect(ev, call, caller), extra_arguments.own_places(scope, call)
    placed = given.positional[names.index(name) :] if name in names else []
    argument = placed[0] if placed else given.named.get(name)
    if argument is None:
        return _unseen_argument(name, scope) if given.open else _default(ev, name, scope)
    return _of_passed(ev, name, argument)


def _is_left_out(ev: Evaluator, name: str, call: ast.Call, caller: Frame) -> bool:
    """Whether a call with `**options` certainly does not pass a parameter: each is a dict whose keys are all known."""
    splats = [value for k in call.keywords if k.arg is None for value in ev.infer(k.value, caller) or UNKNOWNS]
    return all(elements.is_without(value, name) for value in splats)


def _from_splat(ev: Evaluator, name: str, call: ast.Call, caller: Frame) -> Values | None:
    """What `**options` pass for a parameter, if they do."""
    from dllint.code.language import dict_changes  # which asks for values itself, as what comes of it does

    for keyword in call.keywords:
        given = keyword.value if keyword.arg is None else None
        if isinstance(given, ast.Name) and dict_changes.changes(scope_of(given), given.id):
            return _of_changed(ev, name, call, caller)
        for value in ev.infer(given, caller) if given is not None else ():
            found = _under_key(ev, value, name, 0)
            if found is not None:
                return found
    return None


def _of_changed(ev: Evaluator, name: str, call: ast.Call, caller: Frame) -> Values | None:
    """What a call passes by dicts that are changed before: `options["device"] = "cpu"`."""
    from dllint.code.language.arguments import collect

    passed_on = collect(ev, call, caller)
    argument = passed_on.named.get(name)
    if argument is None:
        return None
    return _of_passed(ev, name, argument)


def _of_passed(ev: Evaluator, name: str, argument: Argument) -> Values:
    found = argument.values(ev)
    return found if argument.certain or argument.surely else merge([found, (Unknown(name),)])


def _under_key(ev: Evaluator, value: Value, name: str, depth: int) -> Values | None:
    """What a dict has under a key, or one that it takes in: `{**BASE, "size": 3}`; the last one counts."""
    if not isinstance(value, Collection) or value.kind != "dict" or depth > MOST_CALLERS:
        return (Unknown(name),) if depth else None
    for key, item in zip(reversed(value.keys), reversed(value.items), strict=False):
        if key == name or (isinstance(key, ast.Constant) and key.value == name):
            return ev.infer(item, value.frame)
        for inner in ev.infer(item, value.frame) if key is None else ():
            found = _under_key(ev, inner, name, depth + 1)
            if found is not None:
                return found
    return None


def passed(name: str, scope: FunctionScope, call: ast.Call) -> tuple[ast.expr | None, bool]:
    """The expression that a call passes for a parameter, and whether its absence would be certain."""
    certain = True
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value, True
        certain = certain and keyword.arg is not None
    names = extra_arguments.own_places(scope, call)
    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            return None, False
        if position < len(names) and names[position] == name:
            return argument, True
    return None, certain
