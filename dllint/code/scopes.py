"""Modules, classes and functions as scopes: what each binds, calls, reads, writes and returns.

A scope is indexed when it is first asked, so that the many functions that nothing leads to cost no more than their
parse. Indexing is one walk; it also links each node to its parent, and each statement to the block it stands in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from dllint.code.modules import Module
    from dllint.code.values import Frame

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class Block:
    """A list of statements: the body, else-branch, handler ... of its owner. The outermost has no owner."""

    __slots__ = ("branch", "owner", "parent")

    def __init__(self, parent: Block | None, owner: ast.AST | None, branch: str) -> None:
        self.parent = parent
        self.owner = owner
        self.branch = branch

    def chain(self) -> Iterator[Block]:
        """This block, then the blocks around it, outwards."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def holds(self, other: Block) -> bool:
        """Whether `other` is this block or lies within it."""
        return any(block is self for block in other.chain())

    def excludes(self, other: Block) -> bool:
        """Whether the two stand in different branches of one `if`, so that one run passes only one of them."""
        mine = {id(block.owner): block.branch for block in self.chain() if isinstance(block.owner, ast.If)}
        return any(mine.get(id(block.owner), block.branch) != block.branch for block in other.chain())


class Binding:
    """One place where a scope gives a name a meaning.

    `kind` says how `value` is to be read: `assign` (the value itself), `item` (`index` of an unpacked value), `each`
    (an element of an iterated value), `with` (what a context manager gives), `augmented`, `import`, `scope` (a def or
    class), `parameter`, `global`, or `unknown`.
    """

    __slots__ = ("block", "index", "kind", "name", "node", "value")

    def __init__(
        self, name: str, kind: str, node: ast.AST, block: Block, value: ast.AST | None = None, index: int = 0
    ) -> None:
        self.name = name
        self.kind = kind
        self.node = node
        self.block = block
        self.value = value
        self.index = index


class AttributeWrite:
    """`object.name = value` (or an element of it: `object.name[key] = value`, `object.name.append(value)`)."""

    __slots__ = ("binding", "element", "name", "node", "target")

    def __init__(self, name: str, target: ast.Attribute, binding: Binding, element: bool) -> None:
        self.name = name
        self.target = target
        self.binding = binding
        self.element = element
        self.node = binding.node


def parent(node: ast.AST) -> ast.AST | None:
    """The node around `node`, within an indexed scope."""
    return getattr(node, "dll_parent", None)


def block_of(node: ast.AST) -> Block:
    """The block that the statement around `node` stands in."""
    at: ast.AST | None = node
    while at is not None:
        block = getattr(at, "dll_block", None)
        if block is not None:
            return block  # type: ignore[no-any-return]
        at = parent(at)
    return Block(None, None, "body")


def scope_of(node: ast.AST) -> Scope:
    """The scope whose indexing reached `node`."""
    at: ast.AST | None = node
    while at is not None:
        scope = getattr(at, "dll_scope", None)
        if scope is not None:
            return scope  # type: ignore[no-any-return]
        at = parent(at)
    raise LookupError("node of no indexed scope")


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
        self.returns: list[ast.Return] = []
        self.yields: list[ast.Yield | ast.YieldFrom] = []
        self.loops: list[ast.For | ast.AsyncFor | ast.comprehension] = []
        self.subscripts: list[ast.Subscript] = []
        self.deletes: list[ast.AST] = []
        self.closes: list[ast.Call] = []
        self.raises: list[ast.Raise] = []
        self.children: dict[int, Scope] = {}
        self.frames: dict[tuple[Any, ...], Frame] = {}
        """The activations of this scope that have been looked into: see `values.Frame`."""
        self.indexed = False

    @cached_property
    def qualname(self) -> str:
        """The dotted name within the module: `Class.method`."""
        if self.parent is None or isinstance(self.parent.node, ast.Module):
            return self.name
        return f"{self.parent.qualname}.{self.name}"

    @cached_property
    def span(self) -> tuple[int, int]:
        """Its first and last line, decorators included."""
        decorators = getattr(self.node, "decorator_list", ())
        first = min((d.lineno for d in decorators), default=self.node.lineno)  # type: ignore[attr-defined]
        return first, self.node.end_lineno  # type: ignore[attr-defined]

    @property
    def is_generator(self) -> bool:
        self.index()
        return bool(self.yields)

    def index(self) -> Scope:
        """Collect the facts of this scope, once."""
        if not self.indexed:
            self.indexed = True
            _Indexer(self).run()
        return self

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
        """The methods by name; of several definitions the last counts."""
        self.index()
        found = {}
        for name, bindings in self.bindings.items():
            scope = self.children.get(id(bindings[-1].node))
            if isinstance(scope, FunctionScope):
                found[name] = scope
        return found


