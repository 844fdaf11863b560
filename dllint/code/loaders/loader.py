"""Everything that starts DataLoader workers, as one `Loader` with its arguments in normal form."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dllint.code import apis
from dllint.code.apis import LoaderApi
from dllint.code.language import classes, conditions
from dllint.code.language.arguments import Argument, Arguments, collect, name_positional
from dllint.code.language.modules import Module
from dllint.code.language.scopes import Scope, dotted, last_name
from dllint.code.language.values import (
    UNKNOWNS,
    ClassRef,
    Const,
    Frame,
    Instance,
    Product,
    Unknown,
    Value,
    Values,
    by_default,
    is_unknown,
    merge,
    truth,
)
from dllint.code.loaders.given_later import is_given_later
from dllint.code.loaders.worker_numbers import asks_for_workers, is_some
from dllint.finding import Location, Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program


@dataclass(frozen=True, slots=True)
class Option:
    """What a loader's argument is: its values when passed, and whether it is passed at all."""

    name: str
    values: Values
    """What it can be; the library's default where it is left out."""
    argument: Argument | None
    absent: bool | None
    """True: left out for certain. False: passed for certain. None: not known."""

    @property
    def defaults(self) -> Values:
        """What it is when nobody outside of the project passes something else."""
        return by_default(self.values)

    @property
    def is_known(self) -> bool:
        """Whether it is known what it is when nobody outside of the project says otherwise."""
        return self.absent is not None and not is_unknown(self.defaults)

    def constants(self) -> list[Any]:
        """The constants that it can be."""
        return [value.value for value in self.defaults if isinstance(value, Const)]

    def is_certainly(self, wanted: bool) -> bool:
        """Whether its truth is known, and is this."""
        return self.is_known and all(truth(value) is wanted for value in self.defaults)

    def is_surely_given(self) -> bool:
        """Whether it is passed, and never as None."""
        if self.absent is not False or not self.is_known:
            return False
        return not any(_is_none(value) for value in self.defaults)


