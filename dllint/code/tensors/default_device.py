"""The default device that a program sets, and what a loader does under a CUDA default."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import conditions
from dllint.code.language.links import block_of, parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import Const, Derived, External, Frame, Product, Value, Values, truth
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.code.tensors import devices
from dllint.finding import Related
from dllint.patterns import pattern
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_BLOCK = pattern(rb"^[ \t]*with [^\n]{0,80}\bdevice\b", re.MULTILINE)
_SETTERS = ("set_default_device", "set_default_tensor_type")
_SHUFFLING_SAMPLERS = frozenset({"torch.utils.data.RandomSampler", "torch.utils.data.SubsetRandomSampler"})


@dataclass(frozen=True, slots=True)
class Default:
    """What makes CUDA the default, a call or a `with torch.device("cuda")`, and the modules whose run comes to it."""

    call: ast.expr
    scope: Scope
    entries: tuple[Module, ...]

    @property
    def module(self) -> Module:
        """The module that sets it."""
        return self.scope.module

    @property
    def text(self) -> str:
        """The call as a reader knows it."""
        return ast.unparse(self.call)[:60]

    @property
    def at_import(self) -> bool:
        """Whether importing the module sets it: then spawned workers set it too."""
        return not isinstance(self.scope, FunctionScope) and not conditions.is_guarded(self.call)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A call that sets the default device: of torch itself, or of a function of the project that does."""

    call: ast.Call
    frame: Frame
    to_cuda: bool


def find(program: Program) -> list[Default]:
    """All places of a program that make CUDA the default, and are not taken back."""
    direct = list(_direct(program))
    if not any(setting.to_cuda for setting in direct):
        return []
    through = {setting.call: list(_through(program, setting)) for setting in direct}
    settings = [*direct, *(entering for found in through.values() for entering in found)]
    defaults = []
    for setting in direct:
        scope, entering = setting.frame.scope, through[setting.call]
        kept = [each for each in entering if each.to_cuda and not _is_taken_back(each, settings)]
        if setting.to_cuda and not _is_taken_back(setting, settings) and (kept or not entering):
            entries = [each.frame.scope.module for each in kept]
            defaults.append(Default(setting.call, scope, tuple(entries) or _own_entry(scope)))
    return defaults


def _direct(program: Program) -> Iterator[_Setting]:
    for word in _SETTERS:
        for module in program.modules_with(word, "torch"):
            for call, scope in module.calls_of(word) if not module.is_test else ():
                frame = Frame(scope)
                yield _Setting(call, frame, _sets_cuda(program, call, frame))


def _through(program: Program, setting: _Setting) -> Iterator[_Setting]:
    """The calls of the function that a setting stands in, each with what it sets there."""
    scope = setting.frame.scope
    for call, frame in program.call_sites(scope) if isinstance(scope, FunctionScope) else ():
        yield _Setting(call, frame, _sets_cuda(program, setting.call, Frame(scope, None, call, frame)))


def _sets_cuda(program: Program, call: ast.Call, frame: Frame) -> bool:
    functions = {v.name for v in program.evaluator.values(call.func, frame) if isinstance(v, External)}
    given = [*call.args, *(k.value for k in call.keywords)]
    if not functions & {f"torch.{name}" for name in _SETTERS} or not given:
        return False
    values = program.evaluator.values(given[0], frame)
    return devices.can_be_cuda(program, values) or any(_is_cuda_type(value) for value in values)


def _is_cuda_type(value: Value) -> bool:
    name = value.value if isinstance(value, Const) else value.name if isinstance(value, External) else ""
    return isinstance(name, str) and name.startswith("torch.cuda.") and name.endswith("Tensor")


def _is_taken_back(setting: _Setting, settings: list[_Setting]) -> bool:
    """Whether the same function sets another default afterwards, itself or by a function that it calls."""
    return any(
        not other.to_cuda
        and other.frame.scope is setting.frame.scope
        and other.call.lineno > setting.call.lineno
        and not _is_other_branch(setting.call, other.call)
        for other in settings
    )


def _is_other_branch(call: ast.Call, other: ast.Call) -> bool:
    return block_of(call).excludes(block_of(other)) or conditions.exclude(call, other)


def _own_entry(scope: Scope) -> tuple[Module, ...]:
    """The module that comes to a call by itself: its own if it stands at module level."""
    return () if isinstance(scope, FunctionScope) else (scope.module,)


def over(loader: Loader) -> Default | None:
    """The CUDA default under which a loader runs."""
    program = loader.program
    within = next(_around(loader), None)
    if within is not None or not program.facts.cuda_defaults:
        return within
    leading = {id(module) for module in program.importers(loader.module)}
    for default in program.facts.cuda_defaults:
        if default.scope is loader.frame.scope or any(id(entry) in leading for entry in default.entries):
            return default
        if default.at_import and any(m is loader.module for m in program.importers(default.module)):
            return default
    return None


def has_blocks(program: Program) -> bool:
    """Whether any module may have a block `with torch.device(...):`, by its bytes."""
    return any(_BLOCK.search(module.data) for module in program.modules_with("torch.device(", "with"))


def _around(loader: Loader) -> Iterator[Default]:
    """The blocks `with torch.device("cuda"):` in which main goes through a loader."""
    program = loader.program
    if not program.facts.has_device_blocks:
        return
    for iteration in program.facts.iterations_of(loader):
        at = parent(iteration.node)
        while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            for item in at.items if isinstance(at, ast.With) else ():
                found = program.evaluator.values(item.context_expr, iteration.frame)
                if _is_device(found) and devices.can_be_cuda(program, found):
                    yield Default(item.context_expr, iteration.frame.scope, ())
            at = parent(at)


def _is_device(values: Values) -> bool:
    return all(isinstance(value, Product) and value.name == "torch.device" for value in values)


def harm(loader: Loader, default: Default) -> str:
    """What a loader does that fails under a CUDA default; empty if it works."""
    on_cuda = has_cuda_generator(loader)
    if not on_cuda and _shuffles(loader):
        return "shuffles: RuntimeError, expected a 'cuda' device type for generator but found 'cpu'"
    methods = start_method.of_loader(loader.program, loader)
    if loader.has_workers and ("fork" in methods or (default.at_import and methods)):
        return f"has {loader.describe_workers()}: their tensors go to the GPU, which a forked worker cannot use"
    return ""


def _shuffles(loader: Loader) -> bool:
    """Whether it draws its indices at random, with a generator of its own."""
    if any(truth(value) is True for value in loader.option("shuffle").defaults if isinstance(value, Const)):
        return True
    return any(
        isinstance(value, Product)
        and value.name in _SHUFFLING_SAMPLERS
        and not any(k.arg == "generator" for k in value.node.keywords)
        for value in loader.option("sampler").values
    )


def shuffled(loader: Loader) -> Related:
    """Where a loader is told to shuffle."""
    return Related("shuffled by this loader", loader.location)


def has_cuda_generator(loader: Loader) -> bool:
    """Whether the loader's generator lives on the GPU."""
    if "generator" not in loader.arguments:
        return False
    return any(_is_cuda_generator(loader.program, value) for value in loader.option("generator").values)


def _is_cuda_generator(program: Program, value: Value) -> bool:
    made = value.origin if isinstance(value, Derived) else value
    if not isinstance(made, Product) or made.name != "torch.Generator":
        return False
    given = [*made.node.args[:1], *(k.value for k in made.node.keywords if k.arg == "device")]
    values: Values = program.evaluator.values(given[0], made.frame) if given else ()
    return devices.can_be_cuda(program, values)
