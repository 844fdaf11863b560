"""Generators of random numbers that workers inherit from the main process, and who draws from them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from dllint.code.apis.loaders import LOADERS
from dllint.code.apis.randomness import (
    DRAWS,
    GENERATOR_KEYWORDS,
    GENERATOR_WORDS,
    GENERATORS,
    MOVES_ON,
    NUMPY_DRAWS,
    ORDERS,
    RESEEDS,
    SEED_GLOBALS_ONLY,
    SEEDERS,
)
from dllint.code.facts import WorkerEntry
from dllint.code.language import classes
from dllint.code.language.callables import innermost
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Const, Derived, External, Function, Partial, Product, Value, by_default
from dllint.code.loaders.loader import Loader
from dllint.code.workers.reach import Step, is_main_only
from dllint.code.workers.state import Item
from dllint.code.workers.ways import called_frame
from dllint.code.workers.worker_queries import asks_for_worker
from dllint.finding import Location
from dllint.records import dataclass

_SEEDING = frozenset({"seed", "seed_everything", "set_seed"})


@dataclass(frozen=True, slots=True)
class SharedGenerator:
    """A generator that each worker has a copy of, in one state, with a draw from it in worker code."""

    made: Product
    item: Item | None
    """How an object carries it into the workers; None for a name of the module or of the function around."""
    step: Step
    draw: ast.Call

    @property
    def location(self) -> Location:
        """Where the generator is made."""
        return self.made.frame.scope.module.location(self.made.node)


def generator(value: Value) -> Product | None:
    """The generator that a value is: made by a library call, and perhaps seeded on the spot."""
    value = innermost(value)
    if isinstance(value, Derived) and (value.via == ".manual_seed()" or _is_bound_draw(value)):
        value = value.base
    return value if isinstance(value, Product) and value.name in GENERATORS else None


def _is_bound_draw(value: Value) -> bool:
    """Whether a value is a method of a generator that draws, and that is kept: `self.pick = rng.choice`."""
    kept = innermost(value)
    return isinstance(kept, Derived) and kept.via[1:] in DRAWS and generator(kept.base) is not None


def shared(entry: WorkerEntry) -> Iterator[SharedGenerator]:
    """The generators that worker code draws from, that were made in main, and that nothing in the worker seeds anew."""
    if not any(entry.program.modules_with(word.decode()) for word in GENERATOR_WORDS):
        return
    carried = {made.key: item for item in entry.items if (made := _kept(entry, item)) is not None}
    drawn: dict[object, SharedGenerator] = {}
    for step, call, holder in _uses(entry, DRAWS):
        for value in entry.program.evaluator.values(holder, called_frame(entry.program, step)):
            made = generator(value)
            if made is None or made.key in drawn or not _is_inherited(entry, made, carried, holder):
                continue
            if not _agrees_on_order(entry, call):
                drawn[made.key] = SharedGenerator(made, carried.get(made.key), step, call)
    if drawn:
        anew = _seeded_anew(entry)
        yield from (s for key, s in drawn.items() if key not in anew and not _is_replaced(entry, s))


def _kept(entry: WorkerEntry, item: Item) -> Product | None:
    """The generator that an attribute certainly holds: not one that is None unless somebody asks for a seed."""
    made = generator(item.value)
    if made is None or item.certain:
        return made
    others = by_default(entry.program.evaluator.written(item.write, item.frame))
    return made if all(generator(other) is not None for other in others) else None


def _uses(entry: WorkerEntry, methods: frozenset[str]) -> Iterator[tuple[Step, ast.Call, ast.expr]]:
    """The calls in worker code that use an object by one of these methods, or draw from a keyword's value."""
    bound = _bound_draws(entry) if methods is DRAWS else frozenset()
    for step in entry.code.steps:
        for call in step.scope.index().calls:
            named = isinstance(call.func, ast.Attribute) and call.func.attr in methods
            handed = [k.value for k in call.keywords if k.arg in GENERATOR_KEYWORDS] if methods is DRAWS else []
            handed += [call.func] if last_name(call.func) in bound else []
            if (named or handed) and not is_main_only(entry.program, call, step.frame):
                if named and isinstance(call.func, ast.Attribute):
                    yield step, call, call.func.value
                yield from ((step, call, holder) for holder in handed)


