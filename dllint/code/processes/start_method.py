"""By which method the workers of a loader may be started: fork, spawn or forkserver."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.code.language.scopes import Scope
from dllint.code.language.values import Const, External, Frame, Function, Product, Value
from dllint.code.loaders.bases import setting, setting_within
from dllint.code.loaders.configs import Recipe
from dllint.code.loaders.loader import Loader
from dllint.code.loaders.pins import NO_PINS

if TYPE_CHECKING:
    from dllint.code.program import Program

METHODS = frozenset({"fork", "spawn", "forkserver"})
PICKLING = frozenset({"spawn", "forkserver"})
"""The methods that pickle the dataset, the collate_fn and the worker_init_fn."""

_SETTERS = frozenset({"multiprocessing.set_start_method", "torch.multiprocessing.set_start_method"})
_CONTEXTS = frozenset({"multiprocessing.get_context", "torch.multiprocessing.get_context"})
_LOKY_CONTEXTS = frozenset(
    f"{package}{module}.get_context"
    for package in ("loky", "joblib.externals.loky")
    for module in ("", ".backend", ".backend.context")
)
_SPAWNERS = frozenset({"torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"})


_FORKSERVER_SINCE = (3, 14)
"""The Python whose default on Linux is forkserver."""


def of_platform(program: Program, module: Module | None = None) -> frozenset[str]:
    """The default methods of the platforms and the Python that the settings or the pins of a module name.

    All of them if nothing names any.
    """
    settings = program.settings
    if settings.start_method is not None:
        return frozenset({settings.start_method})
    platforms = settings.platforms or ("linux", "macos", "windows")
    found: set[str] = set()
    if "linux" in platforms:
        found |= _of_linux(program, module)
    if any(platform != "linux" for platform in platforms):
        found.add("spawn")
    return frozenset(found)


def _of_linux(program: Program, module: Module | None) -> frozenset[str]:
    target = program.settings.target_python
    if target is not None:
        return frozenset({"forkserver" if target >= _FORKSERVER_SINCE else "fork"})
    pins = program.pythons_of(module) if module is not None else NO_PINS
    if pins.python_is_below(_FORKSERVER_SINCE):
        return frozenset({"fork"})
    return frozenset({"forkserver"} if pins.python_is_at_least(_FORKSERVER_SINCE) else {"fork", "forkserver"})


def of_loader(program: Program, loader: Loader) -> frozenset[str]:
    """The methods that a loader's workers may be started by; none for threads, and for loky, which pickles functions
    by their code and inherits nothing."""
    if uses_threads(loader) or uses_loky(loader):
        return frozenset()
    explicit = _from_context(loader)
    if explicit:
        return explicit
    if loader.api.forks_in_notebooks and loader.module.is_notebook:
        return frozenset({"fork"})
    by_runner = _of_runner(program, loader) if isinstance(loader, Recipe) else None
    return by_runner or of_scope(program, loader.frame.scope)


def _of_runner(program: Program, loader: Recipe) -> frozenset[str]:
    """The method that the runner of OpenMMLab sets for what a config builds: nothing if that cannot be told.

    mmengine 0.10, `runner/utils` (`set_multi_processing`): whatever was set before, but not on Windows.
    """
    path = ("mp_cfg", "mp_start_method")
    if loader.environment is None:
        named = setting(program, loader.module, "env_cfg", *path)
    else:
        named = setting_within(program, loader.environment, *path)
    if named is None:
        return frozenset()
    if named:
        known = [value.value for value in named if isinstance(value, Const) and value.value in METHODS]
        return frozenset(known) if len(known) == len(named) else frozenset()
    settings = program.settings
    if settings.start_method is not None:
        return frozenset({settings.start_method})
    on_windows = not settings.platforms or "windows" in settings.platforms
    return frozenset({"fork", "spawn"} if on_windows else {"fork"})


def of_scope(program: Program, scope: Scope) -> frozenset[str]:
    """The default methods of the process that runs a function."""
    if program.facts.runs_in_spawned_process(scope, as_it_is=True):
        return frozenset({"spawn"})
    declared = program.facts.declared_start_methods(scope.module)
    return declared or of_platform(program, scope.module)


def uses_threads(loader: Loader) -> bool:
    """Whether a loader asks for threads instead of processes (newer torch: `worker_method="thread"`; MONAI)."""
    if any(value == "thread" for value in loader.option("worker_method").constants()):
        return True
    return "use_thread_workers" in loader.arguments and loader.option("use_thread_workers").is_certainly(True)


def uses_loky(loader: Loader) -> bool:
    """Whether a loader's workers are started by loky, wherever it is told how."""
    argument = loader.arguments.get("multiprocessing_context")
    values = argument.values(loader.program.evaluator) if argument is not None else ()
    # Without workers there is no context: `get_context("loky") if workers else None`.
    told = [value for value in values if not (isinstance(value, Const) and value.value is None)]
    return bool(told) and all(_is_loky(loader.program, value) for value in told)


