"""Modules, classes and functions as scopes: what each binds, calls, reads, writes and returns.

A scope is indexed when it is first asked, so that the many functions that nothing leads to cost no more than their
parse.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.indexing import index
from dllint.code.language.links import set_scope

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.code.language.values import Frame

_OPTIONS = frozenset({"option", "argument"})
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Scope:
    """A module, a class, a function or a lambda."""

    def __init__(self, node: ast.AST, module: Module, parent_scope: Scope | None, name: str) -> None:
        self.node = node
        self.module = module
        self.parent = parent_scope
        self.name = name
        self.bindings: dict[str, list[Binding]] = {}
        self.calls: list[ast.Call] = []
        self.attributes: list[ast.Attribute] = []
        self.writes: list[AttributeWrite] = []
        self.filled: dict[str, list[Binding]] = {}
        """What `name.append(value)` and `name[key] = value` put into a container by name."""
        self.filled_by_key: dict[str, dict[str | None, list[int]]] = {}
        """The places in these lists by constant keys, once they are asked for: see `containers`."""
        self.returns: list[ast.Return] = []
        self.yields: list[ast.Yield | ast.YieldFrom] = []
        self.loops: list[ast.For | ast.AsyncFor | ast.comprehension] = []
        self.unpacked: list[ast.Starred] = []
        """`*items` in displays and calls."""
        self.subscripts: list[ast.Subscript] = []
        self.deletes: list[ast.AST] = []
        self.closes: list[ast.Call] = []
        self.raises: list[ast.Raise] = []
        self.children: dict[int, Scope] = {}
        self.frames: dict[tuple[Any, ...], Frame] = {}
        """The activations of this scope that have been looked into: see `values.Frame`."""
        self.tested: dict[str, bool] = {}
        """Whether it asks anything about a name, once that has been looked for."""
        self.indexed = False

    @cached_property
    def qualname(self) -> str:
        """The dotted name within the module: `Class.method`."""
        if self.parent is None or isinstance(self.parent.node, ast.Module):
            return self.name
        return f"{self.parent.qualname}.{self.name}"

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that a def, a class or an import binds here: asked for each argument of each call."""
        found = self.index().bindings.items()
        return frozenset(name for name, bound in found if any(one.kind in ("scope", "import") for one in bound))

    @cached_property
    def names_of(self) -> dict[str, set[str]]:
        """What it also calls each thing: import aliases, and variables whose value has it in it, other than as what is
        called."""
        found: dict[str, set[str]] = {}
        for name, bindings in self.index().bindings.items():
            for binding in bindings:
                for word in _held(binding):
                    found.setdefault(word, set()).add(name)
        return found

    @cached_property
    def texts(self) -> frozenset[str]:
        """All texts in it, and in what stands within."""
        found = (node.value for node in ast.walk(self.node) if isinstance(node, ast.Constant))
        return frozenset(text for text in found if isinstance(text, str))

    @cached_property
    def tests(self) -> list[ast.expr]:
        """What it asks, here and within: tests of statements and of comprehensions, comparisons."""
        found: list[ast.expr] = []
        for part in ast.walk(self.node):
            if isinstance(part, (ast.If, ast.While, ast.IfExp, ast.Assert)):
                found.append(part.test)
            elif isinstance(part, ast.comprehension):
                found += part.ifs
            elif isinstance(part, (ast.BoolOp, ast.Compare)):
                found.append(part)
        return found

    @property
    def outer(self) -> Iterator[Scope]:
        """The scopes around it, the nearest first."""
        scope = self.parent
        while scope is not None:
            yield scope
            scope = scope.parent

    def binder_of(self, name: str) -> Scope | None:
        """The nearest scope that binds a name, as Python looks it up: what a class around binds is not seen."""
        for at in (self, *self.outer):
            if at.index().bindings.get(name) and (at is self or not isinstance(at, ClassScope)):
                return at
        return None

    @cached_property
    def span(self) -> tuple[int, int]:
        """Its first and last line, decorators included."""
        assert isinstance(self.node, (ast.stmt, ast.expr))
        decorators = getattr(self.node, "decorator_list", ())
        first: int = min((d.lineno for d in decorators), default=self.node.lineno)
        return first, self.node.end_lineno or first

    @property
    def is_generator(self) -> bool:
        """Whether it yields."""
        self.index()
        return bool(self.yields)

    def index(self) -> Scope:
        """Collect the facts of this scope, once."""
        if not self.indexed:
            self.indexed = True
            index(self)
        return self

    @cached_property
    def _calls_by_name(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.index().calls:
            found.setdefault(last_name(call.func), []).append(call)
        return found

    def calls_of(self, name: str) -> list[ast.Call]:
        """The calls directly in this scope of what has this last name; an empty name stands for all that has none."""
        return self._calls_by_name.get(name, [])

    @cached_property
    def _calls_by_given(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.index().calls:
            given = (*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is not None))
            for name in dict.fromkeys(each.id for each in given if isinstance(each, ast.Name)):
                found.setdefault(name, []).append(call)
        return found

    def calls_given(self, name: str) -> list[ast.Call]:
        """The calls directly in this scope that are given what it calls so."""
        return self._calls_by_given.get(name, [])

    @cached_property
    def _writes_by_name(self) -> dict[str, list[AttributeWrite]]:
        found: dict[str, list[AttributeWrite]] = {}
        for write in self.index().writes:
            found.setdefault(write.name, []).append(write)
        return found

    def writes_to(self, name: str) -> list[AttributeWrite]:
        """Where an attribute of this name is stored directly in this scope, on whatever object."""
        return self._writes_by_name.get(name, [])

    @cached_property
    def _children_by_line(self) -> tuple[list[int], list[int], list[tuple[int, Scope]]]:
        """Where the children begin; how far those up to each reach at most; and the children, each with its place."""
        children = sorted(enumerate(self.index().children.values()), key=lambda item: item[1].span[0])
        reach = list(accumulate((child.span[1] for _, child in children), max))
        return [child.span[0] for _, child in children], reach, children

    def children_at(self, lines: Iterable[int]) -> list[Scope]:
        """The scopes directly in this one that any of these lines stands in."""
        firsts, reach, children = self._children_by_line
        found: dict[int, Scope] = {}
        for line in lines:
            at = bisect_right(firsts, line) - 1
            while at >= 0 and reach[at] >= line:
                place, child = children[at]
                if child.span[1] >= line:
                    found[place] = child
                at -= 1
        return [found[place] for place in sorted(found)]

    def nest(self, node: ast.ClassDef | FunctionNode, name: str) -> Scope:
        """Open the scope of a def, class or lambda that stands directly in this one."""
        kind = ClassScope if isinstance(node, ast.ClassDef) else FunctionScope
        found = self.children[id(node)] = kind(node, self.module, self, name)
        set_scope(node, found)
        return found

    @cached_property
    def reads(self) -> dict[str, ast.Name]:
        """The names that are read in it and in what stands within, each with the first read that a walk meets."""
        found: dict[str, ast.Name] = {}
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, node)
        return found

    def read_of_global(self, name: str) -> ast.Name | None:
        """A read of the module's `name` in this scope, which does not bind it itself."""
        if name in self.index().bindings and self.bindings[name][0].kind != "global":
            return None
        return self.reads.get(name)

    def child(self, node: ast.AST) -> Scope:
        """The scope of a def, class or lambda that stands directly in this one."""
        return self.children[id(node)]


