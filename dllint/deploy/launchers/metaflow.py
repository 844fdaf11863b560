"""Metaflow: steps that `@kubernetes` or `@batch` runs in a container. Only steps that start workers are of interest."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language.arguments import Arguments, collect
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ClassScope, FunctionScope, last_name
from dllint.code.language.values import Frame
from dllint.deploy.launchers.code_values import library_name, setting, text, whole
from dllint.deploy.reached import working_loaders
from dllint.deploy.sizes import MIB
from dllint.deploy.workload import Launcher, Setting, SharedMemory, ShmSource, Workload

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.runs import ScriptRun

METAFLOW = Launcher("Metaflow", "pass `shared_memory={size}` (MiB) to the decorator", "{mib}")
_CONTAINERS = ("kubernetes", "batch")
_ALL = (*_CONTAINERS, "resources")


class _Decorator(NamedTuple):
    name: str
    node: ast.expr
    arguments: Arguments


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The steps of a module's flows that run in containers of their own and start DataLoader workers."""
    if not any(module.lines_with(name) for name in _CONTAINERS):
        return
    for flow in module.classes:
        for step in flow.methods.values():
            if "step" in step.decorators:
                yield from _of_step(step, flow, plan)


def hands_on(run: ScriptRun, plan: Plan) -> bool:
    """Whether a script is a flow whose steps with workers all run in containers of their own: `python flow.py run`."""
    if run.module is None or not run.module.lines_with("FlowSpec"):
        return False
    steps = [step for flow in run.module.classes for step in flow.methods.values() if "step" in step.decorators]
    here = [step for step in steps if not _runs_elsewhere(step, run, plan)]
    return len(here) < len(steps) and not any(working_loaders(step, plan) for step in here)


def _runs_elsewhere(step: FunctionScope, run: ScriptRun, plan: Plan) -> bool:
    """Whether a step runs in a container of its own, by its decorator or by one that the command adds to all."""
    flow = step.owner
    own = (each.name for each in _decorators(step, flow, plan)) if flow is not None else ()
    return any(name.startswith(_CONTAINERS) for name in (*own, *_added(run)))


def _added(run: ScriptRun) -> Iterator[str]:
    """The decorators of `flow.py run --with kubernetes:cpu=4`, with what they are given."""
    for word, after in pairwise((*run.arguments, "")):
        if word == "--with":
            yield after
        elif word.startswith("--with="):
            yield word.removeprefix("--with=")


def _of_step(step: FunctionScope, flow: ClassScope, plan: Plan) -> Iterator[Workload]:
    decorators = list(_decorators(step, flow, plan))
    container = next((decorator for decorator in decorators if decorator.name in _CONTAINERS), None)
    loaders = working_loaders(step, plan) if container is not None else ()
    if container is None or not loaders:
        return
    module = step.module
    gpu = setting(container.arguments, "gpu", plan, whole)
    yield Workload(
        METAFLOW,
        module.path,
        module.location(container.node),
        name=step.name,
        folder=os.path.dirname(module.absolute),
        image=setting(container.arguments, "image", plan, text),
        shm=_shared_memory(decorators, plan),
        memory_limit=_mib(container.arguments, "memory", plan),
        gpus=gpu is not None and gpu.value != 0,
        loaders=loaders,
    )


def _decorators(step: FunctionScope, flow: ClassScope, plan: Plan) -> Iterator[_Decorator]:
    """Those of Metaflow that say where a step runs, and with what."""
    assert isinstance(step.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for node in step.node.decorator_list:
        function = node.func if isinstance(node, ast.Call) else node
        name = last_name(function)
        if name in _ALL and library_name(function, flow, plan).partition(".")[0] == "metaflow":
            found = Arguments()
            if isinstance(node, ast.Call):
                found = collect(plan.program.evaluator, node, Frame(flow))
            yield _Decorator(name, node, found)


def _shared_memory(decorators: list[_Decorator], plan: Plan) -> SharedMemory:
    """The larger of what the decorators ask for; a tmpfs that is mounted at /dev/shm wins."""
    if any(decorator.arguments.open for decorator in decorators):
        return SharedMemory(ShmSource.UNKNOWN)
    for decorator in decorators:
        path = setting(decorator.arguments, "tmpfs_path", plan, text)
        if path is not None and (path.value is None or path.value.rstrip("/") == "/dev/shm"):
            source = ShmSource.UNKNOWN if path.value is None else ShmSource.MEMORY
            return SharedMemory(source, _mib(decorator.arguments, "tmpfs_size", plan), path.at)
    sizes = [_mib(decorator.arguments, "shared_memory", plan) for decorator in decorators]
    known = [size for size in sizes if size is not None]
    if not known:
        return SharedMemory()
    if any(size.value is None for size in known):
        return SharedMemory(ShmSource.UNKNOWN)
    largest = max(known, key=lambda size: size.value or 0)
    return SharedMemory(ShmSource.SIZE, largest, largest.at)


def _mib(arguments: Arguments, name: str, plan: Plan) -> Setting[int] | None:
    found = setting(arguments, name, plan, whole)
    return found and Setting(found.value * MIB if found.value is not None else None, found.at, found.text)
