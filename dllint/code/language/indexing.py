"""The walk that indexes a scope: it collects its facts, and links its nodes to what is around them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.links import Block, parent, set_block, set_bound, set_parent, set_scope

if TYPE_CHECKING:
    from dllint.code.language.scopes import Scope

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NODE: Any = ast.AST
"""Any: the walk sets links, which `ast` does not declare."""
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)

_Part = tuple[ast.AST, list[ast.stmt], Block]
"""A node, some statements of it, and the block that they make."""
_Target = tuple[ast.AST, str, ast.AST | None, tuple[int, ...]]
"""What is bound, and the kind, value and indexes of its `Binding`."""


def index(scope: Scope) -> None:
    """Collect the facts of a scope."""
    _Indexer(scope).run()


class _Indexer:
    """The one walk over a scope. Expressions go over an explicit stack, so that no nesting in a file ends it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def run(self) -> None:
        """Take in the whole scope, then bring what it holds into the order of the source."""
        scope = self.scope
        node = scope.node
        set_scope(node, scope)
        root = Block(None, None, "body")
        if isinstance(node, ast.Lambda):
            self._parameters(node.args, root)
            self._expression(node.body, node, root)
            return
        if isinstance(node, _FUNCTIONS):
            self._parameters(node.args, root)
        pending: list[_Part] = [(node, getattr(node, "body", []), root)]
        while pending:
            owner, statements, block = pending.pop()
            for statement in statements:
                set_parent(statement, owner)
                set_block(statement, block)
                pending.extend(self._statement(statement, block))
        for bindings in scope.bindings.values():
            bindings.sort(key=_position)
        scope.calls.sort(key=_position)
        scope.writes.sort(key=lambda write: _position(write.node))

    def _parameters(self, arguments: ast.arguments, block: Block) -> None:
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        for argument in named + extra:
            set_parent(argument, self.scope.node)
            self._bind(Binding(argument.arg, "parameter", argument, block))

    def _bind(self, binding: Binding) -> None:
        self.scope.bindings.setdefault(binding.name, []).append(binding)
        if isinstance(binding.node, ast.comprehension):
            set_bound(binding.node, binding.name, binding)

    def _statement(self, node: ast.stmt, block: Block) -> list[_Part]:
        """Take in one statement; give back the blocks within it."""
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self._nested(node, block)
            return []
        inner: list[_Part] = []
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                inner += self._listed(node, name, value, block)
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                self._expression(value, node, block)
        note = _STATEMENTS.get(type(node))
        if note is not None:
            note(self, node, block)
        return inner

    def _listed(self, node: ast.stmt, name: str, items: list[Any], block: Block) -> list[_Part]:
        """Take in the field `name` of a statement: statements, handlers, cases or expressions."""
        if items and isinstance(items[0], ast.stmt):
            # The body of a `with` runs whenever the statement does: it is no block of its own.
            same = isinstance(node, (ast.With, ast.AsyncWith))
            return [(node, items, block if same else Block(block, node, name))]
        inner: list[_Part] = []
        for number, item in enumerate(items):
            if isinstance(item, (ast.ExceptHandler, ast.match_case)):
                set_parent(item, node)
                inner.append((item, item.body, Block(block, node, f"{name}{number}")))
                self._handler(item, block)
            elif isinstance(item, ast.AST):
                self._expression(item, node, block)
        return inner

    def _handler(self, item: ast.ExceptHandler | ast.match_case, block: Block) -> None:
        if isinstance(item, ast.ExceptHandler):
            if item.type is not None:
                self._expression(item.type, item, block)
            if item.name:
                self._bind(Binding(item.name, "unknown", item, block))
            return
        for part in (item.pattern, item.guard):
            if part is None:
                continue
            self._expression(part, item, block)
            for node in ast.walk(part):
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(name, str):
                    self._bind(Binding(name, "unknown", item, block))

    def _nested(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, block: Block) -> None:
        self.scope.nest(node, node.name)
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
        set_parent(holder, parent(node))
        set_block(holder, block)
        holder.lineno, holder.col_offset = node.lineno, node.col_offset
        for expression in outside:
            self._expression(expression, holder, block)

    def _expression(self, root: ast.AST, owner: ast.AST, block: Block) -> None:
        set_parent(root, owner)
        stack: list[Any] = [root]
        while stack:
            node = stack.pop()
            kind = node.__class__
            note = _EXPRESSIONS.get(kind)
            if note is not None:
                note(self, node, owner, block)
            if kind in _ENDS:
                continue
            for name in _PARTS.get(kind) or kind._fields:
                value = getattr(node, name, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, _NODE):
                            item.dll_parent = node
                            stack.append(item)
                elif isinstance(value, _NODE) and not isinstance(value, _LEAVES):
                    value.dll_parent = node
                    stack.append(value)

    def _call(self, node: ast.Call, owner: ast.AST, block: Block) -> None:
        self.scope.calls.append(node)
        self._mutation(node, block)

    def _attribute(self, node: ast.Attribute, owner: ast.AST, block: Block) -> None:
        self.scope.attributes.append(node)

    def _subscript(self, node: ast.Subscript, owner: ast.AST, block: Block) -> None:
        self.scope.subscripts.append(node)

    def _lambda(self, node: ast.Lambda, owner: ast.AST, block: Block) -> None:
        self.scope.nest(node, "<lambda>")
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._expression(default, owner, block)

    def _comprehension(self, node: ast.comprehension, owner: ast.AST, block: Block) -> None:
        self.scope.loops.append(node)
        self._target(node.target, "each", node.iter, node, block)

    def _starred(self, node: ast.Starred, owner: ast.AST, block: Block) -> None:
        if isinstance(node.ctx, ast.Load):
            self.scope.unpacked.append(node)

    def _named(self, node: ast.NamedExpr, owner: ast.AST, block: Block) -> None:
        self._target(node.target, "assign", node.value, node, block)

    def _yield(self, node: ast.Yield | ast.YieldFrom, owner: ast.AST, block: Block) -> None:
        self.scope.yields.append(node)

    def _mutation(self, node: ast.Call, block: Block) -> None:
        """`x.attr.append(value)` and its kin add an element; `x.attr.close()` ends a handle."""
        function = node.func
        if isinstance(function, ast.Name) and function.id == "setattr" and len(node.args) == 3:
            self._set_attribute(node, node.args, block)
        if not isinstance(function, ast.Attribute):
            return
        if function.attr in ("close", "shutdown", "release", "terminate"):
            self.scope.closes.append(node)
        if function.attr == "__setattr__" and len(node.args) == 3:
            self._set_attribute(node, node.args, block)
        kind = "each" if function.attr == "extend" else "assign"
        for value in _added(function.attr, node):
            if isinstance(function.value, ast.Subscript) and isinstance(function.value.value, ast.Attribute):
                binding = Binding(function.value.value.attr, kind, node, block, value)
                self.scope.writes.append(AttributeWrite(binding.name, function.value.value, binding, True))
            elif isinstance(function.value, ast.Attribute):
                binding = Binding(function.value.attr, kind, node, block, value)
                self.scope.writes.append(AttributeWrite(function.value.attr, function.value, binding, True))
            elif isinstance(function.value, ast.Name):
                binding = Binding(function.value.id, kind, node, block, value)
                self.scope.filled.setdefault(function.value.id, []).append(binding)

    def _set_attribute(self, node: ast.AST, arguments: list[ast.expr], block: Block) -> None:
        holder, name, value = arguments
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            target = ast.Attribute(value=holder, attr=name.value, ctx=ast.Store())
            ast.copy_location(target, node)
            set_parent(target, node)
            binding = Binding(name.value, "assign", node, block, value)
            self.scope.writes.append(AttributeWrite(name.value, target, binding, False))

    def _target(self, target: ast.AST, kind: str, value: ast.AST | None, node: ast.AST, block: Block) -> None:
        """Bind what stands left of an assignment, a `for`, an `as`."""
        pending: list[_Target] = [(target, kind, value, ())]
        while pending:
            target, kind, value, indexes = pending.pop()
            if isinstance(target, ast.Starred):
                pending.append((target.value, "unknown", None, ()))
            elif isinstance(target, (ast.Tuple, ast.List)):
                pending.extend(_unpack(target, kind, value, indexes))
            else:
                first, inner = (indexes[0], indexes[1:]) if indexes else (0, ())
                self._bind_target(target, Binding(_last_name(target), kind, node, block, value, first, inner))

    def _bind_target(self, target: ast.AST, binding: Binding) -> None:
        """Record a binding of a name, of an attribute, or of an element of either."""
        if isinstance(target, ast.Name):
            self._bind(binding)
        elif isinstance(target, ast.Attribute):
            self.scope.writes.append(AttributeWrite(binding.name, target, binding, False))
        elif isinstance(target, ast.Subscript) and _is_state(target.value) and isinstance(binding.value, ast.expr):
            self._set_attribute(binding.node, [target.value.value, target.slice, binding.value], binding.block)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
            self.scope.writes.append(AttributeWrite(binding.name, target.value, binding, True))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self.scope.filled.setdefault(binding.name, []).append(binding)

    def _assign(self, node: ast.Assign, block: Block) -> None:
        for target in node.targets:
            self._target(target, "assign", node.value, node, block)

    def _annotated(self, node: ast.AnnAssign, block: Block) -> None:
        if node.value is not None:
            self._target(node.target, "assign", node.value, node, block)
        elif isinstance(node.target, ast.Name) and isinstance(self.scope.node, ast.ClassDef):
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

    def _return(self, node: ast.Return, block: Block) -> None:
        self.scope.returns.append(node)

    def _raise(self, node: ast.Raise, block: Block) -> None:
        self.scope.raises.append(node)

    def _delete(self, node: ast.Delete, block: Block) -> None:
        self.scope.deletes.extend(node.targets)