class FunctionScope(Scope):
    """The body of a def or lambda."""

    node: FunctionNode

    @property
    def owner(self) -> ClassScope | None:
        """The class that this is a method of."""
        return self.parent if isinstance(self.parent, ClassScope) else None

    @cached_property
    def decorators(self) -> list[str]:
        """The last names of the decorators: `property`, `staticmethod`, `no_grad` ..."""
        return [last_name(node) for node in getattr(self.node, "decorator_list", ())]

    @property
    def is_property(self) -> bool:
        return any(name in ("property", "cached_property", "lazy_property") for name in self.decorators)

    @property
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
        """The default value of a parameter: its own, or that of the click option that fills it."""
        for decorator in getattr(self.node, "decorator_list", ()):
            if isinstance(decorator, ast.Call) and last_name(decorator) == "option" and _fills(decorator, name):
                return next((k.value for k in decorator.keywords if k.arg == "default"), None)
        arguments = self.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        for argument, value in zip(reversed(positional), reversed(arguments.defaults), strict=False):
            if argument.arg == name:
                return value
        for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if argument.arg == name:
                return value
        return None

    def annotation(self, name: str) -> ast.expr | None:
        """The annotation of a parameter."""
        return next((a.annotation for a in self.parameters if a.arg == name), None)


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


