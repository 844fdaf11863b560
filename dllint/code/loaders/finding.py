"""Finding the loaders of a program: each construction, once for each way by which it is reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.apis import LoaderApi
from dllint.code.language import choices, classes, conditions
from dllint.code.language.arguments import Argument, alternatives
from dllint.code.language.libcalls import merged_call
from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope, dotted, last_name
from dllint.code.language.values import (
    ClassRef,
    Const,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Product,
    Value,
)
from dllint.code.loaders import configs, set_later
from dllint.code.loaders.instantiating import add_arguments
from dllint.code.loaders.loader import Loader

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator
    from dllint.code.program import Program

_MOST_INITS = 5
"""Project classes between a loader class and the library's."""
_MOST_CONTEXTS = 16
"""Ways by which one construction is reached that are told apart."""
_MOST_COMPARED = 200
"""Ways by which one construction is reached among which those are chosen."""
_MOST_OF_A_MODULE = 10_000
"""Constructions in one file. More were written by a program."""
_MOST_OUTER = 6
"""Ways by which the function is entered whose call leads to a construction."""


def find(program: Program) -> list[Loader]:
    """All loaders of a program, each once for each way that its construction is reached."""
    found: list[Loader] = []
    exported = _exported_aliases(program)
    for module in _modules_to_search(program, exported):
        candidates = _candidates(program, module, exported)
        if candidates:
            program.facts.building_modules.add(module)
            program.facts.building_scopes.update(scope for _, scope in candidates)
        for call, scope in candidates[:_MOST_OF_A_MODULE]:
            if _is_expected_to_fail(call) or _is_made_elsewhere(program, call, scope):
                continue
            for frame in contexts(program, scope):
                found += _built(program, call, frame)
        found += configs.loaders_of(program, module)
    return found


def _exported_aliases(program: Program) -> set[str]:
    """Other names under which modules offer a loader: `from torch.utils.data import DataLoader as Loader`."""
    found: set[str] = set()
    for module in program.parsed_seeds:
        for word in apis.LOADER_WORDS:
            if module.holds(word.encode()):
                found |= module.scope.names_of.get(word, set()) - {word}
    return found


def _modules_to_search(program: Program, exported: set[str]) -> list[Module]:
    """The seeds, and the modules that may call a loader by such a name."""
    if not exported:
        return program.parsed_seeds
    known = {id(module) for module in program.parsed_seeds}
    holders = {module for name in exported for module in program.mentions.of(name.encode())}
    others = [m for m in program.modules.by_file.values() if id(m) not in known and m in holders]
    return program.parsed_seeds + [module for module in others if module.is_sound]


def _is_made_elsewhere(program: Program, call: ast.Call, scope: Scope) -> bool:
    """Whether it is the `super().__init__()` of a loader class whose objects are seen to be made: those count."""
    if not isinstance(scope, FunctionScope) or scope.owner is None or scope.name != "__init__":
        return False
    return last_name(call.func) == "__init__" and bool(program.call_sites(scope))


def _is_expected_to_fail(call: ast.Call) -> bool:
    """Whether a test builds the loader to see it refused: `with pytest.raises(ValueError):`."""
    at = parent(call)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(at, ast.With) and any(last_name(i.context_expr) in ("raises", "assertRaises") for i in at.items):
            return True
        at = parent(at)
    return False


def _candidates(program: Program, module: Module, exported: set[str]) -> list[tuple[ast.Call, Scope]]:
    """The calls of a module that may build a loader, in the order of the source."""
    words = {*apis.LOADER_WORDS, *exported, *program.facts.loader_class_names, *_last_names(program.settings.loaders)}
    present = [word for word in words if module.holds(word.encode())]
    found: dict[int, tuple[ast.Call, Scope]] = {}
    for word in present:
        found |= {id(call): (call, scope) for call, scope in _calls_of(module, word)}
    if present:
        found |= {id(call): (call, scope) for call, scope in _inits_called(program, module)}
    return sorted(found.values(), key=lambda item: (item[0].lineno, item[0].col_offset))


