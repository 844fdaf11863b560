"""What a worker_init_fn seeds the global generators with: always the same, or something that differs by epoch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.apis.distributed import RANK_QUERIES
from dllint.code.apis.randomness import GLOBAL_GENERATORS, SEEDERS
from dllint.code.facts import WorkerEntry
from dllint.code.language import classes
from dllint.code.language.links import parent, scope_of
from dllint.code.language.parameters import passed
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import FunctionScope, dotted, last_name
from dllint.code.language.values import (
    Const,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    Number,
    Product,
    Value,
    by_default,
    is_unknown,
)
from dllint.code.loaders.loader import Loader
from dllint.code.workers.reach import Step
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_CONFIGS = frozenset(
    ("args", "cfg", "conf", "config", "flags", "FLAGS", "hparams", "opt", "options", "opts", "params", "settings")
)
"""Names of what holds the settings of a run: a seed in it stays the same for the whole run."""
_RANKS = frozenset({"rank", "local_rank", "global_rank", "node_rank", "world_size", "process_index"})
_OF_PROCESS = RANK_QUERIES | {"os.environ", "os.environ.get", "os.getenv", "horovod.torch.rank", "horovod.torch.size"}
"""What says which rank a process is of a distributed run: the same in each of its workers, and in all epochs."""
_EVALUATION = ("val", "test", "eval", "dev", "predict")
_SEEDING = frozenset(name.rpartition(".")[2] for name in SEEDERS)
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class ConstantSeed:
    """A call in a worker that seeds the same in every epoch; and in every worker, if it is not `by_worker`."""

    step: Step
    call: ast.Call
    by_worker: bool
    generators: frozenset[str]
    """The modules whose global generators it seeds: of `random`, `numpy` and `torch`."""


def constant_seeds(entry: WorkerEntry) -> Iterator[ConstantSeed]:
    """The constant seeds that the workers of an entry are started with, or set themselves."""
    for step in entry.code.steps:
        if step.root.label != "worker_init_fn":
            yield from _own_seeds(entry.program, step)
        if step.root.label != "worker_init_fn" or step.parent is not None:
            continue
        for call in step.scope.index().calls:
            seed, seeded = _seed(entry.program, call, step.frame)
            by_worker = seed is not None and _depends_on_worker(entry.program, seed, step.frame, step.scope, 0)
            if by_worker is not None and seed is not None:
                yield ConstantSeed(step, call, by_worker, seeded)


def _own_seeds(program: Program, step: Step) -> Iterator[ConstantSeed]:
    """The calls in a dataset's code that seed with the worker's number: `np.random.seed(get_worker_info().id)`."""
    if not step.scope.module.lines_with("get_worker_info"):
        return
    for call in step.scope.index().calls:
        if last_name(call.func) in _SEEDING:
            seed, seeded = _seed(program, call, step.frame)
            if seed is not None and _is_worker_number(program, seed, step.frame):
                yield ConstantSeed(step, call, True, seeded)


def _is_worker_number(program: Program, node: ast.expr, frame: Frame) -> bool:
    """Whether a seed is the number of the worker, or a constant more than that."""
    if isinstance(node, ast.BinOp):
        parts = [part for part in (node.left, node.right) if not isinstance(part, ast.Constant)]
        return len(parts) == 1 and _is_worker_number(program, parts[0], frame)
    found = program.evaluator.values(node, frame) if isinstance(node, (ast.Name, ast.Attribute)) else ()
    return bool(found) and all(isinstance(v, Derived) and v.via == ".id" and _is_worker_info(v.base) for v in found)


def _is_worker_info(value: Value) -> bool:
    return isinstance(value, Product) and value.name == "torch.utils.data.get_worker_info"


def _seed(program: Program, call: ast.Call, frame: Frame) -> tuple[ast.expr | None, frozenset[str]]:
    """What a call seeds global generators with, directly or through a function of the project, and which."""
    for value in program.evaluator.values(call.func, frame):
        if isinstance(value, External) and value.name in SEEDERS:
            given = [*call.args, *(k.value for k in call.keywords if k.arg in ("seed", "a"))]
            return next(iter(given), None), _generators(value.name)
        if isinstance(value, Function):
            return _handed_on(program, value, call)
    return None, frozenset()


def _generators(seeder: str) -> frozenset[str]:
    """The modules that a library's function seeds: its own, or all of them."""
    top = seeder.partition(".")[0]
    return frozenset({top} & GLOBAL_GENERATORS) or GLOBAL_GENERATORS


