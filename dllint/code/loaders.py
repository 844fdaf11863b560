"""Everything that starts DataLoader workers, as one `Loader` with its arguments in normal form."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dllint.code import apis, classes, folding
from dllint.code.apis import LoaderApi
from dllint.code.arguments import Argument, Arguments, alternatives, collect, name_positional
from dllint.code.libcalls import merged_call
from dllint.code.links import parent
from dllint.code.modules import Module
from dllint.code.scopes import FunctionScope, Scope, dotted, last_name
from dllint.code.values import (
    UNKNOWNS,
    ClassRef,
    Collection,
    Const,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Product,
    Unknown,
    Value,
    Values,
    bounds,
    by_default,
    is_unknown,
    merge,
    truth,
)
from dllint.finding import Location, Related

if TYPE_CHECKING:
    from dllint.code.evaluator import Evaluator
    from dllint.code.program import Program

_MOST_INITS = 5
"""Project classes between a loader class and the library's."""
_MOST_CONTEXTS = 16
"""Ways by which one construction is reached that are told apart."""


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
        return not any(isinstance(v, Const) and v.value is None for v in self.defaults)


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
        self.arguments = {renamed.get(name, name): argument for name, argument in named.items()}
        self.open = found.open

    @property
    def construction(self) -> ast.AST:
        """The call that makes the loader: of the project's own loader class, where there is one."""
        frame: Frame | None = self.frame
        made = self.frame.receiver
        if isinstance(made, Instance) and made.node is not None and frame is not None and frame.scope.name == "__init__":
            return made.node
        return self.call

    @property
    def module(self) -> Module:
        return self.frame.scope.module

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def symbol(self) -> str:
        """The function that builds it."""
        return self.frame.scope.qualname

    @property
    def location(self) -> Location:
        return self.module.location(self.call)

    def where(self, name: str) -> Location:
        """Where an argument stands; the call if it is not passed."""
        argument = self.arguments.get(name) or self.option(name).argument
        if argument is None:
            return self.location
        return argument.frame.scope.module.location(argument.anchor)

    def option(self, name: str) -> Option:
        """An argument by its name in torch.utils.data.DataLoader."""
        argument = self.arguments.get(name)
        if name == "num_workers" and self.api.service in self.arguments:
            return self._of_service(self.arguments[self.api.service])
        default: Values = (Const(_DEFAULTS.get(name), self.call),)
        if name == "num_workers":
            default = (Const(self.api.default_workers, self.call),)
        if argument is None:
            return Option(name, UNKNOWNS if self.open else default, None, None if self.open else True)
        values = argument.values(self.program.evaluator)
        if argument.certain:
            return Option(name, values, argument, False)
        return Option(name, merge([values, UNKNOWNS]), argument, None)

    def _of_service(self, service: Argument) -> Option:
        """The `num_workers` that a reading service is made with."""
        ev = self.program.evaluator
        for value in service.values(ev):
            if isinstance(value, Product):
                inner = Loader(self.program, value.node, value.frame, _service_api(value), collect(ev, value.node, value.frame))
                return inner.workers
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
            if argument is not None and argument.block is not None:
                if folding.is_ruled_out(self.program.evaluator, argument.block, argument.frame):
                    return Option(name, (Const(_DEFAULTS.get(name), self.call),), None, True)
            return self.option(name)
        finally:
            assumed.pop()

    def is_refused_without_workers(self, name: str) -> bool:
        """Whether `name` is passed, and not as None, on a way on which there are no workers."""
        option = self.option_without_workers(name)
        if option.is_surely_given():
            return self.may_have_no_workers
        given = [v for v in option.defaults if not isinstance(v, Unknown) and not (isinstance(v, Const) and v.value is None)]
        return bool(given) and self.defaults_to_no_workers and self.is_decided_apart(option)

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
            workers is not None and dotted(workers.node) and folding.mentions(test, dotted(workers.node))
        )

    @property
    def workers(self) -> Option:
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
        return self.workers.is_known and all((_low(v) or 0) > 0 for v in self.workers.defaults)

    @property
    def may_have_no_workers(self) -> bool:
        """Whether the project itself gives it zero workers on some way."""
        return self.workers.absent is not None and any(
            isinstance(v, Const) and v.value == 0 and v.value is not None for v in self.workers.defaults
        )

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
        """`8 workers`, `0 or 8 workers`, `workers` ... for messages."""
        counts = sorted({c for c in self.workers.constants() if isinstance(c, int)})
        if not counts:
            return "workers"
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
        for name in ("collate_fn", "worker_init_fn"):
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