def _calls_of(module: Module, word: str) -> Iterator[tuple[ast.Call, Scope]]:
    """The calls of `word` in a module, and those of what any of its scopes also calls it."""
    aliases: set[str] = set()
    for scope in module.scopes_with(word):
        yield from ((call, scope) for call in scope.index().calls_of(word))
        aliases |= scope.names_of.get(word, set())
    for alias in aliases - {word}:
        yield from module.calls_of(alias)


def _inits_called(program: Program, module: Module) -> Iterator[tuple[ast.Call, Scope]]:
    """The calls of `super().__init__()` in the module's own loader classes."""
    for cls in module.classes:
        if cls.name in program.facts.loader_class_names and "__init__" in cls.methods:
            scope = cls.methods["__init__"]
            yield from ((call, scope) for call in scope.index().calls if last_name(call.func) == "__init__")


def _last_names(names: tuple[str, ...]) -> list[str]:
    return [name.rpartition(".")[2] for name in names]


def contexts(program: Program, scope: Scope, depth: int = 0) -> list[Frame]:
    """The frames by which a function is entered: one for each call that is seen, else one without arguments; none where
    all calls stand where nobody comes to."""
    if not isinstance(scope, FunctionScope) or isinstance(scope.node, ast.Lambda):
        return [Frame(scope)]
    own = [p for p in scope.parameters if p.arg != scope.receiver_name]
    if not own and scope.node.args.kwarg is None and scope.node.args.vararg is None:
        return [Frame(scope)]
    found: list[Frame] = []
    sites = program.call_sites(scope)
    for call, caller in sites:
        outer = contexts(program, caller.scope, depth + 1) if depth < 1 else [caller]
        outer = [frame for frame in outer if _is_come_to(program, call, frame)]
        found += [
            Frame(scope, _made_by(scope, call, frame), call, frame) for frame in _most_different(outer, _MOST_OUTER)
        ]
        if len(found) > _MOST_COMPARED:
            break
    if len(found) <= _MOST_CONTEXTS:
        return found if found or sites else [Frame(scope)]
    # The last one stands for all the others, of which nothing is known.
    return [*_most_different(found, _MOST_CONTEXTS - 1), Frame(scope)]


def _is_come_to(program: Program, call: ast.Call, frame: Frame) -> bool:
    """Whether what a function is given does not lead past a call in it: `if name == "cifar10": return whole(data)`."""
    around = conditions.ruled_out_around(program.evaluator, call, frame)
    return not any(_is_spelled_out(program, branch.test, frame) for branch in around)


def _is_spelled_out(program: Program, test: ast.expr, frame: Frame) -> bool:
    """Whether a test asks for what calls give in so many words, or for an option whose choices all come out alike:
    other options, and fields of configs, are set from outside."""
    ev = program.evaluator
    asked = [(name, value) for name in _names(test) for value in ev.values(name, frame)]
    return bool(asked) and all(
        isinstance(value, Const)
        and (
            (isinstance(name, ast.Name) and choices.is_argument(value.node))
            or choices.agree_on(ev, test, name, value, frame)
        )
        for name, value in asked
    )


def _names(test: ast.AST) -> Iterator[ast.expr]:
    """The names in a test, and the attributes of names: each with all its dots."""
    if isinstance(test, (ast.Name, ast.Attribute)) and dotted(test):
        yield test
        return
    for part in ast.iter_child_nodes(test):
        yield from _names(part)


def _most_different(frames: list[Frame], most: int) -> list[Frame]:
    """A few of the frames by which a function is entered: first one for each choice of keywords that it is given."""
    firsts: dict[frozenset[str | None], Frame] = {}
    for frame in frames:
        firsts.setdefault(frozenset(k.arg for k in frame.call.keywords) if frame.call else frozenset(), frame)
    chosen = list(firsts.values())
    return (chosen + [frame for frame in frames if frame not in chosen])[:most]


def _made_by(scope: FunctionScope, call: ast.Call, frame: Frame) -> Instance | None:
    owner = scope.owner
    if owner is None or scope.name != "__init__" or last_name(call.func) == "__init__":
        return None
    return Instance(owner, call, frame)