def _is_loky(program: Program, value: Value) -> bool:
    if not isinstance(value, Product) or value.name not in (_CONTEXTS | _LOKY_CONTEXTS):
        return False
    arguments = [*value.node.args, *(keyword.value for keyword in value.node.keywords)]
    names = (
        [v.value for v in program.evaluator.values(arguments[0], value.frame) if isinstance(v, Const)]
        if arguments
        else [None]
    )
    own = value.name in _LOKY_CONTEXTS
    return bool(names) and all((own and not name) or str(name).startswith("loky") for name in names)


def _from_context(loader: Loader) -> frozenset[str]:
    argument = loader.arguments.get("multiprocessing_context")
    if argument is None:
        return frozenset()
    ev = loader.program.evaluator
    found: set[str] = set()
    for value in argument.values(ev):
        name = _method_name(loader.program, value)
        if name is None:
            return METHODS
        if name:
            found.add(name)
    return frozenset(found)


def _method_name(program: Program, value: Value) -> str | None:
    """The start method that a context value names: an empty string for the default, None if it cannot be told."""
    if isinstance(value, Const):
        return "" if value.value is None else value.value if value.value in METHODS else None
    if isinstance(value, Product) and value.name in _CONTEXTS:
        arguments = [*value.node.args, *(k.value for k in value.node.keywords)]
        if not arguments:
            return ""
        names = [v.value for v in program.evaluator.values(arguments[0], value.frame) if isinstance(v, Const)]
        return names[0] if len(names) == 1 and names[0] in METHODS else None
    return None


def declared(program: Program, module: Module) -> frozenset[str]:
    """The methods that a module sets with `set_start_method`."""
    if b"set_start_method" not in module.data:
        return frozenset()
    found: set[str] = set()
    for call, scope in module.calls_of("set_start_method"):
        frame = Frame(scope)
        names = {v.name for v in program.evaluator.values(call.func, frame) if isinstance(v, External)}
        arguments = [*call.args, *(k.value for k in call.keywords if k.arg == "method")]
        if not names & _SETTERS or not arguments:
            continue
        for value in program.evaluator.values(arguments[0], frame):
            if isinstance(value, Const) and value.value in METHODS:
                found.add(value.value)
            else:
                return METHODS
    return frozenset(found)


def spawned_functions(program: Program) -> list[Scope]:
    """The functions that `mp.spawn` runs in processes of their own: there spawn is the default."""
    found: list[Scope] = []
    for name in ("spawn", "start_processes"):
        for module in program.modules_with(name):
            for call, scope in module.calls_of(name):
                found += _spawned_by(program, call, Frame(scope))
    return found


def _spawned_by(program: Program, call: ast.Call, frame: Frame) -> list[Scope]:
    ev = program.evaluator
    names = {v.name for v in ev.values(call.func, frame) if isinstance(v, External)}
    if not names & _SPAWNERS or any(k.arg == "start_method" for k in call.keywords) or not call.args:
        return []
    return [v.scope for v in ev.values(call.args[0], frame) if isinstance(v, Function)]