def _low(value: Value) -> float | None:
    span = bounds(value)
    return span[0] if span is not None else None


# Finding them


def find(program: Program) -> list[Loader]:
    """All loaders of a program, each once for each way that its construction is reached."""
    found: list[Loader] = []
    exported = _exported_aliases(program)
    for module in _modules_to_search(program, exported):
        candidates = _candidates(program, module, exported)
        program.facts.building_scopes.update(scope for _, scope in candidates)
        for call, scope in candidates:
            if _is_expected_to_fail(call) or _is_made_elsewhere(program, call, scope):
                continue
            for frame in contexts(program, scope):
                found += _built(program, call, frame)
        found += _configured(program, module)
    return found


def _exported_aliases(program: Program) -> set[str]:
    """Other names under which modules of the project offer a loader: `from torch.utils.data import DataLoader as Loader`."""
    found: set[str] = set()
    for module in program.parsed_seeds:
        for word in apis.LOADER_WORDS:
            if word.encode() in module.data:
                found |= _aliases(module.scope, word) - {word}
    return found


def _modules_to_search(program: Program, exported: set[str]) -> list[Module]:
    """The seeds, and the modules that may call a loader by such a name."""
    if not exported:
        return program.parsed_seeds
    known = {id(module) for module in program.parsed_seeds}
    needles = [name.encode() for name in exported]
    others = [m for m in program.modules.by_file.values() if id(m) not in known and any(n in m.data for n in needles)]
    return program.parsed_seeds + [module for module in others if module.scope and module.error is None]


def _is_made_elsewhere(program: Program, call: ast.Call, scope: Scope) -> bool:
    """Whether it is the `super().__init__()` of a loader class whose objects are seen to be made: each counts by itself."""
    owner = scope.owner if isinstance(scope, FunctionScope) and scope.name == "__init__" else None
    return owner is not None and last_name(call.func) == "__init__" and bool(program.call_sites(scope))


def _is_expected_to_fail(call: ast.Call) -> bool:
    """Whether a test builds the loader to see it refused: `with pytest.raises(ValueError):`."""
    at = parent(call)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(at, ast.With) and any(last_name(i.context_expr) in ("raises", "assertRaises") for i in at.items):
            return True
        at = parent(at)
    return False


def loader_classes(program: Program) -> set[str]:
    """The names of the classes that seem to derive from a loader."""
    derived: dict[str, list[str]] = {}
    for module in program.modules.by_file.values():
        for name, base_names in module.class_bases:
            for base in base_names:
                derived.setdefault(base, []).append(name)
    found: set[str] = set()
    pending = list(apis.LOADER_WORDS)
    while pending:
        for child in derived.get(pending.pop(), ()):
            if child not in found:
                found.add(child)
                pending.append(child)
    return found


def _candidates(program: Program, module: Module, exported: set[str]) -> list[tuple[ast.Call, Scope]]:
    """The calls of a module that may build a loader, in the order of the source."""
    words = {*apis.LOADER_WORDS, *exported, *program.facts.loader_class_names, *_last_names(program.settings.loaders)}
    present = [word for word in words if word.encode() in module.data]
    found: dict[int, tuple[ast.Call, Scope]] = {}
    for word in present:
        lines = module.lines_with(word)
        for scope in module.scopes_around(lines):
            aliases = _aliases(scope.index(), word)
            for call in scope.calls:
                if last_name(call.func) in aliases:
                    found[id(call)] = (call, scope)
            for alias in aliases - {word}:
                for call, around in module.calls_of(alias):
                    found[id(call)] = (call, around)
    if present:
        for cls in module.classes:
            if cls.name in program.facts.loader_class_names and "__init__" in cls.methods:
                scope = cls.methods["__init__"]
                for call in scope.index().calls:
                    if last_name(call.func) == "__init__":
                        found[id(call)] = (call, scope)
    return sorted(found.values(), key=lambda item: (item[0].lineno, item[0].col_offset))


