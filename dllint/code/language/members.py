"""What names of modules mean: imports followed to the module of the project, or to the library, that has them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ModuleScope, Scope
from dllint.code.language.values import UNKNOWNS, External, Frame, ModuleRef, Values, merge

if TYPE_CHECKING:
    from dllint.code.program import Program


def writes_by_name(program: Program, name: str, *words: str) -> Iterator[tuple[AttributeWrite, Scope]]:
    """Where an attribute of this name is stored on any object, also by `setattr(object, "name", value)`; in modules
    that have some other words, too."""
    modules = [*program.modules_with(f".{name} =", *words), *program.modules_with("setattr", name, *words)]
    found = (pair for module in dict.fromkeys(modules) for pair in module.writes_of(name))
    return ((write, scope) for write, scope in found if not write.element)


class Members:
    """What is to be had from the modules of one program, each name looked up once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._modules = program.modules
        self._known: dict[tuple[int, str], Values] = {}
        self._with_sets: dict[tuple[int, str], Values] = {}

    def imported(self, binding: Binding, module: Module) -> Values:
        """What an import binds."""
        node, alias = binding.node, binding.value
        assert isinstance(alias, ast.alias)
        if isinstance(node, ast.Import):
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            found = self._modules.find(dotted, module)
            return (ModuleRef(found),) if found is not None else (External(apis.canonical(dotted)),)
        assert isinstance(node, ast.ImportFrom)
        return self._imported_from(node, alias.name, module)

    def _imported_from(self, node: ast.ImportFrom, name: str, module: Module) -> Values:
        source = self._source(node, module)
        own = self._modules.submodule(module, name) if source is module else None
        if own is not None:  # `from . import name` in a package itself: its member of that name is this very import
            return (ModuleRef(own),)
        if source is not None:
            return self.of(source, name)
        inner = f"{node.module}.{name}" if node.module else name
        modules = self._modules
        submodule = modules.relative(module, node.level, inner) if node.level else modules.find(inner, module)
        if submodule is not None:
            return (ModuleRef(submodule),)
        return UNKNOWNS if node.level else (External(apis.canonical(inner)),)

    def source(self, binding: Binding, module: Module) -> Module | None:
        """The module of the project that `from ... import name` takes a name from."""
        return self._source(binding.node, module) if isinstance(binding.node, ast.ImportFrom) else None

    def _source(self, node: ast.ImportFrom, module: Module) -> Module | None:
        """The module that `from ... import` takes names from, if the project has it."""
        if node.level:
            return self._modules.relative(module, node.level, node.module)
        return self._modules.find(node.module or "", module)

    def of(self, module: Module, name: str) -> Values:
        """`module.name`, through re-exports."""
        key = (id(module), name)
        evaluator = self._program.evaluator
        if key not in self._known:
            self._known[key] = UNKNOWNS  # what a cycle of re-exports sees
            # What is assumed of names of one function says nothing of another module's.
            assumed, evaluator.assumed = evaluator.assumed, []
            self._known[key] = self._member(module, name)
            evaluator.assumed = assumed
        return self._known[key]

    def attribute(self, module: Module, name: str, reader: Scope) -> Values:
        """`module.name`, read in a scope: what the module has, and for functions also what others set it to before."""
        if isinstance(reader, ModuleScope):
            return self.of(module, name)
        key = (id(module), name)
        if key not in self._with_sets:
            own = self._with_sets[key] = self.of(module, name)  # what the new value itself sees
            self._with_sets[key] = self._after_sets(module, name, own)
        return self._with_sets[key]

    def _after_sets(self, module: Module, name: str, own: Values) -> Values:
        """What a name of a module can be where others set it, `settings.GPU = True`: at their top level, that alone."""
        evaluator, found = self._program.evaluator, [own]
        if any(isinstance(value, ModuleRef) for value in own):
            return own
        for write, scope in writes_by_name(self._program, name, module.name.rpartition(".")[2]):
            holders = evaluator.values(write.target.value, Frame(scope))
            if any(isinstance(holder, ModuleRef) and holder.module is module for holder in holders):
                is_sure = isinstance(scope, ModuleScope) and write.binding.block.parent is None
                found = [*([] if is_sure else found), evaluator.written(write, Frame(scope))]
        return merge(found)

    def _member(self, module: Module, name: str) -> Values:
        scope = module.scope
        if name in scope.bindings:
            found = self._program.evaluator.lookup(name, scope.node, scope, Frame(scope)) or UNKNOWNS
            own = [v for v in found if not (isinstance(v, ModuleRef) and v.module is module)]
            if own:
                return tuple(own)
        submodule = self._modules.submodule(module, name)
        if submodule is not None:
            return (ModuleRef(submodule),)
        return self.starred(module, name) or UNKNOWNS

    def starred(self, module: Module, name: str) -> Values | None:
        """`name` as one of the star imports of a module brings it; None if none of them can be seen to."""
        for binding in module.scope.bindings.get("*", ()):
            node = binding.node
            if not isinstance(node, ast.ImportFrom):
                continue
            source = self._source(node, module)
            if source is not None and source is not module and not name.startswith("_"):
                found = self.of(source, name)
                if found != UNKNOWNS:
                    return found
            offered = apis.offered(node.module, name) if source is None and node.module and not node.level else None
            if offered is not None:
                return (External(offered),)
        return None
