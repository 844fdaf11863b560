"""Files that a dataset reads whole, the same one again, for each item."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import conditions
from dllint.code.language.folding import verdict
from dllint.code.language.links import block_of, parent, scope_of
from dllint.code.language.scopes import Scope, last_name
from dllint.code.language.values import Const, Derived, Product, Value
from dllint.code.loaders.drawn import length
from dllint.code.workers.partial_reads import is_partial
from dllint.code.workers.reach import Step
from dllint.code.workers.variation import BY_INDEX
from dllint.code.workers.ways import called_frame

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry

_READING_METHODS = frozenset({"read", "readlines", "read_text", "read_bytes"})
_OPENS = frozenset({"builtins.open", "gzip.open", "bz2.open", "lzma.open", "codecs.open"})
_PATH_NAMES = frozenset(
    ("file", "files", "filepath_or_buffer", "path", "fname", "filename", "io", "uri", "f", "fp", "source"),
)
_ASKS_PATH = frozenset({"join", "Path", "dirname", "basename", "split", "splitext", "abspath", "realpath", "normpath"})
_ASKS_FILE = frozenset({"exists", "isfile", "isdir", "isabs", "getsize", "getmtime", "stat", "access", "expanduser"})
_ASKS_TEXT = frozenset({"str", "format", "fspath", "startswith", "endswith", "len", "isinstance", "print", "info"})
_ASKS = _ASKS_PATH | _ASKS_FILE | _ASKS_TEXT
"""Calls that leave a file as it is."""
_REMEMBERING = ("cache", "memo", "once", "singleton")
"""Parts of the names of decorators after which a function runs once only."""


def of_entry(entry: WorkerEntry) -> Iterator[tuple[Step, ast.Call]]:
    """The calls that read one and the same file whole for each item."""
    reads = list(_reads(entry))
    reading = {id(call) for _, call, _ in reads}
    handing: dict[Scope, dict[str, list[ast.Call]]] = {}
    for step, call, source in reads:
        if step.root.scope.name not in BY_INDEX or entry.variation.of(source, step) is not False:
            continue
        if _is_none(entry, step, source) or _has_one_item(entry, step):
            continue
        path = _path_of(entry, step, source)
        if _runs_each_time(entry, step, call) and not _is_written(step, call, path, reading, handing):
            yield step, call


def _path_of(entry: WorkerEntry, step: Step, source: ast.expr) -> ast.expr:
    """The path behind what names a file: of an open file what it was opened by."""
    files = [_file(value) for value in entry.program.evaluator.values(source, step.frame)]
    opened = files[0] if len(files) == 1 else None
    return source if opened is None or not opened.node.args else opened.node.args[0]


def _has_one_item(entry: WorkerEntry, step: Step) -> bool:
    """Whether the dataset has no second item that the file could be read for."""
    dataset = step.root.frame.receiver
    return dataset is not None and length(entry.program, dataset) == 1


def _reads(entry: WorkerEntry) -> Iterator[tuple[Step, ast.Call, ast.expr]]:
    """The calls that read a file whole, each with what names the file: its path, or the open file."""
    for step, call, name in entry.code.library_calls(apis.FROM_PATHS | apis.FROM_OPEN_FILES):
        source = _source(call)
        if source is None or is_partial(entry, step, call, name, source):
            continue
        takes_path = name in apis.FROM_PATHS and not _is_archive(source)
        opened = _is_opened_here(entry, step, source)
        goes_through = not name.startswith("csv.") or _is_run_through(call)
        if goes_through and (opened is True or (takes_path and opened is None)):
            yield step, call, source
    for step, call in entry.code.calls():
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _READING_METHODS and not call.args:
            is_path = function.attr.startswith("read_") and _is_path(entry, step, function.value)
            if is_path or _is_opened_here(entry, step, function.value):
                yield step, call, function.value


def _source(call: ast.Call) -> ast.expr | None:
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg in _PATH_NAMES), None)


def _is_none(entry: WorkerEntry, step: Step, source: ast.expr) -> bool:
    """Whether no path is passed on the way: None, the default of a parameter, names no file."""
    values = entry.program.evaluator.values(source, called_frame(entry.program, step))
    return any(isinstance(value, Const) and value.value is None for value in values)


def _is_archive(source: ast.expr) -> bool:
    """Whether a path names an archive of arrays, of which only the one that is asked for is read."""
    texts = [p.value for p in ast.walk(source) if isinstance(p, ast.Constant) and isinstance(p.value, str)]
    return any(text.endswith((".npz", ".zip", ".h5", ".hdf5")) for text in texts)


def _is_opened_here(entry: WorkerEntry, step: Step, node: ast.expr) -> bool | None:
    """Whether an expression is a file that its function opens and reads from the start; None if it is no file."""
    files = [f for v in entry.program.evaluator.values(node, step.frame) if (f := _file(v)) is not None]
    if not files:
        return None
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    moved = any(_holder(call) in names for call in step.scope.index().calls_of("seek"))
    return not moved and all(scope_of(file.node) is step.scope for file in files)


def _file(value: Value) -> Product | None:
    origin = value.origin if isinstance(value, Derived) else value
    steps = list(value.chain()) if isinstance(value, Derived) else []
    is_file = isinstance(origin, Product) and origin.name in _OPENS and all(step.via == "with" for step in steps)
    return origin if is_file and isinstance(origin, Product) else None


def _holder(call: ast.Call) -> str:
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    return holder.id if isinstance(holder, ast.Name) else ""


def _is_path(entry: WorkerEntry, step: Step, node: ast.expr) -> bool:
    found = entry.program.evaluator.values(node, step.frame)
    origins = [value.origin if isinstance(value, Derived) else value for value in found]
    return all(isinstance(origin, Product) and origin.name == "pathlib.Path" for origin in origins)


def _is_run_through(call: ast.Call) -> bool:
    """Whether all rows of a reader are taken: `list(reader)`, or a loop that is never left."""
    around = parent(call)
    if isinstance(around, ast.Call):
        return last_name(around) in ("list", "tuple", "dict", "sorted", "sum", "max", "min")
    if isinstance(around, (ast.For, ast.AsyncFor)):
        return not any(isinstance(part, (ast.Break, ast.Return, ast.Yield)) for part in ast.walk(around))
    return isinstance(around, ast.comprehension)


def _runs_each_time(entry: WorkerEntry, step: Step, node: ast.AST) -> bool:
    """Whether a read is passed for each item: nothing on the way remembers it, or decides by what may change."""
    for at, place in step.hops(node):
        if any(word in name.lower() for name in at.scope.decorators for word in _REMEMBERING):
            return False
        if any(block.branch.startswith("handlers") for block in block_of(place).chain()):
            return False
        if not all(_comes_out(entry, at, test, outcome) for test, outcome in conditions.leading_to(place)):
            return False
        if isinstance(at.call, ast.Call) and not entry.variation.is_called(at):
            return False
    return True


def _comes_out(entry: WorkerEntry, step: Step, test: ast.expr, outcome: bool) -> bool:
    """Whether a test is the same for each item, and what is passed on the way does not make it come out otherwise."""
    if entry.variation.of(test, step) is not False:
        return False
    return verdict(entry.program.evaluator, test, called_frame(entry.program, step)) is not (not outcome)


def _is_written(
    step: Step,
    read: ast.Call,
    source: ast.expr,
    reading: set[int],
    handing: dict[Scope, dict[str, list[ast.Call]]],
) -> bool:
    """Whether a function on the way also hands the same path, or its folder, to something that may write the file:
    not to another of the calls that are known to read."""
    names = {ast.dump(source), *(ast.dump(node) for node in ast.walk(source) if isinstance(node, ast.Attribute))}
    for at, _ in step.hops(read):
        if isinstance(source, ast.Constant) and _is_named_elsewhere(at.scope, source, reading):
            return True
        if at.scope not in handing:
            handing[at.scope] = _by_what_they_get(at.scope)
        found = {id(call): call for name in names for call in handing[at.scope].get(name, ())}
        for call in sorted(found.values(), key=lambda call: (call.lineno, call.col_offset)):
            if id(call) in reading or last_name(call) in _ASKS or _only_reads(call):
                continue
            if not any(read is part for node in _arguments(call) for part in ast.walk(node)):
                return at is step or last_name(call) not in (step.scope.name,)
    return False


def _is_named_elsewhere(scope: Scope, source: ast.Constant, reading: set[int]) -> bool:
    """Whether another text of the function names the file: a word of a command line that makes it anew."""
    path = source.value if isinstance(source.value, str) else ""
    for part in ast.walk(scope.node) if path else ():
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and path in part.value:
            around = parent(part)
            asks = isinstance(around, ast.Call) and (id(around) in reading or last_name(around) in _ASKS)
            if part is not source and not asks:
                return True
    return False


def _by_what_they_get(scope: Scope) -> dict[str, list[ast.Call]]:
    """The calls of a function by the arguments that they get, and by the parts of these."""
    found: dict[str, list[ast.Call]] = {}
    for call in scope.index().calls:
        for part in (part for node in _arguments(call) for part in _handed(node)):
            found.setdefault(ast.dump(part), []).append(call)
    return found


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords)]


def _handed(node: ast.AST) -> Iterator[ast.AST]:
    """An argument and its parts; of a path that is put together the whole alone: `root / "a"` is not `root / "b"`."""
    yield node
    joins = isinstance(node, (ast.BinOp, ast.JoinedStr)) or (isinstance(node, ast.Call) and last_name(node) == "join")
    for child in () if joins else ast.iter_child_nodes(node):
        yield from _handed(child)


def _only_reads(call: ast.Call) -> bool:
    if last_name(call) != "open":
        return False
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    texts = [str(mode.value) if isinstance(mode, ast.Constant) else "?" for mode in modes]
    return all("r" in text and "+" not in text for text in texts)
