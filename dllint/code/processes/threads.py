"""Threads that main starts before the workers are forked, and what waits for them in a worker."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.apis import ThreadedApi
from dllint.code.language import classes, conditions
from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, dotted, last_name
from dllint.code.language.values import Collection, Const, Derived, Frame, Function, Instance, Product, Value
from dllint.code.workers.reach import Step, WorkerCode
from dllint.code.workers.state import Item, read_in_worker
from dllint.finding import Location, Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_RENEWS = b"register_at_fork"
"""A module that says it makes some of its objects anew in each forked process."""
_MOST_METHODS = 30
"""Methods that one `__init__` is followed into."""
_WORDS = tuple(sorted({name.rpartition(".")[2].encode() for name in apis.THREADED}))


@dataclass(frozen=True, slots=True)
class Threaded:
    """An object whose threads run in main: a pool, a writer, a filesystem, a thread itself."""

    name: str
    """How a message calls it: `ThreadPoolExecutor`."""
    harm: str
    location: Location
    started: tuple[Related, ...] = ()
    """Where its threads are started, if not where it is made."""


@dataclass(frozen=True, slots=True)
class Use:
    """Where worker code uses such an object, or waits for it."""

    step: Step
    node: ast.AST

    def related(self) -> Related:
        """This place, for the way of a finding."""
        return Related("used in a worker here", self.step.scope.module.location(self.node))


# Objects of libraries


def of_item(program: Program, code: WorkerCode, item: Item) -> Threaded | None:
    """What an attribute carries into the workers, if its threads run in main."""
    found = _made(program, item.value)
    if found is None or _RENEWS in found[1].frame.scope.module.data:
        return None
    api, made = found
    if not api.started_by:
        return _threaded(made, api)
    for scope in _run_in_main(program, code, item.owner):
        frame = Frame(scope, Instance(item.owner))
        for call in scope.index().calls:
            if _is_called_on(program, call, api.started_by, item, frame):
                return _started_by(call, scope, api, made)
    return _started_where_made(program, code, api, made)


def _started_by(call: ast.Call, scope: Scope, api: ThreadedApi, made: Product) -> Threaded:
    return _threaded(made, api, Related("its threads are started here", scope.module.location(call)))


def _started_where_made(program: Program, code: WorkerCode, api: ThreadedApi, made: Product) -> Threaded | None:
    """An object that the function which makes it has used by the time it hands it on: `Remote(urls, pool)`."""
    scope, name = made.frame.scope, _given_name(made.node)
    if not name or any(step.scope is scope for step in code.steps):
        return None
    started: ast.Call | None = None
    for call in sorted(scope.index().calls, key=lambda call: (call.lineno, call.col_offset)):
        holder, _, method = dotted(call.func).rpartition(".")
        if holder == name and method in api.started_by:
            started = started or call
        elif started is not None and any(dotted(each) == name for each in _given(call)):
            return _started_by(started, scope, api, made)
    return None


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _given_name(made: ast.Call) -> str:
    """The one variable that an object is assigned to where it is made."""
    around = parent(made)
    return (
        dotted(around.targets[0]) if isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Name) else ""
    )


def _made(program: Program, value: Value) -> tuple[ThreadedApi, Product] | None:
    """The call that made an object with threads, or what the object was got from."""
    steps = list(value.chain()) if isinstance(value, Derived) else []
    origin = value.origin if isinstance(value, Derived) else value
    if not isinstance(origin, Product):
        return None
    api = apis.THREADED.get(origin.name)
    if api is None or any(step.via != "[]" and step.via[1:-2] not in api.derives for step in steps):
        return None
    if api.remote and not _is_remote(program, origin):
        return None
    return None if _has(origin, "asynchronous") else (api, origin)


def _has(made: Product, name: str) -> bool:
    return any(keyword.arg == name for keyword in made.node.keywords)


def _is_remote(program: Program, made: Product) -> bool:
    """Whether the protocol or URL that an object is made for certainly is a remote one."""
    node = next(iter(made.node.args), None) or next(
        (k.value for k in made.node.keywords if k.arg in ("protocol", "url", "urlpath", "root")), None
    )
    if node is None:
        return False
    texts = [_beginning(value) for value in program.evaluator.values(node, made.frame)]
    return all(text.partition(":")[0] in apis.REMOTE_PROTOCOLS for text in texts)


def _beginning(value: Value) -> str:
    """How a text begins, as far as it is visible."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    if isinstance(value, Product) and value.name == "str" and isinstance(value.node.func, ast.JoinedStr):
        first = value.node.func.values[:1]
        if first and isinstance(first[0], ast.Constant) and "://" in str(first[0].value):
            return str(first[0].value)
    return ""