def _built(program: Program, call: ast.Call, frame: Frame) -> Iterator[Loader]:
    ev = program.evaluator
    for value in ev.values(call.func, frame):
        if isinstance(value, ClassRef) and value.cls.name in program.facts.loader_class_names:
            inner = _through_init(program, Instance(value.cls, call, frame))
            if inner is not None:
                yield from _built(program, *inner)
                return
        api, target = _api(ev, program, value), value
        if api is None:
            continue
        merged = call
        while isinstance(target, Partial):
            merged = merged_call(target, merged)
            target = target.target
        for found in alternatives(ev, merged, frame):
            if isinstance(target, External) and target.name.endswith(".__init__") and not _is_super(call.func):
                found.positional = found.positional[1:]
            if isinstance(target, Derived) and isinstance(call.func, ast.Attribute):
                found.add(Argument("dataset", call.func.value, frame, call.func))
            add_arguments(program, call, frame, found)
            if api.is_of_trainer:
                set_later.add_arguments(call, frame, found)
            yield Loader(program, call, frame, api, found)
        return


def _through_init(program: Program, made: Instance) -> tuple[ast.Call, Frame] | None:
    """The call of the library's `__init__` that making an object of a project's loader class comes to, in its frame."""
    first = classes.method(program.evaluator, made.cls, "__init__")
    if first is None or made.node is None:
        return None
    frame = Frame(first, made, made.node, made.frame)
    for _ in range(_MOST_INITS):
        calls = [c for c in frame.scope.index().calls if last_name(c.func) == "__init__"]
        for call in calls:
            found = program.evaluator.values(call.func, frame)
            if any(isinstance(v, External) and api_of(program, v.name.removesuffix(".__init__")) for v in found):
                return call, frame
            onward = next((v.scope for v in found if isinstance(v, Function) and v.scope.name == "__init__"), None)
            if onward is not None:
                frame = Frame(onward, made, call, frame)
                break
        else:
            return None
    return None


def _is_super(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call)


def _api(ev: Evaluator, program: Program, value: Value) -> LoaderApi | None:
    """How `value(...)` takes a loader's arguments, if it builds one."""
    if isinstance(value, External):
        return api_of(program, value.name.removesuffix(".__init__"))
    if isinstance(value, Derived) and isinstance(value.base, Product):
        return api_of(program, value.base.name + value.via)  # the method of a library's object
    if isinstance(value, Partial):
        return _api(ev, program, value.target)
    if isinstance(value, ClassRef):
        if classes.method(ev, value.cls, "__init__") is not None:
            return None  # its own call of super().__init__ is the construction
        names = (api_of(program, name) for name in classes.external_bases(ev, value.cls))
        return next((api for api in names if api is not None), None)
    return None


def api_of(program: Program, name: str) -> LoaderApi | None:
    """The loader that a library's name stands for, known or told by the settings."""
    if name in program.settings.loaders:
        return LoaderApi()
    return apis.LOADERS.get(name)


def is_loader(program: Program, value: Value) -> bool:
    """Whether a value is a loader object."""
    if isinstance(value, Product):
        return api_of(program, value.name) is not None and value.name.rpartition(".")[2] in _OBJECTS
    if isinstance(value, Instance):
        return any(api_of(program, b) is not None for b in classes.external_bases(program.evaluator, value.cls))
    return False


def without_pipes(value: Value) -> Value:
    """The loader that a pipeline of webdataset begins with: `WebLoader(...).slice(8).with_length(8)`."""
    if not isinstance(value, Derived) or not all(step.via in apis.WEB_PIPES for step in value.chain()):
        return value
    origin = value.origin
    return origin if isinstance(origin, Product) and origin.name == "webdataset.WebLoader" else value


_OBJECTS = frozenset(word for word in apis.LOADER_WORDS if word.endswith(("Loader", "DataLoader2", "Sampler")))
"""Of the calls that carry a loader's arguments, those whose result is a loader."""
