"""Who imports whom in a project, as far as the last names in import statements tell: nothing is parsed for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from dllint.code.language.module_table import ModuleTable
from dllint.code.language.modules import Module
from dllint.patterns import pattern

_MOST_IMPORTERS = 200
_WORD = pattern(rb"\w+")
_COMPUTED = (b"import_module", b"__import__", b"exec_module")
"""What imports a module whose name is put together."""


class Importing:
    """Which modules import which."""

    def __init__(self, modules: Collection[Module]) -> None:
        self._modules = modules
        self._starting_memo: dict[Module, set[Module]] = {}

    def importing(self, module: Module) -> list[Module]:
        """The modules that import this one."""
        return [other for other in self._by_imported.get(module.last_name, ()) if other is not module]

    def importers(self, module: Module) -> list[Module]:
        """The module, and those that import it, directly or not."""
        found = {id(module): module}
        pending = [module]
        while pending and len(found) <= _MOST_IMPORTERS:
            for other in self.importing(pending.pop(0)):
                if id(other) not in found:
                    found[id(other)] = other
                    pending.append(other)
        return list(found.values())

    def running_with(self, own: Collection[Module], others: Collection[Module]) -> list[Module]:
        """Those of other modules that may run in one process with all of some: a script imports all of them."""
        starts = self._starts(own) if others else set()
        return [other for other in others if not starts or not starts.isdisjoint(self._starting(other))]

    def _starts(self, modules: Collection[Module]) -> set[Module]:
        """The modules by which all of some are imported; none where that is not known."""
        common = set.intersection(*map(self._starting, modules))
        return common if common.isdisjoint(self._by_computed_names) else set()

    def _starting(self, module: Module) -> set[Module]:
        if module not in self._starting_memo:
            self._starting_memo[module] = self._leading_to([module])
        return self._starting_memo[module]

    def _leading_to(self, modules: Collection[Module]) -> set[Module]:
        """Some modules, and all that import one of them, directly or not."""
        return _closed(modules, self.importing)

    @cached_property
    def _by_computed_names(self) -> set[Module]:
        """The modules that may import any other, by a name that they put together, with those that import them."""
        return self._leading_to([module for module in self._modules if any(map(module.has, _COMPUTED))])

    def imported_by(self, module: Module) -> Iterator[Module]:
        """The modules that a module imports."""
        for _, rest in module.import_statements():
            for name in _WORD.findall(rest):
                yield from self._by_last_name.get(name, ())

    def around(self, targets: Collection[Module]) -> set[Module]:
        """The targets, the modules that lead to them by imports, and what all those import."""
        return _closed({module for target in targets for module in self.importers(target)}, self.imported_by)

    @cached_property
    def _by_last_name(self) -> dict[bytes, list[Module]]:
        found: dict[bytes, list[Module]] = {}
        for module in self._modules:
            found.setdefault(module.last_name, []).append(module)
        return found

    @cached_property
    def _by_imported(self) -> dict[bytes, list[Module]]:
        """The modules by the words of what they import, where that may be of the project: `from library.eval import x`
        imports no eval of ours."""
        found: dict[bytes, list[Module]] = {}
        for module in self._modules:
            statements = module.import_statements()
            for name in {name for keyword, rest in statements for name in self._own_words(keyword, rest)}:
                found.setdefault(name, []).append(module)
        return found

    def _own_words(self, keyword: bytes, rest: bytes) -> Iterator[bytes]:
        for part in (rest,) if keyword == b"from" else rest.split(b","):
            top = _WORD.match(part.strip())
            if top is None or top.group() in self._path_words:  # None: a relative import
                yield from _WORD.findall(part)

    @cached_property
    def _path_words(self) -> set[bytes]:
        """The names of all folders and files of the project: what is imported from none of these is a library's."""
        paths = (module.absolute.rpartition(".")[0] for module in self._modules)
        return {word.encode("utf-8", "surrogateescape") for path in paths for word in path.split("/")}


def imported_modules(table: ModuleTable, module: Module) -> Iterator[Module]:
    """The modules of the project that a module's import statements mean, packages on their way too."""
    for node in _statements(module):
        yield from modules_meant(table, module, node)


def modules_of_use(table: ModuleTable, module: Module) -> Iterator[Module]:
    """The modules of the project that a module's import statements bring something of."""
    for node in _statements(module):
        yield from modules_used(table, module, node)


def _statements(module: Module) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(module.scope.node) if isinstance(node, (ast.Import, ast.ImportFrom)))


def modules_meant(table: ModuleTable, module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[Module]:
    """The modules of the project that one import statement means."""
    if isinstance(node, ast.Import):
        found = [table.find(alias.name, module) for alias in node.names]
    else:
        start = f"{node.module}." if node.module else ""
        names = [node.module or "", *(start + alias.name for alias in node.names)]
        found = [_from(table, module, node.level, name) for name in names]
    yield from (other for other in found if other is not None)


def modules_used(table: ModuleTable, module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[Module]:
    """The modules of the project that one import statement brings something of. As `modules_meant`, but where a package
    only passes a name on, `from package import name` is the module that has it: of what else the package imports, that
    statement brings nothing."""
    if isinstance(node, ast.Import):
        yield from modules_meant(table, module, node)
        return
    start = f"{node.module}." if node.module else ""
    base = _from(table, module, node.level, node.module or "")
    for alias in node.names:
        submodule = _from(table, module, node.level, start + alias.name)
        holder = submodule or (base and _holder(table, base, alias.name, set()))
        if holder is not None:
            yield holder


def _holder(table: ModuleTable, module: Module, name: str, seen: set[Module]) -> Module:
    """The module that a name of another comes from; that one itself where it binds it, or nobody sees who does."""
    if not module.is_package or name == "*" or module in seen:
        return module
    seen.add(module)
    bindings = module.scope.index().bindings
    for binding in bindings.get(name) or bindings.get("*", []):
        node = binding.node
        if not isinstance(node, ast.ImportFrom):
            return module
        source = _from(table, module, node.level, node.module or "")
        held = next((alias.name for alias in node.names if name == (alias.asname or alias.name)), "")
        if source is not None and (held or _binds(source, name)):
            return _holder(table, source, held or name, seen)
    return module


def _binds(module: Module, name: str) -> bool:
    bindings = module.scope.index().bindings
    return name in bindings or "*" in bindings


def _from(table: ModuleTable, module: Module, level: int, name: str) -> Module | None:
    return table.relative(module, level, name) if level else table.find(name, module)


def _closed(modules: Iterable[Module], next_to: Callable[[Module], Iterable[Module]]) -> set[Module]:
    """Some modules, and all that are come to from these, step by step."""
    found = set(modules)
    pending = list(found)
    while pending:
        new = set(next_to(pending.pop())) - found
        found |= new
        pending.extend(new)
    return found