def _bound_draws(entry: WorkerEntry) -> frozenset[str]:
    """The names under which methods that draw are kept: of attributes, of the modules, of the functions around."""
    kept = {item.attribute for item in entry.items if _is_bound_draw(item.value)}
    making = {module for word in GENERATOR_WORDS for module in entry.program.modules_with(word.decode())}
    steps = [step for step in entry.code.steps if step.scope.module in making]
    scopes = {scope for step in steps for scope in step.scope.outer}
    for scope in scopes:
        for name, bound in scope.index().bindings.items():
            if any(isinstance(one.value, (ast.Attribute, ast.Call)) and _names_draw(one.value) for one in bound):
                kept.add(name)
    return frozenset(kept)


def _names_draw(node: ast.expr) -> bool:
    """Whether it is `rng.normal`, or a partial of that."""
    if isinstance(node, ast.Call):
        return last_name(node) == "partial" and bool(node.args) and _names_draw(node.args[0])
    return isinstance(node, ast.Attribute) and node.attr in DRAWS


def _is_inherited(entry: WorkerEntry, made: Product, carried: dict[tuple[object, ...], Item], holder: ast.expr) -> bool:
    """Whether the main process made a generator, and a worker finds it as it was then."""
    scope = made.frame.scope
    if any(step.scope is scope for step in entry.code.steps):
        return False
    if made.key in carried:
        return made.name != "torch.Generator" or entry.may_fork
    if isinstance(scope, FunctionScope):
        return isinstance(holder, ast.Name) and entry.may_fork
    # A spawned worker makes it anew: it is the same again only where it gets the same seed.
    return entry.may_fork or bool(made.node.args or made.node.keywords)


def _agrees_on_order(entry: WorkerEntry, call: ast.Call) -> bool:
    """Whether workers that share out the data draw its order, for which they need equal numbers."""
    dataset = entry.dataset
    return (
        last_name(call.func) in ORDERS
        and dataset is not None
        and dataset.is_iterable
        and asks_for_worker(dataset.program, dataset.worker.steps)
    )


def _seeded_anew(entry: WorkerEntry) -> set[tuple[object, ...]]:
    found = set()
    for step, _, holder in _uses(entry, RESEEDS):
        for value in entry.program.evaluator.values(holder, called_frame(entry.program, step)):
            made = generator(value)
            if made is not None:
                found.add(made.key)
    return found


def _is_replaced(entry: WorkerEntry, found: SharedGenerator) -> bool:
    """Whether a worker stores another generator in its place, or may do so in a worker_init_fn."""
    if any(_may_reseed(entry, found, argument) for argument in _worker_inits(entry)):
        return True
    names = _names(found)
    for step in entry.code.steps:
        scope = step.scope.index()
        if _moves_on(step):
            return True
        if found.item is not None and any(write.name in names for write in scope.writes):
            return True
        if found.item is None and any(b[0].kind == "global" for name in names if (b := scope.bindings.get(name))):
            return True
        if step.root.label == "worker_init_fn" and _touches(entry, step, names, found):
            return True
    return False


def _moves_on(step: Step) -> bool:
    """Whether a function takes generators to a state that each worker has alone: `bit_generator.advance(info.id)`."""
    scope = step.scope.index()
    if not scope.calls_of("get_worker_info"):
        return False
    return any(attribute.attr in MOVES_ON for attribute in scope.attributes)


def _names(found: SharedGenerator) -> set[str]:
    """The names that hold a generator: of the attributes that lead to it, or of its module."""
    if found.item is not None:
        return {found.item.attribute, found.item.root}
    scope = found.made.frame.scope
    return {name for name, bindings in scope.bindings.items() if any(b.value is found.made.node for b in bindings)}