_STATEMENTS: dict[type[ast.AST], Callable[[_Indexer, Any, Block], None]] = {
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
    ast.Return: _Indexer._return,
    ast.Raise: _Indexer._raise,
    ast.Delete: _Indexer._delete,
}

_EXPRESSIONS: dict[type[ast.AST], Callable[[_Indexer, Any, ast.AST, Block], None]] = {
    ast.Call: _Indexer._call,
    ast.Attribute: _Indexer._attribute,
    ast.Subscript: _Indexer._subscript,
    ast.Lambda: _Indexer._lambda,
    ast.comprehension: _Indexer._comprehension,
    ast.NamedExpr: _Indexer._named,
    ast.Starred: _Indexer._starred,
    ast.Yield: _Indexer._yield,
    ast.YieldFrom: _Indexer._yield,
}

_PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Call: ("func", "args", "keywords"),
    ast.Attribute: ("value",),
    ast.Subscript: ("value", "slice"),
    ast.keyword: ("value",),
    ast.List: ("elts",),
    ast.Tuple: ("elts",),
    ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",),
    ast.BoolOp: ("values",),
    ast.Compare: ("left", "comparators"),
}
"""The fields that hold expressions, of the kinds that most of a file is made of and that have other fields too."""
_ENDS = frozenset({ast.Constant, ast.Name, ast.Lambda})
"""Below these there is nothing that belongs to the scope."""