class Loader:
    """One construction of a loader, reached in one way."""

    def __init__(self, program: Program, call: ast.AST, frame: Frame, api: LoaderApi, found: Arguments) -> None:
        self.program = program
        self.call = call
        self.frame = frame
        self.api = api
        self._renamed = dict(api.renamed)
        named = name_positional(found, api.positional)
        renamed = self._renamed
        known = api.knows or named.keys()
        self.arguments = {renamed.get(name, name): argument for name, argument in named.items() if name in known}
        self.open = found.open
        self._options: dict[str, Option] = {}

    @property
    def construction(self) -> ast.AST:
        """The call that makes the loader: of the project's own loader class, where there is one."""
        made = self.frame.receiver
        if isinstance(made, Instance) and made.node is not None and self.frame.scope.name == "__init__":
            return made.node
        return self.call

    def made_in(self, frame: Frame) -> Loader:
        """The same construction as one activation of its function makes it."""
        if frame is self.frame or not isinstance(self.call, ast.Call):
            return self
        return Loader(self.program, self.call, frame, self.api, collect(self.program.evaluator, self.call, frame))

    def may_be(self, other: Loader) -> bool:
        """Whether two of these are one construction, and no calls that lead to it tell them apart."""
        return self.construction is other.construction and self.is_reached_by(other.frame)

    def is_reached_by(self, frame: Frame) -> bool:
        """Whether the calls that lead to a construction are these, as far as they are known."""
        mine, other = self.frame, frame
        while mine.call is not None and other.call is not None:
            if mine.call is not other.call:
                return False
            if mine.caller is None or other.caller is None:
                break
            mine, other = mine.caller, other.caller
        return True

    @property
    def callers(self) -> set[Module]:
        """The modules of the call and of the functions on the way to it."""
        return {frame.scope.module for frame in self.frame.way()}

    @property
    def start(self) -> Scope:
        """Where the way to it begins: the function, or module, that no call is known of."""
        *_, first = self.frame.way()
        return first.scope

    @property
    def module(self) -> Module:
        """The module that builds it."""
        return self.frame.scope.module

    @property
    def path(self) -> str:
        """The file that builds it."""
        return self.module.path

    @property
    def symbol(self) -> str:
        """The function that builds it."""
        return self.frame.scope.qualname

    @property
    def location(self) -> Location:
        """Where it is built."""
        return self.module.location(self.call)

    @property
    def made_at(self) -> Location:
        """Where the loader is made: for the project's own loader class the call of that."""
        made, holder = self.construction, self.frame.receiver
        frame = holder.frame if isinstance(holder, Instance) else None
        if made is self.call or frame is None or not self._is_built_by_base:
            return self.location
        return frame.scope.module.location(made)

    @property
    def _is_built_by_base(self) -> bool:
        """Whether it is an object of the project's own loader class: `super().__init__(...)` builds it, and not a
        call in a trainer that keeps the loader."""
        return isinstance(self.call, ast.Call) and last_name(self.call.func) == "__init__"

    def where(self, name: str) -> Location:
        """Where an argument stands; the call if it is not passed."""
        argument = self.arguments.get(name) or self.option(name).argument
        if argument is None:
            return self.location
        return argument.frame.scope.module.location(argument.anchor)

    def takes(self, name: str) -> bool:
        """Whether an argument of this name can be passed at all: trainers know only some of a loader's."""
        if self.api.knows:
            return name in self.api.knows
        return not self.api.service and (not self._renamed or name in self._renamed.values())

    def option(self, name: str) -> Option:
        """An argument by its name in torch.utils.data.DataLoader."""
        if self.program.evaluator.assumed:
            return self._option(name)
        if name not in self._options:
            self._options[name] = self._option(name)
        return self._options[name]

    def _option(self, name: str) -> Option:
        argument = self.arguments.get(name)
        if name == "num_workers" and self.api.service in self.arguments:
            return self._of_service(self.arguments[self.api.service])
        preset = self.api.default_workers if name == "num_workers" else _DEFAULTS.get(name)
        default: Values = (Const(preset, self.call),)
        if argument is None:
            return Option(name, UNKNOWNS if self.open else default, None, None if self.open else True)
        values = argument.values(self.program.evaluator)
        if name == "num_workers" and self.api.default_workers:
            values = merge([default if isinstance(v, Const) and v.value is None else (v,) for v in values])
        if name == "num_workers" and is_given_later(self.program, argument, values):
            values = UNKNOWNS
        if argument.certain or argument.surely:
            return Option(name, values, argument, False)
        otherwise = default if self._is_left_out_by_branch(argument) else UNKNOWNS
        return Option(name, merge([values, otherwise]), argument, None)

    def _is_left_out_by_branch(self, argument: Argument) -> bool:
        """Whether an argument is passed by one branch of an `if`, and by nothing on the ways past that."""
        block = argument.block
        if block is None or not isinstance(block.owner, ast.If) or not argument.alone or self.open:
            return False
        past = block.owner.orelse if block.branch == "body" else block.owner.body
        if past and conditions.leaves(past):
            return False
        return all(test is not block.owner.test for test, _ in conditions.leading_to(self.call))

    def _of_service(self, service: Argument) -> Option:
        """The `num_workers` that a reading service is made with."""
        ev, seen = self.program.evaluator, set[ast.AST]()  # `trainer = Trainer(args=trainer)`
        while made := [v for v in service.values(ev) if isinstance(v, Product) and v.node not in seen]:
            call, frame = made[0].node, made[0].frame
            seen.add(call)
            inner = Loader(self.program, call, frame, _service_api(made[0]), collect(ev, call, frame))
            if inner.api.service not in inner.arguments:
                return inner.workers
            service = inner.arguments[inner.api.service]
        return Option("num_workers", UNKNOWNS, None, None)

    def option_without_workers(self, name: str) -> Option:
        """An argument on the ways on which num_workers is 0: `prefetch_factor=2 if workers else None` is None there."""
        workers = self.workers.argument
        key = dotted(workers.node) if workers is not None else ""
        if not key:
            return self.option(name)
        assumed = self.program.evaluator.assumed
        assumed.append((key, Const(0, self.call)))
        try:
            argument = self.arguments.get(name)
            block = argument.block if argument is not None else None
            if argument is None or block is None:
                return self.option(name)
            if conditions.is_ruled_out(self.program.evaluator, block, argument.frame):
                return Option(name, (Const(_DEFAULTS.get(name), self.call),), None, True)
            return self.option(name)
        finally:
            assumed.pop()

    def is_refused_without_workers(self, name: str) -> bool:
        """Whether `name` is passed, and not as None, on a way on which there are no workers."""
        option = self.option_without_workers(name)
        if option.is_surely_given():
            return self.may_have_no_workers
        given = any(not isinstance(v, Unknown) and not _is_none(v) for v in option.defaults)
        return given and self.defaults_to_no_workers and self.is_decided_apart(option)

    def is_decided_apart(self, option: Option) -> bool:
        """Whether an option is passed on some ways, by a condition that has nothing to do with the workers."""
        argument = option.argument
        if argument is None or option.absent is True:
            return False
        if isinstance(argument.node, ast.IfExp):
            test = argument.node.test
        elif argument.block is not None and isinstance(argument.block.owner, ast.If):
            test = argument.block.owner.test
        else:
            return False
        workers = self.workers.argument
        return "worker" not in ast.unparse(test).lower() and not (
            workers is not None and dotted(workers.node) and conditions.mentions(test, dotted(workers.node))
        )

    @property
    def workers(self) -> Option:
        """Its `num_workers`."""
        return self.option("num_workers")

    @property
    def speaks_of_workers(self) -> bool:
        """Whether its workers are anything more definite than what `**kwargs` of unknown content may hold."""
        return self.workers.absent is not None or "num_workers" in self.arguments

    @property
    def has_no_workers(self) -> bool:
        """Whether it certainly runs without worker processes."""
        option = self.workers
        return option.absent is not None and all(isinstance(v, Const) and v.value == 0 for v in option.values)

    @property
    def defaults_to_no_workers(self) -> bool:
        """Whether it has no workers unless somebody outside of the project says otherwise."""
        option = self.workers
        return option.absent is not None and all(isinstance(v, Const) and v.value == 0 for v in option.defaults)

    @property
    def has_workers(self) -> bool:
        """Whether it certainly starts at least one worker."""
        return self.workers.is_known and all(map(is_some, self.workers.defaults))

    @property
    def keeps_its_workers(self) -> bool:
        """Whether its workers live on after an epoch: persistent for certain, or as soon as there are any."""
        option = self.option("persistent_workers")
        if option.is_certainly(True):
            return not self.has_no_workers  # with unknown workers: torch refuses the option where there are none
        argument, workers = option.argument, self.workers.argument
        if argument is None or workers is None or self.has_no_workers:
            return False
        name = dotted(workers.node)
        if option.absent is False:
            return asks_for_workers(argument.node, name)
        # `if workers > 0: options["persistent_workers"] = True`
        branch = argument.block.owner if argument.block is not None else None
        passed = argument.values(self.program.evaluator)
        return (
            isinstance(branch, ast.If)
            and argument.block is not None
            and argument.block.branch == "body"
            and asks_for_workers(branch.test, name)
            and all(truth(value) is True for value in passed)
        )

    @property
    def has_own_iter(self) -> bool:
        """Whether it is of a project class that decides itself how it is gone through."""
        call, ev = self.construction, self.program.evaluator
        if not isinstance(call, ast.Call):
            return False
        made = ev.values(call.func, self.frame)
        return any(isinstance(v, ClassRef) and classes.method(ev, v.cls, "__iter__") is not None for v in made)

    @property
    def may_have_no_workers(self) -> bool:
        """Whether the project itself gives it zero workers on some way."""
        option = self.workers
        is_whole = option.absent is not None or not is_unknown(option.values)
        zeros = (v for v in option.defaults if isinstance(v, Const) and v.value == 0)
        return is_whole and any(not conditions.exclude(zero.node, self.call) for zero in zeros)

    def zero_phrase(self) -> str:
        """How num_workers comes to be zero, for messages: `is 0 here`, `is left out, so 0`, `can be 0`."""
        if self.workers.absent:
            return "is left out, so 0"
        return "is 0" if all(c == 0 for c in self.workers.constants()) and self.workers.is_known else "can be 0"

    def zero_related(self) -> list[Related]:
        """Where the zero comes from, if not from the construction itself."""
        found = [v for v in self.workers.defaults if isinstance(v, Const) and v.value == 0 and v.scope is not None]
        places = [v.scope.module.location(v.node) for v in found if v.scope is not None]
        return [Related("num_workers is 0 here", place) for place in places] + self.context_related()

    def context_related(self) -> list[Related]:
        """The calls by which the construction is reached."""
        found = []
        frame: Frame | None = self.frame
        while frame is not None and frame.call is not None and frame.caller is not None:
            found.append(Related(f"{frame.scope.qualname} called here", frame.caller.scope.module.location(frame.call)))
            frame = frame.caller
        return found

    def describe_workers(self) -> str:
        """`8 workers`, `0 or 8 workers`, `0 or more workers` ... for messages; `workers` where no number is seen."""
        counts = sorted({c for c in self.workers.constants() if isinstance(c, int)})
        if not counts:
            return "workers"
        is_all = self.workers.absent is not None and all(isinstance(value, Const) for value in self.workers.defaults)
        if counts[0] == 0 and (self.defaults_to_no_workers or not is_all):
            return "0 or more workers"
        if not is_all:
            return f"{counts[0]} or another number of workers"
        text = " or ".join(str(count) for count in counts)
        return f"{text} worker" if counts == [1] else f"{text} workers"

    def related(self) -> Related:
        """Where the workers are started, for the way of a finding."""
        return Related(f"{self.describe_workers()} started by this loader", self.location)

    def dataset_values(self) -> Values:
        """What its dataset can be."""
        return self.option("dataset").values if "dataset" in self.arguments else ()

    def worker_callables(self) -> Iterator[tuple[str, Argument]]:
        """The arguments that run in workers."""
        switched = (name for name, switch in self.api.called_if if self.option(switch).is_certainly(True))
        for name in ("collate_fn", "worker_init_fn", *self.api.callables, *switched):
            if name in self.arguments:
                yield name, self.arguments[name]


def _service_api(value: Product) -> LoaderApi:
    """How a reading service, or the arguments of a trainer, name their workers."""
    return apis.LOADERS.get(value.name, LoaderApi(positional=("num_workers",)))


_DEFAULTS: dict[str, Any] = {
    "batch_size": 1,
    "num_workers": 0,
    "pin_memory": False,
    "drop_last": False,
    "timeout": 0,
    "persistent_workers": False,
    "in_order": True,
    "shuffle": None,
}


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None