def _threaded(made: Product, api: ThreadedApi, *started: Related) -> Threaded:
    module = made.frame.scope.module
    return Threaded(made.name.rpartition(".")[2], api.harm, module.location(made.node), started)


def _is_called_on(program: Program, call: ast.Call, methods: tuple[str, ...], item: Item, frame: Frame) -> bool:
    """Whether a call is one of these methods of what the attribute holds, by whatever name."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in methods:
        return False
    return any(value.key == item.value.key for value in program.evaluator.values(function.value, frame))


def _is_receiver(node: ast.AST, scope: FunctionScope) -> bool:
    return isinstance(node, ast.Name) and node.id == scope.receiver_name


def _run_in_main(program: Program, code: WorkerCode, cls: ClassScope) -> list[FunctionScope]:
    """The methods that an object's making runs, and those that code outside of the workers calls."""
    found = made_by(program, cls)
    in_workers = {id(step.scope) for step in code.steps}
    for base in classes.project_mro(program.evaluator, cls):
        for scope in base.methods.values():
            if id(scope) not in in_workers and scope not in found and _is_called_in_main(program, scope, in_workers):
                found.append(scope)
    return found


def _is_called_in_main(program: Program, scope: FunctionScope, in_workers: set[int]) -> bool:
    return any(
        id(frame.scope) not in in_workers and classes.owner_of(frame.scope) is not scope.owner
        for _, frame in program.call_sites(scope)
    )


def made_by(program: Program, cls: ClassScope) -> list[FunctionScope]:
    """`__init__`, and the methods of the object that it calls."""
    first = classes.method(program.evaluator, cls, "__init__")
    found = [first] if first is not None else []
    for scope in found:  # which grows
        for call in scope.index().calls:
            inner = _own_method(program, cls, call, scope)
            if inner is not None and inner not in found and len(found) < _MOST_METHODS:
                found.append(inner)
    return found


def _own_method(program: Program, cls: ClassScope, call: ast.Call, scope: FunctionScope) -> FunctionScope | None:
    """The method of the same object that a call enters: `self.load()`, `super().__init__()`."""
    function = call.func
    if not isinstance(function, ast.Attribute):
        return None
    if _is_receiver(function.value, scope):
        return classes.method(program.evaluator, cls, function.attr)
    if function.attr == "__init__" and scope.owner is not None:
        return classes.method(program.evaluator, cls, "__init__", after=scope.owner)
    return None


# Objects of the module


def at_module_level(program: Program, module: Module) -> list[tuple[str, Threaded]]:
    """The module's names that are bound once, outside of the main guard, to an object whose threads run in main."""
    memo = program.facts.threads_memo
    if module not in memo:
        memo[module] = list(_at_module_level(program, module.scope)) if _may_make(module) else []
    return memo[module]


def _may_make(module: Module) -> bool:
    return any(word in module.data for word in _WORDS)


def _at_module_level(program: Program, scope: Scope) -> Iterator[tuple[str, Threaded]]:
    for name, bindings in scope.bindings.items():
        binding = bindings[0]
        if len(bindings) > 1 or binding.kind != "assign" or not isinstance(binding.value, ast.Call):
            continue
        if conditions.is_guarded(binding.node):
            continue
        for value in program.evaluator.values(binding.value, Frame(scope)):
            found = _made(program, value)
            started = _started_at_import(scope, name, found[0]) if found is not None else None
            if found is not None and started is not None:
                yield name, _threaded(found[1], found[0], *started)
                break