class ModuleScope(Scope):
    """The top level of a file."""


class ClassScope(Scope):
    """The body of a class statement."""

    node: ast.ClassDef

    @cached_property
    def methods(self) -> dict[str, FunctionScope]:
        """The methods by name; of several definitions the last counts. What sets a property is `name.setter`."""
        self.index()
        found = {}
        for name, bindings in self.bindings.items():
            for binding in bindings:
                scope = self.children.get(id(binding.node))
                if isinstance(scope, FunctionScope):
                    found[f"{name}.setter" if "setter" in scope.decorators else name] = scope
                else:
                    found.pop(name, None)
        return found

    @cached_property
    def _own_writes(self) -> dict[str, list[tuple[AttributeWrite, FunctionScope]]]:
        found: dict[str, list[tuple[AttributeWrite, FunctionScope]]] = {}
        for scope in self.methods.values():
            for write in scope.index().writes if scope.receiver_name is not None else ():
                holder = write.target.value
                if isinstance(holder, ast.Name) and holder.id == scope.receiver_name:
                    found.setdefault(write.name, []).append((write, scope))
        return found

    def writes_of(self, name: str) -> list[tuple[AttributeWrite, FunctionScope]]:
        """Where the methods of this class store the attribute `name` of their object, each with the method."""
        return self._own_writes.get(name, [])


