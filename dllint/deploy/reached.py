"""The loaders that a function reaches: for launchers that run a function of the project in a container."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.code.language.conditions import is_guarded
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, ModuleScope, Scope
from dllint.code.language.values import ClassRef, Frame, Unknown
from dllint.code.loaders.loader import Loader
from dllint.code.workers.reach import Step, WorkerCode

if TYPE_CHECKING:
    from dllint.code.program import Program
    from dllint.deploy.plan import Plan


def working_loaders(function: FunctionScope, plan: Plan) -> tuple[Loader, ...]:
    """The loaders that certainly have workers, and that a function gets to by its calls or in what it makes."""
    loaders = [loader for loader in plan.program.loaders if loader.has_workers]
    return tuple(filter(_Reached(function, plan).holds, loaders)) if loaders else ()


def reached_by(name: str, module: Module, loaders: list[Loader], plan: Plan) -> list[Loader]:
    """Those of some loaders that a function at the top of a module gets to; all where it is not seen."""
    functions = (scope for scope in module.scope.index().children.values() if isinstance(scope, FunctionScope))
    function = next((scope for scope in functions if scope.name == name), None)
    return list(filter(_Reached(function, plan).holds, loaders)) if function is not None and loaders else loaders


class _Reached:
    """The functions that one calls, and the classes that they make objects of."""

    def __init__(self, function: FunctionScope, plan: Plan) -> None:
        found = WorkerCode(plan.program, [Step(function, Frame(function), "")])
        self.scopes = {id(step.scope) for step in found.steps}
        evaluator = plan.program.evaluator
        made = (
            value
            for step in found.steps
            for call in step.scope.index().calls
            if isinstance(call.func, (ast.Name, ast.Attribute))
            for value in evaluator.values(call.func, step.frame)
        )
        self.classes = {id(value.cls) for value in made if isinstance(value, ClassRef)}

    def holds(self, loader: Loader) -> bool:
        """Whether a loader is built in one of them."""
        scope = loader.frame.scope
        owner = scope.owner if isinstance(scope, FunctionScope) else None
        return id(scope) in self.scopes or (owner is not None and id(owner) in self.classes)


def way_to(loader: Loader) -> Iterator[tuple[ast.AST, Module]]:
    """The call of a loader, and the calls that lead to it, each with the module that it stands in."""
    yield loader.call, loader.module
    frame = loader.frame
    while frame.call is not None and frame.caller is not None:
        yield frame.call, frame.caller.scope.module
        frame = frame.caller


def is_of_another_run(loader: Loader, script: Module, reached: Iterable[Module]) -> bool:
    """Whether a module builds a loader where it is the script that runs, and another one is."""
    if any(module is not script and is_guarded(node) for node, module in way_to(loader)):
        return True
    return _is_main_of_another(loader, script, reached)


def _is_main_of_another(loader: Loader, script: Module, reached: Iterable[Module]) -> bool:
    """Whether the function that the way to a loader starts in is only called where its own module runs as a script:
    nothing else names it, but to import it."""
    scope, module = loader.start, loader.start.module
    if module is script or not isinstance(scope, FunctionScope) or scope.owner is not None:
        return False
    calls = module.calls_of(scope.name)
    if not calls or not all(is_guarded(call) for call, _ in calls):
        return False
    return not any(_uses(other, scope.name) for other in {script, *reached} if other is not module)


def is_class_named(loader: Loader, modules: Iterable[Module]) -> bool:
    """Whether one of some modules names the class whose method the way to a loader starts in, but to import it, or to
    define it."""
    owner = loader.start.owner if isinstance(loader.start, FunctionScope) else None
    return owner is not None and any(_uses(other, owner.name) for other in modules if other is not owner.module)


def is_never_called(loader: Loader, script: Module, reached: Collection[Module]) -> bool:
    """Whether a script only imports the module with the function that the way to a loader starts in, and gets to
    nothing that calls that."""
    function = _first_function(loader)
    if function is None or function.module is script:
        return False
    users = _users(function, loader.program)
    # What a package hands on under another name is reached past its `__init__.py`.
    return not any(user is script or user in reached or user.is_package for user in users)


def _first_function(loader: Loader) -> FunctionScope | None:
    """The function at the top of a module that the way to a loader starts in; None where a decorator may call it."""
    scope = _outermost(loader.start)
    return scope if isinstance(scope, FunctionScope) and not scope.decorators else None


def _users(function: FunctionScope, program: Program) -> Iterator[Module]:
    """The modules that name a function, but to define or to import it."""
    for module in program.mentions.of(function.name.encode()):
        if module is function.module:
            is_used = set(module.lines_with(function.name)) != {function.node.lineno}
        else:
            is_used = _uses(module, function.name)
        if is_used:
            yield module


def _outermost(scope: Scope) -> Scope:
    """The function or class at the top of a module that a scope stands in."""
    while scope.parent is not None and not isinstance(scope.parent, ModuleScope):
        scope = scope.parent
    return scope


def _uses(module: Module, name: str) -> bool:
    """Whether a module does anything with a name, or imports it as another; a function of its own is called so, too."""
    lines = module.data.split(b"\n")
    found = [lines[row - 1].strip() for row in module.lines_with(name) if row <= len(lines)]
    if any(binding.kind == "scope" for binding in module.scope.bindings.get(name, ())):
        return any(b"." + name.encode() in line for line in found)
    return any(not line.startswith((b"from ", b"import ")) or b" as " in line for line in found)


def called(loaders: list[Loader]) -> list[Loader]:
    """The loaders without those of helpers that nothing in the project calls; all where there are no others."""
    kept = [loader for loader in loaders if not _is_of_uncalled(loader)]
    return kept or loaders


def _is_of_uncalled(loader: Loader) -> bool:
    """Whether nobody is seen to call the function that builds a loader, or whose parameter that goes through."""
    given = loader.dataset_values()
    if given and all(isinstance(value, Unknown) and value.uncalled for value in given):
        return True
    function = _first_function(loader)
    return function is not None and next(_users(function, loader.program), None) is None
