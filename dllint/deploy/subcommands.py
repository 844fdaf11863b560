"""What of a script runs by what it is told: `cli.py serve` trains nothing, though `cli.py train` would."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from dllint.code.language.conditions import leaves, without_not
from dllint.code.language.importing import modules_used
from dllint.code.language.scopes import FunctionNode, FunctionScope, dotted, last_name
from dllint.code.loaders.loader import Loader
from dllint.deploy.flags import Flags
from dllint.deploy.reached import is_class_named, way_to
from dllint.deploy.runs import ScriptRun
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_COMMAND = "command"
"""What click and typer decorate a command with."""
_PARSERS = b".add_subparsers("
"""What a module has that makes the parser of a script with commands."""
_CALLS_BY_NAME = pattern(rb"\bglobals\(\)|Fire\(|\blocals\(\)|__dict__|(?<![.\w])eval\(")
"""Ways to get at a function by a word: which one runs, no name of it tells."""


def of_chosen(run: ScriptRun, loaders: list[Loader], plan: Plan) -> list[Loader]:
    """Those of the loaders that a script leads to which it builds with the words that it is passed."""
    if not loaders or not run.arguments or run.module is None or _CALLS_BY_NAME.search(run.module.data):
        return loaders
    declaring = [other.scope.node for other in plan.program.imports_of(run.module) if other.has(_PARSERS)]
    chosen = _Chosen(run, run.module.scope.node, declaring)
    if not chosen.leaves_out:
        return loaders
    imports = filter(chosen.needs, chosen.imports)
    imported = [other for node in imports for other in modules_used(plan.program.modules, run.module, node)]
    reached = {run.module}.union(*(plan.reached_from(other) for other in imported))
    own = (loader for loader in loaders if loader.callers <= reached and chosen.comes_to(loader))
    others = reached - {run.module}
    return [loader for loader in own if not chosen.leaves_class_out(loader) or is_class_named(loader, others)]


class _Chosen:
    """The nodes of a script that a run may come to: not the branches, and not the functions, of other commands."""

    def __init__(self, run: ScriptRun, tree: ast.AST, declaring: Sequence[ast.AST]) -> None:
        self._run = run
        self._tree = tree
        self._functions = {n.name: n for n in getattr(tree, "body", ()) if isinstance(n, ast.FunctionDef)}
        self._told = _Told(run, tree, declaring)
        self._names: set[str] = set()
        self._pending: list[ast.AST] = [tree]
        self._nodes: set[int] = set()
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.leaves_out = False
        """Whether there is anything that it does not come to."""
        entered: set[str] = set()
        while self._pending:
            self._enter(self._pending.pop(), entered)

    def comes_to(self, loader: Loader) -> bool:
        """Whether the script, as far as the way to a loader leads through it, comes there."""
        return all(id(node) in self._nodes for node, module in way_to(loader) if module is self._run.module)

    def leaves_class_out(self, loader: Loader) -> bool:
        """Whether the script names the class whose hook builds a loader (a DataModule), but only in what the run does
        not come to."""
        scope = loader.start
        owner = scope.owner.name if isinstance(scope, FunctionScope) and scope.owner is not None else ""
        return owner in self._all_names - self._names

    def needs(self, node: ast.Import | ast.ImportFrom) -> bool:
        """Whether a run may need an import: not where what it brings is only named in what the run does not come to."""
        names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        return not names.isdisjoint(self._names) or names.isdisjoint(self._all_names)

    @cached_property
    def _all_names(self) -> set[str]:
        return {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}

    def _enter(self, node: ast.AST, entered: set[str]) -> None:
        """Take in what is passed within a node, and the functions that it names."""
        for part in self._passed(node):
            self._nodes.add(id(part))
            if isinstance(part, (ast.Import, ast.ImportFrom)):
                self.imports.append(part)
            name = part.id if isinstance(part, ast.Name) else ""
            self._names.add(name)
            if name in self._functions and name not in entered:
                entered.add(name)
                self._pending.append(self._functions[name])

    def _passed(self, node: ast.AST) -> Iterator[ast.AST]:
        stack = [node]
        while stack:
            at = stack.pop()
            yield at
            for _, value in ast.iter_fields(at):
                parts = value if isinstance(value, list) else [value]
                stack += self._kept(at, [part for part in parts if isinstance(part, ast.AST)])

    def _kept(self, around: ast.AST, parts: Sequence[ast.AST]) -> Iterator[ast.AST]:
        """Those parts of one field of a node that a run may come to."""
        for part in parts:
            if self._is_another(part) or (isinstance(around, ast.If) and self._is_past(around, part)):
                self.leaves_out = True
                continue
            if isinstance(part, ast.FunctionDef) and self._functions.get(part.name) is part:
                if self._told.is_decorated_as_chosen(part):
                    self._pending.append(part)
                continue
            yield part
            if isinstance(part, ast.If) and self._told.verdict(part.test) and leaves(part.body):
                self.leaves_out = True
                return

    def _is_past(self, owner: ast.If, part: ast.AST) -> bool:
        verdict = self._told.verdict(owner.test)
        return verdict is not None and part is not owner.test and (part in owner.body) is not verdict

    def _is_another(self, part: ast.AST) -> bool:
        """Whether a part is of a command that is not chosen."""
        if isinstance(part, ast.match_case):
            return self._told.is_other_case(part)
        if isinstance(part, ast.FunctionDef):
            return self._functions.get(part.name) is part and self._told.is_decorated_as_other(part)
        return isinstance(part, ast.Call) and self._told.is_default_of_other(part)


class _Told:
    """What the words say that a script is passed: which command, and the values of its options."""

    def __init__(self, run: ScriptRun, tree: ast.AST, declaring: Sequence[ast.AST]) -> None:
        self._values = {name: value for name, value in run.given().items() if "$" not in value}
        self._commands: set[str] = set()
        self._flags = Flags(run, tree, declaring)
        self._parsers: dict[str, str] = {}
        """The command that each variable holds the parser of."""
        places: list[str] = []
        decorated: list[tuple[str, ...]] = []
        """The names of each command of click or typer."""
        for node in chain.from_iterable(map(ast.walk, (tree, *declaring))):
            if isinstance(node, ast.Call):
                places += self._declared(node)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._parsers[node.targets[0].id] = _added(node.value)
            elif isinstance(node, ast.FunctionDef):
                decorated += [names] if (names := _decorated(node)) else []
        self._commands.update(chain.from_iterable(decorated))
        self._command = next((word for word in run.arguments if word in self._commands), "")
        first = run.arguments[0]
        self._first = first if not first.startswith("-") and "$" not in first else ""
        if not self._command and "/" in self._first and len(decorated) > 1:
            self._command = self._first  # a path is no command: click and typer refuse it
        if places:
            self._values.setdefault(places[0], self._command or self._first)

    def _declared(self, call: ast.Call) -> Iterator[str]:
        """The name that a call gives to a word of the command line; what the word may be is taken in."""
        name, first = last_name(call.func), _text(call.args[0]) if call.args else ""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if name == "add_parser" and first:
            self._commands.add(first)
        elif name == "add_subparsers" and "dest" in given:
            yield _text(given["dest"])
        elif name == "add_argument" and first and not first.startswith("-"):
            self._commands.update(_texts(given["choices"]) if "choices" in given else ())
            yield first

    def verdict(self, test: ast.expr) -> bool | None:
        """How a test of what the script is passed comes out; None where it asks for something else, too."""
        bare, is_plain = without_not(test, True)
        if bare is not test:
            inner = self.verdict(bare)
            return None if inner is None else inner is is_plain
        if isinstance(test, ast.BoolOp):
            found = [self.verdict(part) for part in test.values]
            decisive = isinstance(test.op, ast.Or)
            return decisive if decisive in found else None if None in found else not decisive
        if isinstance(test, ast.Attribute):
            return self._flags.verdict(test)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        value, wanted = self._value(test.left), _texts(test.comparators[0])
        if value is None or not wanted:
            return None
        if isinstance(test.ops[0], (ast.Eq, ast.In)):
            return value in wanted
        return value not in wanted if isinstance(test.ops[0], (ast.NotEq, ast.NotIn)) else None

    def _value(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Subscript) and dotted(node.value) == "sys.argv":
            is_first = isinstance(node.slice, ast.Constant) and node.slice.value == 1
            return (self._first or None) if is_first else None
        return (self._values.get(last_name(node)) or None) if isinstance(node, (ast.Name, ast.Attribute)) else None

    def is_other_case(self, case: ast.match_case) -> bool:
        """`case "train":` where the command is another."""
        patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        texts = [_text(each.value) for each in patterns if isinstance(each, ast.MatchValue)]
        return bool(texts) and bool(self._command) and self._command not in texts and "" not in texts

    def is_decorated_as_chosen(self, function: FunctionNode) -> bool:
        """Whether a function is the command that is chosen, or may be: nothing else calls it."""
        return bool(_decorated(function))

    def is_decorated_as_other(self, function: FunctionNode) -> bool:
        """Whether a function is another command of click or typer."""
        names = _decorated(function)
        return bool(names) and bool(self._command) and self._command not in names

    def is_default_of_other(self, call: ast.Call) -> bool:
        """`train.set_defaults(func=run_training)`, of the parser of another command."""
        if last_name(call.func) != "set_defaults" or not isinstance(call.func, ast.Attribute) or not self._command:
            return False
        holder = call.func.value
        name = self._parsers.get(holder.id, "") if isinstance(holder, ast.Name) else _added(holder)
        return bool(name) and name != self._command


def _added(node: ast.AST) -> str:
    """The command whose parser an expression makes: `commands.add_parser("train")`; empty for any other."""
    is_parser = isinstance(node, ast.Call) and last_name(node.func) == "add_parser" and bool(node.args)
    return _text(node.args[0]) if is_parser and isinstance(node, ast.Call) else ""


def _decorated(function: FunctionNode) -> tuple[str, ...]:
    """The names by which click or typer know a function as a command; none if they do not."""
    for decorator in getattr(function, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Attribute) and called.attr == _COMMAND:
            given = decorator.args[0] if isinstance(decorator, ast.Call) and decorator.args else None
            own = getattr(function, "name", "")
            return (_text(given),) if given is not None else (own, own.replace("_", "-"))
    return ()


def _texts(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    texts = [_text(part) for part in parts]
    return texts if all(texts) else []


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