def _handed_on(program: Program, function: Function, call: ast.Call) -> tuple[ast.expr | None, frozenset[str]]:
    """The argument that a function of the project seeds with: `def set_seed(seed): random.seed(seed)`."""
    scope = function.scope
    given, seeded = None, frozenset[str]()
    for inner in scope.index().calls:
        if len(inner.args) != 1 or not isinstance(inner.args[0], ast.Name):
            continue
        found = program.evaluator.values(inner.func, Frame(scope, function.receiver))
        for value in found:
            if isinstance(value, External) and value.name in SEEDERS:
                given = given or passed(inner.args[0].id, scope, call)[0]
                seeded |= _generators(value.name)
    return given, seeded


def _depends_on_worker(program: Program, node: ast.expr, frame: Frame, root: FunctionScope, depth: int) -> bool | None:
    """Whether a seed depends on the worker's number; None if on something else too, or if that cannot be seen."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Constant):
        return False if isinstance(node.value, (int, float, str)) else None
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("int", "abs", "hash"):
        parts = list(node.args)
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, (ast.Call, ast.Subscript)):
        return False if all(map(_is_of_process, by_default(program.evaluator.values(node, frame)))) else None
    elif isinstance(node, (ast.Name, ast.Attribute)):
        return _of_name(program, node, frame, root, depth)
    else:
        return None
    found = [_depends_on_worker(program, part, frame, root, depth + 1) for part in parts]
    return None if None in found else any(found)


def _of_name(
    program: Program, node: ast.Name | ast.Attribute, frame: Frame, root: FunctionScope, depth: int
) -> bool | None:
    if isinstance(node, ast.Name) and frame.scope is root:
        bindings = root.index().bindings.get(node.id, [])
        chosen = reaching(bindings, node) if bindings else []
        if len(chosen) == 1 and chosen[0].kind == "parameter":
            return _of_parameter(program, node.id, frame, root, depth)
        if len(chosen) == 1 and chosen[0].kind == "assign" and isinstance(chosen[0].value, ast.expr):
            return _depends_on_worker(program, chosen[0].value, frame, root, depth + 1)
    if _is_setting(node):
        return False
    if isinstance(node, ast.Attribute) and _is_set_by_others(program, node, frame):
        return None
    found = by_default(program.evaluator.values(node, frame))
    known = all(map(_is_of_process, found))
    return False if known and not is_unknown(found) else None


def _is_set_by_others(program: Program, node: ast.Attribute, frame: Frame) -> bool:
    """Whether code outside of its class sets an attribute: `trainer.epoch = epoch`."""
    ev = program.evaluator
    holders = [holder for holder in ev.values(node.value, frame) if isinstance(holder, Instance)]
    return any(classes.is_set_from_outside(ev, holder.cls, node.attr) for holder in holders)


def _is_of_process(value: Value) -> bool:
    """Whether a value is the same in all workers of a process, and in all epochs: a number, its rank, a variable of
    its environment."""
    made = value.origin if isinstance(value, Derived) else value
    if isinstance(made, (Product, External)) and made.name in _OF_PROCESS:
        return True
    return isinstance(value, Number) or (isinstance(value, Const) and value.value is not None)


def _of_parameter(program: Program, name: str, frame: Frame, root: FunctionScope, depth: int) -> bool | None:
    """A parameter of the worker_init_fn: bound by a partial, left to its default, or the worker's number."""
    if frame.call is not None and frame.caller is not None:
        given = passed(name, root, frame.call)[0]
        if given is not None:
            return _depends_on_worker(program, given, frame.caller, root, depth + 1)
    default = root.default(name)
    if default is not None:
        return _depends_on_worker(program, default, Frame(root.parent or root), root, depth + 1)
    return True if _free_parameters(root, frame)[:1] == [name] else None


def _free_parameters(root: FunctionScope, frame: Frame) -> list[str]:
    names = [p.arg for p in root.parameters if p.arg != root.receiver_name]
    if frame.call is None:
        return names
    return [name for name in names if passed(name, root, frame.call)[0] is None]


def _is_setting(node: ast.Name | ast.Attribute) -> bool:
    """`args.seed`, `self.cfg.train.seed`: a setting of the run; `trainer.global_rank`: the rank of the process."""
    parts = dotted(node).split(".")
    if len(parts) > 1 and parts[-1] in _RANKS:
        return True
    return len(parts) > 1 and "seed" in parts[-1].lower() and any(part in _CONFIGS for part in parts[:-1])


def repeats(loader: Loader) -> bool:
    """Whether the workers of a loader are started anew in each epoch, which is when their seed counts."""
    return not loader.option("persistent_workers").is_certainly(True)


def is_for_evaluation(loader: Loader) -> bool:
    """Whether a loader seems to be for validation or tests, where the same numbers in each epoch are wanted."""
    statement: ast.AST | None = loader.construction
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = parent(statement)
    names = [scope_of(loader.call).name]
    if isinstance(statement, ast.Assign):
        names += [dotted(target).rpartition(".")[2] for target in statement.targets]
    return any(name.lower().startswith(word) or f"_{word}" in name.lower() for name in names for word in _EVALUATION)
