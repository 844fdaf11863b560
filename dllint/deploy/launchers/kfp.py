"""Kubeflow Pipelines: the tasks that pipelines make of components, each in a container of a Kubernetes pod."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language.arguments import Argument, Arguments, collect
from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope, last_name
from dllint.code.language.values import Collection, Frame, Function, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.deploy.launchers.code_values import library_name, of_argument, setting, text
from dllint.deploy.launchers.kubernetes.values import number, whole
from dllint.deploy.reached import working_loaders
from dllint.deploy.workload import Flaw, FlawKind, Launcher, Setting, SharedMemory, ShmSource, Workload

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

KFP = Launcher(
    "Kubeflow Pipelines",
    "add `kubernetes.empty_dir_mount(task, volume_name='shm', mount_path='/dev/shm', medium='Memory', "
    "size_limit='{size}')`",
    "{gib}Gi",
)
_COMPONENTS = ("component", "container_component")
_FACTORIES = ("create_component_from_func", "func_to_container_op")
_MOUNTING = ("add_volume_mount", "add_pvolumes", "apply", "add_pod_spec_patch")
"""Methods of a task that may mount something; what it mounts nowhere is of no use (`add_volume`)."""
_PATHS = ("mount_path", "volume_mount_path")
_ORDERING = ("after", "set_caching_options", "Collected", "OneOf", "print", "append")
"""Calls that take a task and leave its pod alone."""
_SHM = "/dev/shm"


class _Component(NamedTuple):
    """What a task runs."""

    name: str
    image: Setting[str] | None
    command: tuple[str, ...] | None
    loaders: tuple[Loader, ...] = ()


class _Task:
    """One call of a component in a pipeline, with all that is done to its result."""

    def __init__(self, call: ast.Call, scope: Scope, plan: Plan) -> None:
        self.call = call
        self.scope = scope
        self.plan = plan
        self.calls: list[ast.Call] = []
        """Calls of the task's own methods."""
        self.name = self._follow(call)
        """The variable that holds it; empty where there is none."""

    def _follow(self, node: ast.AST) -> str:
        around = parent(node)
        while isinstance(around, ast.Attribute) and isinstance(call := parent(around), ast.Call):
            self.calls.append(call)
            around = parent(call)
        target = around.targets[0] if isinstance(around, ast.Assign) else None
        if not isinstance(target, ast.Name):
            return ""
        self.calls += [call for call in self.scope.calls if self._is_own_method(call.func, target.id)]
        return target.id

    @staticmethod
    def _is_own_method(function: ast.expr, name: str) -> bool:
        while isinstance(function, ast.Attribute):
            inner = function.value
            function = inner.func if isinstance(inner, ast.Call) else inner
        return isinstance(function, ast.Name) and function.id == name

    def given_to(self) -> Iterator[tuple[ast.Call, str]]:
        """The calls that are passed the task itself, with the library's name of what is called."""
        for call in self.scope.calls:
            passed = [*call.args, *(keyword.value for keyword in call.keywords)]
            if any(node is self.call or (isinstance(node, ast.Name) and node.id == self.name) for node in passed):
                yield call, library_name(call.func, self.scope, self.plan)

    def argument(self, method: str) -> Argument | None:
        """The first argument of a method that is called on the task."""
        for call in self.calls:
            if last_name(call.func) == method:
                found = self.arguments(call)
                return next(iter([*found.positional, *found.named.values()]), None)
        return None

    def arguments(self, call: ast.Call) -> Arguments:
        """The arguments of a call in the pipeline."""
        return collect(self.plan.program.evaluator, call, Frame(self.scope))


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The tasks of a module's pipelines."""
    for scope in module.scopes_around(module.lines_with("pipeline")):
        if isinstance(scope, FunctionScope) and "pipeline" in scope.decorators:
            for call in scope.index().calls:
                component = _component(call, scope, plan)
                if component is not None:
                    yield _workload(_Task(call, scope, plan), component)


# --- components ---


def _component(call: ast.Call, scope: Scope, plan: Plan) -> _Component | None:
    """What a call in a pipeline runs; None if it makes no task, or one that is nothing to us."""
    if library_name(call.func, scope, plan).endswith("dsl.ContainerOp"):
        return _of_container(call, Frame(scope), last_name(call.func), plan)
    for value in plan.program.evaluator.values(call.func, Frame(scope)):
        if isinstance(value, Function):
            return _of_function(value.scope, plan)
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
        return _Component(function.name, image, None, loaders) if loaders else None
    return None


def _of_factory(made: Product, plan: Plan) -> _Component | None:
    given = collect(plan.program.evaluator, made.node, made.frame)
    functions = given.positional[0].values(plan.program.evaluator) if given.positional else ()
    function = next((value.scope for value in functions if isinstance(value, Function)), None)
    loaders = working_loaders(function, plan) if function is not None else ()
    if function is None or not loaders:
        return None
    return _Component(function.name, setting(given, "base_image", plan, text, 2), None, loaders)


