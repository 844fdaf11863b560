"""Kubeflow Pipelines: the tasks that pipelines make of components, each in a container of a Kubernetes pod."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language.arguments import Argument, Arguments, collect
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope, last_name
from dllint.code.language.values import Collection, Derived, Frame, Function, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.deploy.launchers.code_values import library_name, of_argument, setting, text
from dllint.deploy.launchers.kfp_tasks import Task
from dllint.deploy.launchers.kfp_volumes import shared_memory
from dllint.deploy.launchers.kubernetes.values import number, whole
from dllint.deploy.reached import working_loaders
from dllint.deploy.workload import Launcher, Setting, Start, Workload

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

KFP = Launcher(
    "Kubeflow Pipelines",
    "add `kubernetes.empty_dir_mount(task, volume_name='shm', mount_path='/dev/shm', medium='Memory', "
    "size_limit='{size}')`",
    "{gib}Gi",
    takes_all=True,
)
_OPERATION = "ContainerOp"
_COMPONENTS = ("component", "container_component")
_FACTORIES = ("create_component_from_func", "func_to_container_op")


class _Component(NamedTuple):
    """What a task runs."""

    name: str
    image: Setting[str] | None
    start: Start
    loaders: tuple[Loader, ...] = ()
    made: Product | None = None
    """Of what a function of the project makes: the `ContainerOp` in it."""


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The tasks of a module's pipelines."""
    for scope in module.scopes_around(module.lines_with("pipeline")):
        if isinstance(scope, FunctionScope) and "pipeline" in scope.decorators:
            for call in scope.index().calls:
                component = _component(call, scope, plan)
                if component is not None:
                    yield _workload(Task(call, Frame(scope), plan, component.made), component)


# --- components ---


def _component(call: ast.Call, scope: Scope, plan: Plan) -> _Component | None:
    """What a call in a pipeline runs; None if it makes no task, or one that is nothing to us."""
    if library_name(call.func, scope, plan).endswith(f"dsl.{_OPERATION}"):
        return _of_container(call, Frame(scope), last_name(call.func), plan)
    for value in plan.program.evaluator.values(call.func, Frame(scope)):
        if isinstance(value, Function):
            return _of_function(value.scope, plan) or _of_maker(call, value.scope, Frame(scope), plan)
        if isinstance(value, Product) and value.name.endswith(_FACTORIES):
            return _of_factory(value, plan)
    return None


def _of_function(function: FunctionScope, plan: Plan) -> _Component | None:
    home = function.parent
    if home is None or isinstance(function.node, ast.Lambda):
        return None
    for decorator in function.node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if last_name(called) not in _COMPONENTS or not library_name(called, home, plan).startswith("kfp."):
            continue
        if last_name(called) == "container_component":
            specification = next((c for c in function.index().calls if last_name(c.func) == "ContainerSpec"), None)
            return _of_container(specification, Frame(function), function.name, plan) if specification else None
        given = Arguments()
        if isinstance(decorator, ast.Call):
            given = collect(plan.program.evaluator, decorator, Frame(home))
        image = setting(given, "base_image", plan, text)
        loaders = working_loaders(function, plan)
        return _Component(function.name, image, Start(), loaders) if loaders else None
    return None


def _of_maker(call: ast.Call, function: FunctionScope, frame: Frame, plan: Plan) -> _Component | None:
    """What a function of the project makes for the pipeline: `def train_op(): return dsl.ContainerOp(...)`."""
    if not function.module.lines_with(_OPERATION):
        return None
    for value in plan.program.evaluator.values(call, frame):
        while isinstance(value, Derived):
            value = value.base
        if isinstance(value, Product) and value.name.endswith(f"dsl.{_OPERATION}"):
            found = _of_container(value.node, value.frame, function.name, plan)
            return found._replace(made=value)
    return None


def _of_factory(made: Product, plan: Plan) -> _Component | None:
    given = collect(plan.program.evaluator, made.node, made.frame)
    functions = given.positional[0].values(plan.program.evaluator) if given.positional else ()
    function = next((value.scope for value in functions if isinstance(value, Function)), None)
    loaders = working_loaders(function, plan) if function is not None else ()
    if function is None or not loaders:
        return None
    return _Component(function.name, setting(given, "base_image", plan, text, 2), Start(), loaders)


def _of_container(call: ast.Call, frame: Frame, name: str, plan: Plan) -> _Component:
    given = collect(plan.program.evaluator, call, frame)
    command, arguments = (
        tuple(word for key in keys if key in given.named for word in _words(given.named[key], plan)) or None
        for keys in (("command",), ("args", "arguments"))
    )
    return _Component(name, setting(given, "image", plan, text), Start(command, arguments))


def _words(argument: Argument, plan: Plan) -> Iterator[str]:
    values = argument.values(plan.program.evaluator)
    for value in values if len(values) == 1 else ():
        if isinstance(value, Collection) and value.each is None:
            for item in value.items:
                yield _word(plan.program.evaluator.values(item, value.frame))
        else:
            yield _word(values)


def _word(values: tuple[Value, ...]) -> str:
    constants = [getattr(value, "value", None) for value in values]
    return str(constants[0]) if len(constants) == 1 and isinstance(constants[0], (str, int)) else ""


# --- tasks ---


def _workload(task: Task, component: _Component) -> Workload:
    module = task.scope.module
    shm, flaws = shared_memory(task)
    return Workload(
        KFP,
        module.path,
        module.location(task.call),
        name=component.name,
        folder=os.path.dirname(module.absolute),
        image=component.image,
        start=component.start,
        shm=shm,
        flaws=flaws,
        memory_limit=_limit(task, "set_memory_limit"),
        cpu_limit=_cpu_limit(task),
        gpus=task.has_call("set_gpu_limit", "set_accelerator_limit"),
        loaders=component.loaders,
    )


def _limit(task: Task, method: str) -> Setting[int] | None:
    argument = task.argument(method)
    return of_argument(argument, task.plan, lambda value: whole(str(value))) if argument is not None else None


def _cpu_limit(task: Task) -> Setting[float] | None:
    argument = task.argument("set_cpu_limit")
    return of_argument(argument, task.plan, lambda value: number(str(value))) if argument is not None else None