def _touches(entry: WorkerEntry, step: Step, names: set[str], found: SharedGenerator) -> bool:
    """Whether a worker_init_fn speaks of these names, or calls a method that does."""
    scope = step.scope.index()
    if any(attribute.attr in names for attribute in scope.attributes):
        return True
    owners = [found.item.owner] if found.item is not None else []
    owners += [entry.dataset.cls] if entry.dataset is not None else []
    called = [call.func.attr for call in scope.calls if isinstance(call.func, ast.Attribute)]
    methods = [classes.method(entry.program.evaluator, owner, name) for owner in owners for name in called]
    return any(m is not None and any(a.attr in names for a in m.index().attributes) for m in methods)


def _worker_inits(entry: WorkerEntry) -> Iterator[Value]:
    """What the loaders are given to start their workers with; those that the settings of MONAI's loader imply too."""
    for loader in entry.loaders:
        argument = loader.arguments.get("worker_init_fn")
        if argument is not None:
            yield from argument.values(entry.program.evaluator)
        elif loader.api == LOADERS["monai.data.DataLoader"]:
            yield External("monai.data.utils.worker_init_fn")


def _may_reseed(entry: WorkerEntry, found: SharedGenerator, given: Value) -> bool:
    """Whether a worker_init_fn that cannot be looked into may seed a generator of the project."""
    while isinstance(given, Partial):
        given = given.target
    if isinstance(given, External):
        if given.name.startswith("monai."):  # it calls set_random_state of what has it
            owner = found.item.owner if found.item is not None else None
            return owner is not None and "set_random_state" in owner.methods
        return given.name not in SEED_GLOBALS_ONLY
    return not isinstance(given, (Function, Const))


def global_numpy_draw(entry: WorkerEntry) -> tuple[Step, ast.Call] | None:
    """The first draw from numpy's global generator in worker code, if nothing there or in the start of it seeds it."""
    started_bare = any(_is_started_bare(loader) for loader in entry.loaders)
    if not started_bare and any(not isinstance(given, (Function, Const, Partial)) for given in _worker_inits(entry)):
        return None
    if any(_seeds(other, by_its_start=not started_bare) for other in _read_together(entry)):
        return None  # of a dataset that reads another one either may seed for each item
    draws = _calls_of(entry, NUMPY_DRAWS)
    first = next(((step, call) for step, call, name in draws if name.startswith("numpy.random.")), None)
    return None if first is None or _seeds(entry, by_its_start=not started_bare) else first


def _is_started_bare(loader: Loader) -> bool:
    """Whether a loader trains with workers that are given nothing to start with, whatever other loaders give theirs."""
    if loader.api == LOADERS["monai.data.DataLoader"] or not loader.has_workers:
        return False
    return loader.option("shuffle").is_certainly(True) and loader.option("worker_init_fn").is_certainly(False)


def _read_together(entry: WorkerEntry) -> Iterator[WorkerEntry]:
    """The other worker code of the same loaders; all other, where no loader of this one is seen."""
    for other in entry.program.facts.worker_entries:
        if other is not entry and (not entry.loaders or any(loader in entry.loaders for loader in other.loaders)):
            yield other


def _seeds(entry: WorkerEntry, *, by_its_start: bool = True) -> bool:
    """Whether worker code seeds a global generator; without what only starts the workers of some loaders, if asked."""
    seeding = (step for step, _, name in _calls_of(entry, _SEEDING) if name in SEEDERS)
    return any(by_its_start or step.root.label != "worker_init_fn" for step in seeding)


def _calls_of(entry: WorkerEntry, names: Collection[str]) -> Iterator[tuple[Step, ast.Call, str]]:
    """The calls of library functions with these last names, each with the dotted one."""
    for step, call in entry.code.calls():
        if last_name(call.func) in names:
            for value in entry.program.evaluator.values(call.func, step.frame):
                if isinstance(value, External):
                    yield step, call, value.name
