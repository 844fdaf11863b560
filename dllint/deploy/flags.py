"""Switches of a script's command line: `if args.deep:` where `--deep` is a `store_true` that a run is given, or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from dllint.code.language.options import option_names
from dllint.code.language.scopes import last_name
from dllint.deploy.runs import ScriptRun

_ALL_OF_THEM = ("vars(", "__dict__")
_PARSES = ("parse_args", "parse_known_args")


class Flags:
    """What a run says of the switches that a script declares."""

    def __init__(self, run: ScriptRun, tree: ast.AST, declaring: Sequence[ast.AST]) -> None:
        self._arguments = run.arguments
        self._trees = (tree, *declaring)

    def verdict(self, test: ast.Attribute) -> bool | None:
        """Whether a switch is on; None for anything else, and where the words are not all known."""
        if not isinstance(test.value, ast.Name) or test.value.id not in self._parsed or self._is_filled_in:
            return None
        options = self._switches.get(test.attr)
        if not options or test.attr in self._stored:
            return None
        if not options.isdisjoint(self._arguments):
            return True
        return None if any(map(_may_be_any, self._arguments)) or self._is_abbreviated(options) else False

    def _is_abbreviated(self, options: set[str]) -> bool:
        """Whether a word is the start of an option, which argparse takes for it."""
        words = tuple(word for word in self._arguments if word.startswith("--") and len(word) > len("--"))
        return any(option.startswith(words) for option in options)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return [node for tree in self._trees for node in ast.walk(tree)]

    @cached_property
    def _switches(self) -> dict[str, set[str]]:
        """By the name that they are known by: the options of each switch that is off where nobody gives it."""
        found: dict[str, set[str]] = {}
        for call in self._declarations():
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            texts = {arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
            is_off = "default" not in given or _is(given["default"], False)
            is_switch = _is(given.get("action"), "store_true") and is_off
            for name in option_names(call):
                # A name that another option has, too, may be on by that one.
                found[name] = texts if is_switch and name not in found else set()
        return found

    def _declarations(self) -> Iterator[ast.Call]:
        return (call for call in self._calls if last_name(call.func) == "add_argument")

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return [node for node in self._nodes if isinstance(node, ast.Call)]

    @cached_property
    def _parsed(self) -> set[str]:
        """The variables that hold what the command line says: `args = parser.parse_args()`."""
        found: set[str] = set()
        for node in self._nodes:
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            if last_name(node.value.func) in _PARSES:
                target = node.targets[0]
                holder = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                found.add(holder.id if isinstance(holder, ast.Name) else "")
        return found

    @cached_property
    def _stored(self) -> set[str]:
        """The attributes that the script sets itself, and the switches that it gives another default."""
        attributes = (node for node in self._nodes if isinstance(node, ast.Attribute))
        found = {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
        defaults = (call for call in self._calls if last_name(call.func) == "set_defaults")
        return found.union(keyword.arg or "" for call in defaults for keyword in call.keywords)

    @cached_property
    def _is_filled_in(self) -> bool:
        """Whether the script may set any of them by a name that nobody sees: `setattr(args, key, value)`."""
        return any(
            last_name(call.func) == "setattr"
            or (last_name(call.func) == "update" and any(word in ast.unparse(call.func) for word in _ALL_OF_THEM))
            for call in self._calls
        )


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == value and type(node.value) is type(value)


def _may_be_any(word: str) -> bool:
    """Whether a word of a command may stand for others: it is unknown, a variable, or a file of words."""
    return not word or "$" in word or word.startswith("@")