class _Indexer:
    """The one walk over a scope. Expressions go over an explicit stack, so that no nesting in a file ends it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def run(self) -> None:
        scope = self.scope
        node = scope.node
        node.dll_scope = scope  # type: ignore[attr-defined]
        root = Block(None, None, "body")
        if isinstance(node, ast.Lambda):
            self._parameters(node.args, root)
            self._expression(node.body, node, root)
            return
        if isinstance(node, _FUNCTIONS):
            self._parameters(node.args, root)
        pending = [(node, node.body, root)]  # type: ignore[attr-defined]
        while pending:
            owner, statements, block = pending.pop()
            for statement in statements:
                statement.dll_parent = owner
                statement.dll_block = block
                pending.extend(self._statement(statement, block))
        # The order of the source, which the stack does not keep.
        for bindings in scope.bindings.values():
            bindings.sort(key=_position)
        scope.calls.sort(key=_position)
        scope.writes.sort(key=lambda write: _position(write.node))

    def _parameters(self, arguments: ast.arguments, block: Block) -> None:
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        for argument in named + extra:
            argument.dll_parent = self.scope.node  # type: ignore[attr-defined]
            self._bind(Binding(argument.arg, "parameter", argument, block))

    def _bind(self, binding: Binding) -> None:
        self.scope.bindings.setdefault(binding.name, []).append(binding)

    def _statement(self, node: ast.stmt, block: Block) -> list[tuple[ast.AST, list[ast.stmt], Block]]:
        """Take in one statement; give back the blocks within it."""
        scope = self.scope
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self._nested(node, block)
            return []
        inner: list[tuple[ast.AST, list[ast.stmt], Block]] = []
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    # The body of a `with` runs whenever the statement does: it is no block of its own.
                    same = isinstance(node, (ast.With, ast.AsyncWith))
                    inner.append((node, value, block if same else Block(block, node, name)))
                    continue
                for number, item in enumerate(value):
                    if isinstance(item, ast.ExceptHandler) or item.__class__.__name__ == "match_case":
                        item.dll_parent = node
                        inner.append((item, item.body, Block(block, node, f"{name}{number}")))
                        self._handler(item, block)
                    elif isinstance(item, ast.AST):
                        self._expression(item, node, block)
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                self._expression(value, node, block)
        binder = _BINDERS.get(type(node))
        if binder is not None:
            binder(self, node, block)
        elif isinstance(node, ast.Return):
            scope.returns.append(node)
        elif isinstance(node, ast.Raise):
            scope.raises.append(node)
        elif isinstance(node, ast.Delete):
            scope.deletes.extend(node.targets)
        return inner

    def _handler(self, item: ast.AST, block: Block) -> None:
        if isinstance(item, ast.ExceptHandler):
            if item.type is not None:
                self._expression(item.type, item, block)
            if item.name:
                self._bind(Binding(item.name, "unknown", item, block))
            return
        for part in (item.pattern, getattr(item, "guard", None)):  # type: ignore[attr-defined]
            if part is None:
                continue
            self._expression(part, item, block)
            for node in ast.walk(part):
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(name, str):
                    self._bind(Binding(name, "unknown", item, block))

    def _nested(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, block: Block) -> None:
        scope = self.scope
        kind = ClassScope if isinstance(node, ast.ClassDef) else FunctionScope
        scope.children[id(node)] = kind(node, scope.module, scope, node.name)
        node.dll_scope = scope.children[id(node)]  # type: ignore[attr-defined]
        self._bind(Binding(node.name, "scope", node, block))
        outside: list[ast.AST] = list(node.decorator_list)
        if isinstance(node, ast.ClassDef):
            outside += [*node.bases, *node.keywords]
        else:
            outside += [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
            outside += [a.annotation for a in _all_arguments(node.args) if a.annotation is not None]
            outside += [node.returns] if node.returns is not None else []
        # These stand outside the new scope, though below its node: a holder keeps the way up from them right.
        holder = ast.Expr(value=ast.Constant(value=None))
        holder.dll_parent = getattr(node, "dll_parent", None)  # type: ignore[attr-defined]
        holder.dll_block = block  # type: ignore[attr-defined]
        holder.lineno, holder.col_offset = node.lineno, node.col_offset
        for expression in outside:
            self._expression(expression, holder, block)

    def _expression(self, root: ast.AST, owner: ast.AST, block: Block) -> None:
        scope = self.scope
        root.dll_parent = owner  # type: ignore[attr-defined]
        stack = [root]
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind is ast.Call:
                scope.calls.append(node)  # type: ignore[arg-type]
                self._mutation(node, block)  # type: ignore[arg-type]
            elif kind is ast.Attribute:
                scope.attributes.append(node)  # type: ignore[arg-type]
            elif kind is ast.Subscript:
                scope.subscripts.append(node)  # type: ignore[arg-type]
            elif kind is ast.Lambda:
                child = FunctionScope(node, scope.module, scope, "<lambda>")
                scope.children[id(node)] = child
                node.dll_scope = child  # type: ignore[attr-defined]
                for default in (*node.args.defaults, *node.args.kw_defaults):  # type: ignore[attr-defined]
                    if default is not None:
                        self._expression(default, owner, block)
                continue
            elif kind is ast.comprehension:
                scope.loops.append(node)  # type: ignore[arg-type]
                self._target(node.target, "each", node.iter, node, block)  # type: ignore[attr-defined]
            elif kind is ast.NamedExpr:
                self._target(node.target, "assign", node.value, node, block)  # type: ignore[attr-defined]
            elif kind is ast.Yield or kind is ast.YieldFrom:
                scope.yields.append(node)  # type: ignore[arg-type]
            elif kind is ast.Constant or kind is ast.Name:
                continue
            for name in node._fields:
                value = getattr(node, name, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            item.dll_parent = node  # type: ignore[attr-defined]
                            stack.append(item)
                elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                    value.dll_parent = node  # type: ignore[attr-defined]
                    stack.append(value)

    def _mutation(self, node: ast.Call, block: Block) -> None:
        """`x.attr.append(value)` and its kin add an element; `x.attr.close()` ends a handle."""
        function = node.func
        if not isinstance(function, ast.Attribute):
            return
        if function.attr in ("close", "shutdown", "release", "terminate"):
            self.scope.closes.append(node)
        if function.attr in ("append", "add", "extend", "insert", "setdefault", "appendleft") and node.args:
            kind = "each" if function.attr == "extend" else "assign"
            value = node.args[-1]
            if isinstance(function.value, ast.Subscript) and isinstance(function.value.value, ast.Attribute):
                binding = Binding(function.value.value.attr, kind, node, block, value)
                self.scope.writes.append(AttributeWrite(binding.name, function.value.value, binding, True))
            elif isinstance(function.value, ast.Attribute):
                binding = Binding(function.value.attr, kind, node, block, value)
                self.scope.writes.append(AttributeWrite(function.value.attr, function.value, binding, True))
            elif isinstance(function.value, ast.Name):
                binding = Binding(function.value.id, kind, node, block, value)
                self.scope.filled.setdefault(function.value.id, []).append(binding)
        elif function.attr == "__setattr__" and len(node.args) == 3:
            self._set_attribute(node, node.args, block)

    def _set_attribute(self, node: ast.Call, arguments: list[ast.expr], block: Block) -> None:
        holder, name, value = arguments
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            target = ast.Attribute(value=holder, attr=name.value, ctx=ast.Store())
            ast.copy_location(target, node)
            target.dll_parent = node  # type: ignore[attr-defined]
            binding = Binding(name.value, "assign", node, block, value)
            self.scope.writes.append(AttributeWrite(name.value, target, binding, False))

    def _target(self, target: ast.AST, kind: str, value: ast.AST | None, node: ast.AST, block: Block) -> None:
        """Bind what stands left of an assignment, a `for`, an `as`."""
        pending = [(target, kind, value, 0)]
        while pending:
            target, kind, value, index = pending.pop()
            if isinstance(target, ast.Name):
                self._bind(Binding(target.id, kind, node, block, value, index))
            elif isinstance(target, ast.Starred):
                pending.append((target.value, "unknown", None, 0))
            elif isinstance(target, (ast.Tuple, ast.List)):
                pending.extend(_unpack(target, kind, value))
            elif isinstance(target, ast.Attribute):
                binding = Binding(target.attr, kind, node, block, value, index)
                self.scope.writes.append(AttributeWrite(target.attr, target, binding, False))
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
                binding = Binding(target.value.attr, kind, node, block, value, index)
                self.scope.writes.append(AttributeWrite(target.value.attr, target.value, binding, True))
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                binding = Binding(target.value.id, kind, node, block, value, index)
                self.scope.filled.setdefault(target.value.id, []).append(binding)

    def _assign(self, node: ast.Assign, block: Block) -> None:
        for target in node.targets:
            self._target(target, "assign", node.value, node, block)

    def _annotated(self, node: ast.AnnAssign, block: Block) -> None:
        if node.value is not None:
            self._target(node.target, "assign", node.value, node, block)
        elif isinstance(node.target, ast.Name) and isinstance(self.scope, ClassScope):
            self._bind(Binding(node.target.id, "unknown", node, block))

    def _augmented(self, node: ast.AugAssign, block: Block) -> None:
        self._target(node.target, "augmented", node, node, block)

    def _for(self, node: ast.For | ast.AsyncFor, block: Block) -> None:
        self.scope.loops.append(node)
        self._target(node.target, "each", node.iter, node, Block(block, node, "body"))

    def _with(self, node: ast.With | ast.AsyncWith, block: Block) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self._target(item.optional_vars, "with", item.context_expr, node, block)

    def _import(self, node: ast.Import | ast.ImportFrom, block: Block) -> None:
        for alias in node.names:
            name = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
            self._bind(Binding(name, "import", node, block, alias))

    def _global(self, node: ast.Global | ast.Nonlocal, block: Block) -> None:
        for name in node.names:
            self._bind(Binding(name, "global", node, block))


_BINDERS = {
    ast.Assign: _Indexer._assign,
    ast.AnnAssign: _Indexer._annotated,
    ast.AugAssign: _Indexer._augmented,
    ast.For: _Indexer._for,
    ast.AsyncFor: _Indexer._for,
    ast.With: _Indexer._with,
    ast.AsyncWith: _Indexer._with,
    ast.Import: _Indexer._import,
    ast.ImportFrom: _Indexer._import,
    ast.Global: _Indexer._global,
    ast.Nonlocal: _Indexer._global,
}


def _unpack(
    target: ast.Tuple | ast.List, kind: str, value: ast.AST | None
) -> Iterator[tuple[ast.AST, str, ast.AST | None, int]]:
    """The parts of `a, b = value`, each with the part of the value that it gets where that is visible."""
    starred = any(isinstance(part, ast.Starred) for part in target.elts)
    for number, part in enumerate(target.elts):
        if kind == "assign" and not starred and isinstance(value, (ast.Tuple, ast.List)):
            if len(value.elts) == len(target.elts):
                yield part, "assign", value.elts[number], 0
                continue
        if kind == "assign" and not starred and value is not None:
            yield part, "item", value, number
        elif kind == "each" and not starred and value is not None:
            yield part, "each item", value, number
        else:
            yield part, "unknown", None, 0


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _position(item: Binding | ast.AST) -> tuple[int, int]:
    node = item.node if isinstance(item, Binding) else item
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