def _started_at_import(scope: Scope, name: str, api: ThreadedApi) -> list[Related] | None:
    """Where the module itself starts the threads; None if it does not."""
    if not api.started_by:
        return []
    for call in scope.calls:
        holder, _, method = dotted(call.func).rpartition(".")
        if holder == name and method in api.started_by:
            return [Related("its threads are started here", scope.module.location(call))]
    return None


# Threads of the project's own


def started_threads(program: Program, cls: ClassScope, attribute: str) -> Iterator[Threaded]:
    """The threads that the making of an object starts, and that may touch what an attribute of it holds."""
    for scope in made_by(program, cls):
        for call in scope.index().calls:
            if last_name(call.func) == "start" and isinstance(call.func, ast.Attribute):
                frame = Frame(scope, Instance(cls))
                for value in program.evaluator.values(call.func.value, frame):
                    found = _thread(program, value, Related("started here", scope.module.location(call)))
                    if found is not None and _may_serve(program, value, cls, attribute):
                        yield found


def _may_serve(program: Program, thread: Value, cls: ClassScope, attribute: str) -> bool:
    """Whether a thread may touch an attribute: not if it runs methods of the object that never name it."""
    if not isinstance(thread, Product):
        return True
    target = next((k.value for k in thread.node.keywords if k.arg == "target"), None)
    if target is None or f"'{attribute}'" in ast.dump(thread.node):
        return True
    values = program.evaluator.values(target, thread.frame)
    runs = [v.scope for v in values if isinstance(v, Function) and v.scope.owner is not None]
    if not runs or len(runs) < len(values):
        return True
    for scope in runs:  # which grows
        if any(node.attr == attribute for node in scope.index().attributes):
            return True
        inner = (_own_method(program, cls, call, scope) for call in scope.index().calls)
        runs += [method for method in inner if method is not None and method not in runs]
    return False


def _thread(program: Program, value: Value, started: Related) -> Threaded | None:
    """A thread that is started, by the call that made it."""
    if not isinstance(value, (Product, Instance)) or value.node is None or value.frame is None:
        return None
    if isinstance(value, Instance):
        name = value.cls.name
        is_thread = bool(_THREADS & set(classes.external_bases(program.evaluator, value.cls)))
    else:
        name, is_thread = "Thread", value.name in _THREADS
    return Threaded(name, _NO_THREAD, value.frame.scope.module.location(value.node), (started,)) if is_thread else None


_THREADS = frozenset({"threading.Thread"})
_NO_THREAD = "a forked worker does not have this thread, so it waits for ever for what the thread would do"


def waits(program: Program, code: WorkerCode, item: Item) -> Use | None:
    """Where worker code waits for what only another thread can bring: `self.queue.get()`, an event, a loop's result."""
    value = item.value
    if isinstance(value, Collection) or not isinstance(value, (Product, Derived)):
        return None
    waiting = apis.WAITED_FOR.get(value.name, ()) if isinstance(value, Product) else ()
    if not waiting and not _is_loop(value):
        return None
    if read_in_worker(code, item) is None:
        return None
    for step, node in code.reads(item.owner, item.attribute):
        around = parent(node)
        if waiting and isinstance(around, ast.Attribute) and around.attr in waiting:
            return Use(step, node)
        if not waiting and _is_handed_work(node, around):
            return Use(step, node)
    return None


def _is_loop(value: Value) -> bool:
    return isinstance(value, Product) and value.name in ("asyncio.new_event_loop", "asyncio.get_event_loop")


def _is_handed_work(node: ast.AST, around: ast.AST | None) -> bool:
    if isinstance(around, ast.Attribute):
        return around.attr in apis.HANDS_TO_LOOP
    return isinstance(around, ast.Call) and node in around.args and last_name(around.func) in apis.HANDS_TO_LOOP