def _of_container(call: ast.Call, frame: Frame, name: str, plan: Plan) -> _Component:
    given = collect(plan.program.evaluator, call, frame)
    parts = [given.named[key] for key in ("command", "args", "arguments") if key in given.named]
    words = tuple(word for part in parts for word in _words(part, plan))
    return _Component(name, setting(given, "image", plan, text), words or None)


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


def _workload(task: _Task, component: _Component) -> Workload:
    module = task.scope.module
    shm, flaws = _shared_memory(task)
    return Workload(
        KFP,
        module.path,
        module.location(task.call),
        name=component.name,
        folder=os.path.dirname(module.absolute),
        image=component.image,
        command=component.command,
        shm=shm,
        flaws=flaws,
        memory_limit=_limit(task, "set_memory_limit"),
        cpu_limit=_cpu_limit(task),
        gpus=any(last_name(call.func) in ("set_gpu_limit", "set_accelerator_limit") for call in task.calls),
        loaders=component.loaders,
    )


def _limit(task: _Task, method: str) -> Setting[int] | None:
    argument = task.argument(method)
    return of_argument(argument, task.plan, lambda value: whole(str(value))) if argument is not None else None


def _cpu_limit(task: _Task) -> Setting[float] | None:
    argument = task.argument("set_cpu_limit")
    return of_argument(argument, task.plan, lambda value: number(str(value))) if argument is not None else None


def _shared_memory(task: _Task) -> tuple[SharedMemory, list[Flaw]]:
    for call, name in task.given_to():
        if name.endswith("kubernetes.empty_dir_mount"):
            found = _of_mount(call, task)
            if found is not None:
                return found
    helpers = [call for call, name in task.given_to() if not name.startswith(("kfp.kubernetes.", "kfp_kubernetes."))]
    is_open = any(last_name(call.func) not in _ORDERING for call in helpers)
    is_open |= any(last_name(call.func) in _MOUNTING and _may_cover_shm(call) for call in task.calls)
    volumes = (keyword.value for keyword in task.call.keywords if keyword.arg == "pvolumes")
    if is_open or any(map(_may_hold_shm, volumes)) or task.scope.module.lines_with("add_op_transformer"):
        return SharedMemory(ShmSource.UNKNOWN), []
    return SharedMemory(), []


def _may_cover_shm(call: ast.Call) -> bool:
    """Whether what a method of a task mounts may lie at /dev/shm."""
    argument = next(iter([*call.args, *(keyword.value for keyword in call.keywords)]), None)
    if last_name(call.func) == "add_pvolumes":
        return argument is None or _may_hold_shm(argument)
    if not isinstance(argument, ast.Call):
        return True
    paths = [keyword.value for keyword in argument.keywords if keyword.arg in _PATHS]
    return not paths or any(_may_be_shm(path) for path in paths)


def _may_hold_shm(volumes: ast.expr) -> bool:
    """Whether volumes by their paths may have one for /dev/shm."""
    return not isinstance(volumes, ast.Dict) or any(path is None or _may_be_shm(path) for path in volumes.keys)


def _may_be_shm(path: ast.expr) -> bool:
    return not isinstance(path, ast.Constant) or str(path.value).rstrip("/") == _SHM


def _of_mount(call: ast.Call, task: _Task) -> tuple[SharedMemory, list[Flaw]] | None:
    given, plan = task.arguments(call), task.plan
    path = setting(given, "mount_path", plan, text, 2)
    if path is None or given.open or path.value is None:
        return SharedMemory(ShmSource.UNKNOWN), []
    if path.value.rstrip("/") != _SHM:
        return None
    at = task.scope.module.location(call)
    medium = setting(given, "medium", plan, text, 3)
    size = setting(given, "size_limit", plan, lambda value: whole(str(value)), 4)
    written = setting(given, "size_limit", plan, text, 4)
    if medium is None or medium.value == "":
        return SharedMemory(ShmSource.DISK, at=at), []
    if medium.value is None:
        return SharedMemory(ShmSource.UNKNOWN), []
    shm = SharedMemory(ShmSource.MEMORY, size, at)
    if medium.value != "Memory":
        return shm, [
            Flaw(
                FlawKind.REFUSED, medium.at, f"the medium is `Memory`, not `{medium.value}`", "write `medium='Memory'`"
            )
        ]
    if size is not None and size.value is None and written is not None and written.value is not None:
        return shm, [Flaw(FlawKind.REFUSED, size.at, f"Kubernetes refuses the size `{written.value}`")]
    return shm, []