class FunctionScope(Scope):
    """The body of a def or lambda."""

    node: FunctionNode

    @property
    def owner(self) -> ClassScope | None:
        """The class that this is a method of."""
        return self.parent if isinstance(self.parent, ClassScope) else None

    @cached_property
    def decorators(self) -> list[str]:
        """The last names of the decorators, as they are called where they come from: `property`, `no_grad` ..."""
        return [origin_name(node, self) for node in getattr(self.node, "decorator_list", ())]

    @cached_property
    def is_property(self) -> bool:
        """Whether reading the attribute calls it."""
        return any(name in ("property", "cached_property", "lazy_property") for name in self.decorators)

    @cached_property
    def receiver_name(self) -> str | None:
        """The name of the parameter that holds the object (`self`) or the class, if there is one."""
        if self.owner is None or "staticmethod" in self.decorators:
            return None
        arguments = self.node.args
        first = (arguments.posonlyargs + arguments.args)[:1]
        return first[0].arg if first else None

    @cached_property
    def parameters(self) -> list[ast.arg]:
        """The named parameters in order: positional ones first, then keyword-only ones."""
        arguments = self.node.args
        return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

    def default(self, name: str) -> ast.expr | None:
        """The default value of a parameter: its own, or that of the option of click or typer that fills it."""
        for decorator in map(self._spelled, getattr(self.node, "decorator_list", ())):
            if isinstance(decorator, ast.Call) and last_name(decorator) == "option" and _fills(decorator, name):
                return next((k.value for k in decorator.keywords if k.arg == "default"), None)
        arguments = self.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        for argument, value in zip(reversed(positional), reversed(arguments.defaults), strict=False):
            if argument.arg == name:
                return _plain(self._spelled(value))
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        return next((value and _plain(self._spelled(value)) for argument, value in named if argument.arg == name), None)

    def _spelled(self, node: ast.expr) -> ast.expr:
        """The option that several commands share by a name, `workers: int = WORKERS`; any other expression as it is."""
        if not isinstance(node, ast.Name):
            return node
        home = next((scope for scope in self.outer if node.id in scope.index().bindings), None)
        bound = home.bindings[node.id] if home is not None else []
        shared = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
        return shared if isinstance(shared, ast.Call) and last_name(shared).lower() in _OPTIONS else node

    def annotation(self, name: str) -> ast.expr | None:
        """The annotation of a parameter."""
        return next((a.annotation for a in self.parameters if a.arg == name), None)


def _held(binding: Binding) -> set[str]:
    """The last names of what a name can stand for, as its import or assignment spells it."""
    value = binding.value
    if binding.kind == "import" and isinstance(value, ast.alias):
        return {value.name.rpartition(".")[2]}
    if binding.kind != "assign" or value is None:
        return set()
    found = {last_name(part) for part in ast.walk(value) if isinstance(part, (ast.Name, ast.Attribute))}
    return found - {last_name(value.func)} if isinstance(value, ast.Call) else found


def _plain(default: ast.expr) -> ast.expr | None:
    """What a parameter is without an argument, where typer reads it: the default in `typer.Option(0, "--workers")`."""
    if not isinstance(default, ast.Call) or dotted(default.func) not in ("typer.Option", "typer.Argument"):
        return default
    given = [*default.args, *(keyword.value for keyword in default.keywords if keyword.arg == "default")]
    is_required = not given or (isinstance(given[0], ast.Constant) and given[0].value is ...)
    return None if is_required else given[0]


def _fills(option: ast.Call, name: str) -> bool:
    """Whether a click option gives its value to the parameter `name`."""
    texts = [a.value for a in option.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return any(text.split("/")[0].lstrip("-").replace("-", "_") == name for text in texts)


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name or of what a call calls; an empty string for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def origin_name(node: ast.AST, scope: Scope) -> str:
    """The last name of what a node names or calls where it comes from: `suppress`, of `quiet()` behind `from contextlib
    import suppress as quiet`."""
    name = last_name(node)
    function = node.func if isinstance(node, ast.Call) else node
    return scope.module.imported_as.get(name, name) if isinstance(function, ast.Name) else name


def called_name(call: ast.Call, scope: Scope, known: Collection[str]) -> str:
    """The last name of what a call calls; of `grab(x)` behind `grab = list` it is `list`, if that is among `known`."""
    name = last_name(call.func)
    if name in known or not isinstance(call.func, ast.Name):
        return name
    bound = (one for at in (scope, *scope.outer) for one in at.index().bindings.get(name, ()))
    if not any(one.kind in ("assign", "import") for one in bound):
        return name
    return next((word for word in known if name in scope.module.other_names(word)), name)


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a chain of names, or an empty string."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
