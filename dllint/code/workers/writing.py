"""Files that a call writes: by a library, by a method, or by a command that it runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import spelling
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Collection, Const, Derived, External, Frame, Product, Unknown, Value
from dllint.patterns import pattern
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_LIKELY = frozenset(
    {name.rpartition(".")[2] for name in (*apis.OPENS_TO_WRITE, *apis.WRITES, *apis.RUNS_COMMANDS)}
    | apis.WRITING_METHODS
    | apis.WRITES_ITSELF
)
_PATH = pattern(r"[/\\]|\.\w{1,5}$")
_NO_FILE = pattern(r"^(/dev/|-$|pipe:|nul$|https?:|s3:|gs:)", re.IGNORECASE)
_JOINS = frozenset({"str", "os.path.join", "os.path.abspath", "os.path.expanduser", "pathlib.Path"})


@dataclass(frozen=True, slots=True)
class Output:
    """A file that a call writes: `node` is its path, or the command line that names it as `text`."""

    node: ast.expr
    text: str = ""

    @property
    def name(self) -> str:
        """The path as the source has it."""
        return repr(self.text) if self.text else ast.unparse(self.node)


def outputs(program: Program, call: ast.Call, frame: Frame) -> Iterator[Output]:
    """The files that a call writes, where what names them shows that it is a path."""
    if last_name(call.func) not in _LIKELY:
        return
    for found in _candidates(program, call, frame):
        if found.text or is_path(program, found.node, frame):
            yield found


def _candidates(program: Program, call: ast.Call, frame: Frame) -> Iterator[Output]:
    for function in program.evaluator.values(call.func, frame):
        if isinstance(function, External) and function.name in apis.RUNS_COMMANDS:
            yield from _by_command(program, call.args[0], frame) if call.args else ()
        elif isinstance(function, External):
            yield from map(Output, _by_library(program, function.name, call, frame))
        elif isinstance(function, Derived):
            yield from map(Output, _by_method(program, function, call, frame))
        elif isinstance(function, Unknown):
            yield from map(Output, _written_by_unknown(call))


def _by_library(program: Program, name: str, call: ast.Call, frame: Frame) -> Iterator[ast.expr]:
    if name in apis.OPENS_TO_WRITE and _is_to_write(program, call, 1, frame):
        yield from call.args[:1]
    elif name in apis.WRITES:
        position = apis.WRITES[name]
        yield from call.args[position : position + 1]
        yield from (k.value for k in call.keywords if k.arg in apis.PATH_ARGUMENTS)


def _by_method(program: Program, method: Derived, call: ast.Call, frame: Frame) -> Iterator[ast.expr]:
    name = method.via[1:]
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name in apis.WRITING_METHODS:
        yield from call.args[:1]
    elif holder is None or not _is_path_object(method.base):
        return
    elif name in apis.WRITES_ITSELF or (name == "open" and _is_to_write(program, call, 0, frame)):
        yield holder


def _written_by_unknown(call: ast.Call) -> Iterator[ast.expr]:
    """`image.save("/tmp/x.png")` of what cannot be told: the constant path tells."""
    if last_name(call.func) in apis.WRITING_METHODS and call.args and isinstance(call.args[0], ast.Constant):
        yield call.args[0]


def _is_path_object(value: Value) -> bool:
    origin = value.origin if isinstance(value, Derived) else value
    return isinstance(origin, Product) and origin.name.startswith("pathlib.")


def _is_to_write(program: Program, call: ast.Call, position: int, frame: Frame) -> bool:
    """Whether the mode certainly makes the file anew."""
    given = [*call.args[position : position + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    modes = program.evaluator.values(given[0], frame) if given else ()
    return bool(modes) and all(isinstance(m, Const) and isinstance(m.value, str) and m.value[:1] in "wx" for m in modes)


def is_path(program: Program, node: ast.expr, frame: Frame) -> bool:
    """Whether an expression shows that it is the path of a real file."""
    return all(_is_path(value) for value in program.evaluator.values(node, frame))


def _is_path(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str) and _names_file(value.value)
    origin = value.origin if isinstance(value, Derived) else value
    if isinstance(origin, Product):
        return origin.name in _JOINS or origin.name.startswith(("tempfile.", "pathlib."))
    return False


def _names_file(text: str) -> bool:
    return bool(_PATH.search(text)) and not _NO_FILE.match(text)


# Commands


def _by_command(program: Program, node: ast.expr, frame: Frame) -> Iterator[Output]:
    """The output file of a command line: a list of words, or one text."""
    found = program.evaluator.values(node, frame)
    for value in found:
        if isinstance(value, Collection) and value.kind in ("list", "tuple") and value.each is None:
            words = [word for word in value.items if not isinstance(word, ast.Starred)]
            texts = [_text(program, word, value.frame) for word in words]
            yield from (Output(words[position]) for position in _positions(texts))
    if not any(isinstance(value, Collection) for value in found):
        yield from (Output(node, word) for word in _in_text(spelling.spelled(program.evaluator, node, frame)))


def _text(program: Program, node: ast.expr, frame: Frame) -> str:
    """A word of a command, as far as it is one constant; an empty text otherwise."""
    found = program.evaluator.values(node, frame)
    if len(found) == 1 and isinstance(found[0], Const):
        return str(found[0].value)
    return "x/x" if found and all(_is_path(value) for value in found) else ""


def _positions(words: list[str]) -> Iterator[int]:
    """The positions of the output files among the words of a command."""
    program = words[0].rpartition("/")[2] if words else ""
    if program in apis.OUTPUT_IS_LAST:
        last = [n for n, word in enumerate(words) if n and _names_file(word)]
        if last and (last[-1] == len(words) - 1 or program == "sox"):
            yield last[-1]
    for option in apis.OUTPUT_OPTIONS.get(program, ()):
        if option in words[:-1]:
            yield words.index(option) + 1


_ENDS = frozenset({">", ">>", "2", "|", "&&", "||", ";", "<"})
"""Words of a shell's that end a command."""


def _in_text(text: str) -> Iterator[str]:
    """`os.system(f"ffmpeg -i {source} /tmp/out.wav")`: the output files whose names hold no variable part."""
    apart = re.sub(r">+", lambda found: f" {found.group()} ", text)  # `>>` adds to a file, and takes nothing away
    words = [word.strip("'\"") for word in apart.split()]
    redirected = [n + 1 for n, word in enumerate(words[:-1]) if word == ">"]
    end = next((n for n, word in enumerate(words) if word in _ENDS), len(words))
    for position in [*_positions(words[:end]), *redirected]:
        word = words[position]
        if spelling.VARIABLE not in word and _names_file(word):
            yield word
