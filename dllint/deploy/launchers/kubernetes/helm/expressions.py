"""The expressions of Go templates, as far as a chart's own values decide them.

Whatever needs a cluster, a release or a named template is unknown, and so is all that depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.tree import Tree

_TOKEN = pattern(r'"(?:\\.|[^"\\])*"?|`[^`]*`|[()|]|[^\s()|"`]+')
_DEEPEST = 20
_VERB = pattern(r"%[svdq]")


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression yields: a value out of a file, a text, nothing at all, or what cannot be known."""

    tree: Tree | None = None
    text: str | None = None
    is_known: bool = True

    @property
    def truth(self) -> bool | None:
        """Whether a condition takes it for true; None where that is not known."""
        if not self.is_known:
            return None
        if self.tree is None:
            return bool(self.text)
        if self.tree.text is None:
            return bool(self.tree.pairs() or self.tree.items())
        is_number = self.tree.tag.endswith((":int", ":float"))
        return not (self.tree.is_false or self.tree.text == "" or (is_number and not self.tree.text.strip("0.")))

    @property
    def shown(self) -> str | None:
        """The text that it renders as; None where that is unknown, or a mapping or list."""
        if not self.is_known:
            return None
        return self.tree.text if self.tree is not None else self.text or ""


UNKNOWN = Value(is_known=False)
_NOTHING = Value()


class Values:
    """`.Values`: of several files the first that has a key wins."""

    def __init__(self, layers: Sequence[Tree] = ()) -> None:
        self._layers = layers
        self._found: dict[tuple[str, ...], Value] = {}

    def below(self, keys: tuple[str, ...]) -> Value:
        """The value below these keys; templates ask for the same ones over and over."""
        if not keys or not self._layers or keys[0] == "global":
            return UNKNOWN
        if keys not in self._found:
            tree = next((tree for layer in self._layers if (tree := layer.get(*keys)) is not None), None)
            self._found[keys] = Value(tree) if tree is not None else _NOTHING
        return self._found[keys]


@dataclass(slots=True)
class Scope:
    """What names stand for at one place of a template."""

    values: Values = field(default_factory=Values)
    chart: Tree | None = None
    """`.Chart`."""
    dot: Value | None = None
    """`.`, inside of `with` and `range`; None for the top."""
    variables: dict[str, Value] = field(default_factory=dict)

    def inside(self, dot: Value) -> Scope:
        """The scope of a `with` block."""
        return Scope(self.values, self.chart, dot, self.variables)

    def path(self, name: str) -> Value:
        """What a path such as `.Values.image.tag` leads to."""
        head, *keys = name.split(".")
        if head.startswith("$") and len(head) > 1:
            return _below(self.variables.get(head, UNKNOWN), keys)
        if head == "" and self.dot is not None:
            return _below(self.dot, [key for key in keys if key])
        if keys[:1] == ["Values"]:
            return self.values.below(tuple(keys[1:]))
        if keys[:1] == ["Chart"] and self.chart is not None and len(keys) == 2:
            found = self.chart.get(keys[1][:1].lower() + keys[1][1:])
            return Value(found) if found is not None else UNKNOWN
        return UNKNOWN


def _below(value: Value, keys: list[str]) -> Value:
    if not keys or not value.is_known:
        return value
    found = value.tree.get(*keys) if value.tree is not None else None
    return Value(found) if found is not None else _NOTHING


def evaluate(expression: str, scope: Scope) -> Value:
    """The value of an expression."""
    tokens = _TOKEN.findall(expression)
    return _Reader(tokens, scope).pipeline(0)


class _Reader:
    def __init__(self, tokens: list[str], scope: Scope) -> None:
        self.tokens = tokens
        self.scope = scope
        self.at = 0

    def pipeline(self, depth: int) -> Value:
        """`command | command ...` up to the end or a closing parenthesis."""
        value: Value | None = None
        while True:
            value = self._command(value, depth)
            if self.at < len(self.tokens) and self.tokens[self.at] == "|":
                self.at += 1
                continue
            self.at += 1
            return value

    def _command(self, piped: Value | None, depth: int) -> Value:
        name, arguments = "", []
        while self.at < len(self.tokens) and self.tokens[self.at] not in "|)":
            token = self.tokens[self.at]
            self.at += 1
            if token == "(":
                arguments.append(self.pipeline(depth + 1) if depth < _DEEPEST else UNKNOWN)
            elif token[0] in '"`.$' or token[0].isdigit() or token in ("true", "false", "nil"):
                arguments.append(self._operand(token))
            elif name or arguments:
                arguments.append(UNKNOWN)
            else:
                name = token
        if piped is not None:
            arguments.append(piped)
        if name:
            function = _FUNCTIONS.get(name)
            return function(arguments) if function is not None and arguments else UNKNOWN
        return arguments[0] if len(arguments) == 1 else UNKNOWN

    def _operand(self, token: str) -> Value:
        if token[0] in '"`':
            return Value(text=token[1:-1])
        if token[0] in ".$":
            return self.scope.path(token)
        return Value(text="" if token in ("false", "nil", "0") else token)


# --- functions ---


def _last(arguments: list[Value]) -> Value:
    """What changes the layout and not the value."""
    return arguments[-1]


def _flag(truth: bool | None) -> Value:
    return UNKNOWN if truth is None else Value(text="true" if truth else "")


def _default(arguments: list[Value]) -> Value:
    truth = arguments[-1].truth
    return UNKNOWN if truth is None else arguments[-1] if truth else arguments[0]


def _not(arguments: list[Value]) -> Value:
    truth = arguments[-1].truth
    return _flag(None if truth is None else not truth)


def _and(arguments: list[Value]) -> Value:
    truths = [argument.truth for argument in arguments]
    return _flag(False if False in truths else None if None in truths else True)


def _or(arguments: list[Value]) -> Value:
    for argument in arguments:
        if argument.truth is not False:
            return argument
    return arguments[-1]


def _equal(arguments: list[Value]) -> Value:
    texts = [argument.shown for argument in arguments]
    return _flag(None if None in texts else texts[0] in texts[1:])


def _printf(arguments: list[Value]) -> Value:
    form, texts = arguments[0].shown, [argument.shown for argument in arguments[1:]]
    if form is None or None in texts or len(_VERB.findall(form)) != len(texts):
        return UNKNOWN
    given = iter(texts)
    return Value(text=_VERB.sub(lambda _: next(given) or "", form))


def _tpl(arguments: list[Value]) -> Value:
    text = arguments[0].shown
    return arguments[0] if text is not None and "{{" not in text else UNKNOWN


def _ternary(arguments: list[Value]) -> Value:
    truth = arguments[-1].truth
    if truth is None or len(arguments) != 3:
        return UNKNOWN
    return arguments[0] if truth else arguments[1]


_Function = Callable[[list[Value]], Value]
_FUNCTIONS: dict[str, _Function] = {
    **dict.fromkeys(("quote", "squote", "toString", "int", "int64", "float64", "trim", "toYaml", "toJson"), _last),
    **dict.fromkeys(("indent", "nindent", "required", "toRawJson"), _last),
    "default": _default,
    "not": _not,
    "empty": _not,
    "and": _and,
    "or": _or,
    "coalesce": _or,
    "eq": _equal,
    "ne": lambda arguments: _not([_equal(arguments)]),
    "printf": _printf,
    "tpl": _tpl,
    "ternary": _ternary,
}