def _last_names(names: tuple[str, ...]) -> list[str]:
    return [name.rpartition(".")[2] for name in names]


def _aliases(scope: Scope, word: str) -> set[str]:
    """The names under which a scope knows `word`: import aliases, variables that hold it or a partial of it."""
    aliases = {word}
    for name, bindings in scope.bindings.items():
        for binding in bindings:
            value = binding.value
            if binding.kind == "import" and isinstance(value, ast.alias):
                if value.name.rpartition(".")[2] == word:
                    aliases.add(name)
            elif binding.kind == "assign" and value is not None and not _is_construction(value, word):
                if any(
                    isinstance(part, (ast.Name, ast.Attribute)) and last_name(part) == word for part in ast.walk(value)
                ):
                    aliases.add(name)
    return aliases


def _is_construction(value: ast.AST, word: str) -> bool:
    return isinstance(value, ast.Call) and last_name(value.func) == word


def contexts(program: Program, scope: Scope, depth: int = 0) -> list[Frame]:
    """The frames by which a function is entered: one for each call that is seen, else one without arguments."""
    if not isinstance(scope, FunctionScope) or isinstance(scope.node, ast.Lambda):
        return [Frame(scope)]
    own = [p for p in scope.parameters if p.arg != scope.receiver_name]
    if not own and scope.node.args.kwarg is None and scope.node.args.vararg is None:
        return [Frame(scope)]
    found: list[Frame] = []
    for call, caller in program.call_sites(scope):
        outer = contexts(program, caller.scope, depth + 1)[:4] if depth < 1 else [caller]
        for frame in outer:
            receiver = _made_by(scope, call, frame)
            found.append(Frame(scope, receiver, call, frame))
            if len(found) >= _MOST_CONTEXTS:
                return found
    return found or [Frame(scope)]


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
    if (
        isinstance(value, Derived)
        and value.via in (".prepare()", ".setup_dataloaders()")
        and isinstance(value.node, ast.Call)
    ):
        return any(is_loader(program, v) for a in value.node.args for v in program.evaluator.values(a, value.frame))
    return False


_OBJECTS = frozenset(word for word in apis.LOADER_WORDS if word.endswith(("Loader", "DataLoader2", "Sampler")))
"""Of the calls that carry a loader's arguments, those whose result is a loader."""

_CONFIG = LoaderApi(positional=())


def _configured(program: Program, module: Module) -> Iterator[Loader]:
    """OpenMMLab configs: `train_dataloader = dict(batch_size=2, num_workers=2, dataset=dict(...))`."""
    if b"_dataloader" not in module.data:
        return
    frame = Frame(module.scope)
    for name, bindings in module.scope.bindings.items():
        if not name.endswith("_dataloader"):
            continue
        for binding in bindings:
            node = binding.value
            if binding.kind != "assign" or not isinstance(node, (ast.Call, ast.Dict)):
                continue
            for value in program.evaluator.values(node, frame):
                if isinstance(value, Collection) and value.kind == "dict" and _is_loader_config(value):
                    yield _from_config(program, value, node, frame)


def _is_loader_config(value: Collection) -> bool:
    keys = set(_keys(value))
    return bool(keys & {"dataset", "sampler", "batch_sampler"}) and bool(keys & {"batch_size", "num_workers"})


def _keys(value: Collection) -> list[str]:
    names = (key.value if isinstance(key, ast.Constant) else key for key in value.keys)
    return [name for name in names if isinstance(name, str)]


def _from_config(program: Program, value: Collection, node: ast.AST, frame: Frame) -> Loader:
    found = Arguments()
    keywords = {k.arg: k for k in node.keywords} if isinstance(node, ast.Call) else {}
    for key, item in zip(value.keys, value.items, strict=False):
        name = key.value if isinstance(key, ast.Constant) else key
        if not isinstance(name, str):
            found.open = True
            continue
        # The config's sampler and batch_sampler are recipes, built with the batch size that stands beside them.
        if name not in ("sampler", "batch_sampler", "dataset", "collate_fn", "batch_size"):
            found.add(Argument(name, item, frame, keywords.get(name, item)))
    if "dataset" not in _keys(value) or "_base_" in frame.scope.bindings:
        found.open = True
    return Loader(program, node, frame, _CONFIG, found)