def _unpack(
    target: ast.Tuple | ast.List, kind: str, value: ast.AST | None, indexes: tuple[int, ...]
) -> Iterator[_Target]:
    """The parts of `a, b = value`, each with the part of the value that it gets where that is visible."""
    starred = any(isinstance(part, ast.Starred) for part in target.elts)
    for number, part in enumerate(target.elts):
        if starred or value is None:
            yield part, "unknown", None, ()
        elif kind == "assign" and _is_as_long(value, target):
            yield part, "assign", value.elts[number], ()
        elif kind in _UNPACKED:
            yield part, _UNPACKED[kind], value, (*indexes, number)
        else:
            yield part, "unknown", None, ()


_UNPACKED = {"assign": "item", "item": "item", "each": "each item", "each item": "each item"}
"""What the parts of a target are, where the whole is of a kind."""


def _added(method: str, call: ast.Call) -> list[ast.expr]:
    """What a method adds to the container that it is called on: of `update`, what is written out."""
    if method in ("append", "add", "extend", "insert", "setdefault", "appendleft"):
        return call.args[-1:]
    if method != "update":
        return []
    given = [value for argument in call.args if isinstance(argument, ast.Dict) for value in argument.values]
    return given + [keyword.value for keyword in call.keywords if keyword.arg is not None]


def _is_state(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether it is `self.__dict__`, an element of which is an attribute."""
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _last_name(target: ast.AST) -> str:
    """The name that a target binds, or the attribute, or what an element of which it sets."""
    if isinstance(target, ast.Subscript):
        target = target.value
    return str(getattr(target, "id", getattr(target, "attr", "")))


def _is_as_long(value: ast.AST | None, target: ast.Tuple | ast.List) -> TypeGuard[ast.Tuple | ast.List]:
    """Whether a value is spelled out with as many parts as a target has."""
    return isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _position(item: Binding | ast.AST) -> tuple[int, int]:
    node = item.node if isinstance(item, Binding) else item
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
