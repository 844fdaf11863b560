"""Command lines of docker in Python text: lists of words (`["docker", "run", ...]`), and strings for a shell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import Scope, dotted, last_name
from dllint.code.language.values import UNKNOWNS, Collection, Const, External, Frame, Values
from dllint.deploy.commands import Command, Script, Word, commands_in
from dllint.deploy.texts import DeployFile
from dllint.deploy.wrappers import unwrapped
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_STARTS = pattern(rb"docker|podman")
_SHELL_CALLS = frozenset(
    {"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen"}
    | {"subprocess.getoutput", "subprocess.getstatusoutput", "os.system", "os.popen", "shlex.split"}
    | {f"get_ipython.{method}" for method in ("system", "getoutput", "run_line_magic", "run_cell_magic")}
    | {"asyncio.create_subprocess_shell", "fabric.api.run", "fabric.api.local", "fabric.api.sudo"}
)
_SHELL_NAMES = frozenset(name.rpartition(".")[2] for name in _SHELL_CALLS)
_PROGRAM = pattern(r"docker|podman|sudo$|^env$")
_SUBCOMMANDS = ("run", "create", "container", "build", "buildx", "compose")
_SHELL_MAGICS = ("bash", "sh", "sx", "system", "!")
_PLACEHOLDER = pattern(r"\{\w*(?:![rs])?(?::[^{}]*)?\}|%[sdrf]|%\(\w+\)[sdrf]")
_MOST_WORDS = 200


def _is_program(text: object) -> bool:
    return isinstance(text, str) and _PROGRAM.search(text) is not None


def commands_of(module: Module, file: DeployFile, plan: Plan) -> Iterator[Command]:
    """The command lines that a Python module spells out."""
    return _Reader(module, plan, file).commands()


class _Reader:
    def __init__(self, module: Module, plan: Plan, file: DeployFile) -> None:
        self._module = module
        self._plan = plan
        self._file = file
        self._evaluator = plan.program.evaluator

    def commands(self) -> Iterator[Command]:
        """See `commands_of`."""
        scopes: list[Scope] = [self._module.scope]
        for scope in scopes:
            scopes.extend(scope.index().children.values())
        for node in ast.walk(self._module.scope.node):
            if isinstance(node, (ast.List, ast.Tuple)) and isinstance(getattr(node, "ctx", None), ast.Load):
                yield from self._of_list(node)
            elif isinstance(node, ast.Call) and last_name(node.func) in _SHELL_NAMES and node.args:
                yield from self._of_call(node)

    # Lists of words

    def _of_list(self, node: ast.List | ast.Tuple) -> Iterator[Command]:
        head = _head(node)
        if not (self._may_start(node.elts) if head is None else self._continues(head)):
            return
        whole = _whole(node)
        if self._is_continued(whole):
            return
        words = unwrapped(self._words(whole, 0) + self._later_words(whole))
        if words:
            at = self._module.location(node)
            yield Command(tuple(words[:_MOST_WORDS]), at, self._file, self._plan.root)

    def _may_start(self, items: list[ast.expr]) -> bool:
        """Whether a list of words begins with docker, as far as its own text or, beside a `run`, its values show."""
        if any(isinstance(item, ast.Constant) and _is_program(item.value) for item in items[:2]):
            return True
        if not any(isinstance(item, ast.Constant) and item.value in _SUBCOMMANDS for item in items[1:4]):
            return False
        return any(_is_program(self._text(item)) for item in items[:2])

    def _continues(self, head: ast.expr) -> bool:
        """Whether what a list begins with is the beginning of a command line: `command` in `[*command, "train.py"]`."""
        words = self._words(head, 1)
        return bool(words) and _is_program(words[0].text)

    def _is_continued(self, whole: ast.expr) -> bool:
        """Whether a list is given a name, and other lists begin with it: those are the command lines."""
        found = _bound(whole)
        if found is None:
            return False
        lists = (node for node in ast.walk(found[1].node) if isinstance(node, (ast.List, ast.Tuple)))
        return any(isinstance(head := _head(node), ast.Name) and head.id == found[0] for node in lists)

    def _words(self, node: ast.expr, depth: int) -> list[Word]:
        """The words of a list, of lists that are added, or of what holds one."""
        if depth > 6:
            return [self._unknown(node, many=True)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._words(node.left, depth + 1) + self._words(node.right, depth + 1)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [word for item in node.elts for word in self._item(item, depth)]
        values = self._values(node)
        found = values[0] if len(values) == 1 else None
        if isinstance(found, Collection) and found.kind in ("list", "tuple") and found.each is None:
            items = [word for item in found.items for word in self._item(item, depth + 1)]
            return items + (self._later_words(found.node) if isinstance(found.node, ast.expr) else [])
        return [self._unknown(node, many=True)]

    def _item(self, node: ast.expr, depth: int) -> list[Word]:
        if isinstance(node, ast.Starred):
            return self._words(node.value, depth + 1)
        text = self._text(node)
        if text is not None:
            return [Word(text, self._module.location(node))]
        return [self._unknown(node)]

    def _unknown(self, node: ast.expr, *, many: bool = False) -> Word:
        text = self._template(node) if isinstance(node, ast.JoinedStr) else f"${last_name(node) or '_'}"
        return Word(text, self._module.location(node), known=False, many=many)

    def _later_words(self, node: ast.expr) -> list[Word]:
        """What is added to the list through the name that it is given."""
        bound = _bound(node)
        if bound is None:
            return []
        found = sorted(self._additions(*bound, node), key=lambda addition: addition[0])
        return [word for _, words in found for word in words]

    def _additions(self, name: str, scope: Scope, node: ast.expr) -> Iterator[tuple[int, list[Word]]]:
        for later in ast.walk(scope.node):
            if getattr(later, "lineno", 0) < node.lineno:
                continue
            if isinstance(later, ast.AugAssign) and isinstance(later.target, ast.Name) and later.target.id == name:
                yield later.lineno, self._words(later.value, 1)
            elif isinstance(later, ast.Call) and isinstance(later.func, ast.Attribute) and later.args:
                holder = later.func.value
                if isinstance(holder, ast.Name) and holder.id == name:
                    yield later.lineno, self._added_by(later.func.attr, later)

    def _added_by(self, method: str, call: ast.Call) -> list[Word]:
        if method == "append":
            return self._item(call.args[0], 1)
        if method == "extend":
            return self._words(call.args[0], 1)
        return [self._unknown(call, many=True)] if method == "insert" else []

    # Strings for a shell

    def _of_call(self, call: ast.Call) -> Iterator[Command]:
        callee = self._values(call.func)
        names = {value.name for value in callee if isinstance(value, External)} or {_name(call.func)}
        given = _given_to_shell(call)
        if given is None or not names & _SHELL_CALLS:
            return
        text = self._script(given)
        if text is None or not _STARTS.search(text.encode(errors="replace")):
            return
        at = self._module.location(given)
        for command in commands_in(Script(Mapped(text), self._plan.root), self._file):
            words = tuple(word._replace(at=at, source=None, file=None) for word in command.words)
            yield command._replace(words=words, at=at)

    def _script(self, node: ast.expr) -> str | None:
        """The text of a string, with `$name` for what is put in; None where it is not spelled out."""
        if isinstance(node, ast.JoinedStr):
            return self._template(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            text = self._script(node.func.value)
            return _PLACEHOLDER.sub("$_", text) if text is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            text = self._script(node.left)
            return _PLACEHOLDER.sub("$_", text) if text is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._script(side) for side in (node.left, node.right)]
            return "".join("$_" if part is None else part for part in parts)
        if isinstance(node, ast.Name):
            return self._named(node)
        return self._text(node)

    def _named(self, node: ast.Name) -> str | None:
        """What a name holds, if it is bound once and to a string that is spelled out."""
        bindings = scope_of(node).index().bindings.get(node.id, [])
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        if isinstance(value, (ast.JoinedStr, ast.Call, ast.BinOp)):
            return self._script(value)
        return self._text(node)

    def _template(self, node: ast.JoinedStr) -> str:
        pieces = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                pieces.append(self._text(part.value) or f"${{{last_name(part.value) or '_'}}}")
            elif isinstance(part, ast.Constant):
                pieces.append(str(part.value))
        return "".join(pieces)

    # Values

    def _text(self, node: ast.expr) -> str | None:
        """The one string or number that an expression is; None where it is not known."""
        values = self._values(node)
        only = values[0] if len(values) == 1 else None
        if isinstance(only, Const) and isinstance(only.value, (str, int, float)) and not isinstance(only.value, bool):
            return str(only.value)
        return None

    def _values(self, node: ast.expr) -> Values:
        try:
            return self._evaluator.values(node, Frame(scope_of(node)))
        except LookupError:
            # An annotation, which is no code.
            return UNKNOWNS


def _name(function: ast.expr) -> str:
    """The dotted name of what is called; `get_ipython.system` of `get_ipython().system`."""
    inner = function.value if isinstance(function, ast.Attribute) else None
    if isinstance(inner, ast.Call) and last_name(inner.func) == "get_ipython":
        return f"get_ipython.{last_name(function)}"
    return dotted(function)


def _given_to_shell(call: ast.Call) -> ast.expr | None:
    """The argument that is a shell's; of a magic the last one, if it is one that hands it to a shell."""
    if not last_name(call.func).startswith("run_"):
        return call.args[0]
    magic = call.args[0]
    words = str(magic.value).split() if isinstance(magic, ast.Constant) else []
    return call.args[-1] if words[:1] and words[0] in _SHELL_MAGICS else None


def _bound(node: ast.expr) -> tuple[str, Scope] | None:
    """The name that a value is given, and the scope of that; None where it is given none."""
    statement = parent(node)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is not node:
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    name = next((target.id for target in targets if isinstance(target, ast.Name)), None)
    return (name, scope_of(statement)) if name is not None else None


def _head(node: ast.List | ast.Tuple) -> ast.expr | None:
    """What a list goes on: `command` in `[*command, ...]` and in `command + [...]`; None where it begins by itself."""
    around = parent(node)
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add) and around.right is node:
        return around.left if isinstance(around.left, ast.Name) else None
    first = node.elts[0] if node.elts else None
    return first.value if isinstance(first, ast.Starred) and isinstance(first.value, ast.Name) else None


def _whole(node: ast.expr) -> ast.expr:
    """The list with all that it goes on and that is added to it in the same expression."""
    around = parent(node)
    while isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add):
        if around.left is not node and not isinstance(around.left, ast.Name):
            break
        node, around = around, parent(around)
    return node
