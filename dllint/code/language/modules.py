"""The modules of a project, and where in one a name is mentioned.

Questions over the whole project ("who calls this function?") go through the bytes first: a file that does not hold the
name is not parsed, and of one that does only the scopes around the name are indexed.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate

from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.outlines import Outline, import_statements, occurrences, outline, places, words
from dllint.code.language.scopes import ClassScope, FunctionScope, ModuleScope, Scope
from dllint.code.language.watched import WATCHED
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError, Data, Source, parse

_FEW = 8
"""Questions about the words of one file that are answered by a search each; for more, they are taken apart once."""
_OFTEN = 400
"""Searches through one file; for more, it is written down where its words stand."""
_CELL = b"# %%"
_RENAMED = pattern(rb"[ \t]+as[ \t]+(\w+)")
"""Behind a name: what an import calls it instead."""
_AS = b" as "
_LAST_WORD = pattern(rb"(\w{1,80})\Z")
_FIRST_WORD = pattern(rb"\w+")
_AROUND_WORD = pattern(rb"([^\w\x80-\xff]+)(\w+)[^\w\x80-\xff]")
"""The start of a text that stands around a whole word: `.name =`."""
_ASSIGNED = pattern(rb"[ \t]*(\w+)[ \t]*=[ \t]*(?:\w{1,60}\.){0,6}")
_ENDS = pattern(rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
"""Before and behind a name: a line that only gives it another one."""
_CALLED = pattern(rb"[\s\\]*[()#]")
"""Behind what may be called: `build(...)`, `(build)(...)`."""
_STORED = frozenset((b".", b"'", b'"', b""))
"""Before what may be stored: `self.name = ...`, `setattr(self, "name", ...)`; nothing, where it stands too far off."""
_NEAR = 80
_BLANKS = b" \t\r\n\f\\"


class Module:
    """One Python file of the project, parsed when it is first needed."""

    is_notebook = False
    """Whether it consists of cells that are run one by one, in a process whose main module no worker can import."""

    is_python = True
    """Whether its bytes spell what its tree holds as Python does."""

    def __init__(self, path: str, absolute: str, name: str, is_package: bool, data: Data, is_target: bool) -> None:
        self.path = path
        self.absolute = absolute
        self.name = name
        self.is_package = is_package
        self.is_target = is_target
        self.source = Source(path, data)
        self.parsed: ast.Module | None = None
        """The tree, where the program that dllint runs in has read the file already."""
        self.error: CannotParseError | None = None
        self.broken: list[CannotParseError] = []
        """What cannot be parsed in it, though the rest can: cells of a notebook."""
        self._scope: ModuleScope | None = None
        self._asked = 0
        self._searched = 0
        self._has: dict[bytes, bool] = {}
        self._lines_with: dict[str, list[int]] = {}
        self._scopes_with: dict[str, list[Scope]] = {}
        self._calls_of: dict[str, list[tuple[ast.Call, Scope]]] = {}
        self._names_of: dict[str, set[str]] = {}
        self._writes_of: dict[str, list[tuple[AttributeWrite, Scope]]] = {}

    @cached_property
    def last_name(self) -> bytes:
        """The last part of its dotted name, as it stands in import statements."""
        return self.name.rpartition(".")[2].encode("utf-8", "surrogateescape")

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.source.data

    @property
    def scope(self) -> ModuleScope:
        """The indexed top level; that of an empty module if the file cannot be parsed (then `error` says why)."""
        if self._scope is None:
            try:
                tree = parse(self.source, self.parsed)
            except CannotParseError as error:
                tree = self._of_cells(error)
            self._scope = ModuleScope(tree, self, None, self.name)
            self._scope.index()
        return self._scope

    @property
    def is_sound(self) -> bool:
        """Whether it can be parsed."""
        self.scope  # noqa: B018 - parses the file, which sets `error`
        return self.error is None

    def _of_cells(self, error: CannotParseError) -> ast.Module:
        """The tree of a script of `# %%` cells with commands of IPython: that is run cell by cell, as a notebook."""
        if _CELL in self.data:
            from dllint.syntax.magics import masked

            try:
                tree = parse(Source(self.path, masked(self.source.text).encode("utf-8", "replace")))
            except CannotParseError:
                pass
            else:
                self.is_notebook = True
                return tree
        self.error = error
        return ast.Module(body=[], type_ignores=[])

    def location(self, node: ast.AST) -> Location:
        """Where a node stands; for a class or function its first line."""
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.source.header(node)
        return self.source.location(node)

    @cached_property
    def is_test(self) -> bool:
        """Whether the file is a test, as pytest finds them, or lies in a folder of tests."""
        parts = self.path.replace("\\", "/").split("/")
        name = parts[-1]
        return (
            name.startswith("test_")
            or name.endswith("_test.py")
            or name == "conftest.py"
            or any(part in ("test", "tests") for part in parts[:-1])
        )

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def _line_starts(self) -> list[int]:
        lines = self.data.splitlines(keepends=True)  # at the line ends of old Macs, too
        starts = [0, *accumulate(map(len, lines))]
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            starts.pop()
        return starts

    def import_statements(self) -> Iterator[tuple[bytes, bytes]]:
        """What stands in its import statements, as the bytes have it: the keyword, and the rest of the line."""
        return import_statements(self.data)

    def line_of(self, offset: int) -> int:
        """The line (from 1) of a byte."""
        return bisect_right(self._line_starts, offset)

    def lines_with(self, word: str) -> list[int]:
        """The lines (from 1) that hold `word` as a whole identifier."""
        if word not in self._lines_with:
            self._lines_with[word] = self._lines_of(self._places_of(word.encode()))
        return self._lines_with[word]

    @property
    def shell(self) -> str:
        """What it gives to a shell beside its Python, in the same rows: the commands in a notebook's cells."""
        return ""

    @cached_property
    def outline(self) -> Outline:
        """What its bytes tell."""
        return outline(self.data)

    def has(self, text: bytes) -> bool:
        """Whether a text stands in the file, within a longer word or not."""
        if text in WATCHED:
            return text in self.outline.held
        if text not in self._has:
            self._has[text] = self._spells(text)
        return self._has[text]

    def _spells(self, text: bytes) -> bool:
        around = _AROUND_WORD.match(text)
        if around is None or not self._is_searched_often():
            return text in self.data
        before = len(around[1])
        return any(at >= before and self.data.startswith(text, at - before) for at in self._places_of(around[2]))

    def _is_searched_often(self) -> bool:
        """Whether a search from end to end, once more, costs more than to look up where its words stand."""
        self._searched += 1
        return self._searched > _OFTEN

    def _places_of(self, word: bytes) -> Iterable[int]:
        """Where `word` stands as a whole identifier."""
        if not self.holds(word):
            return ()
        is_known = self._is_searched_often() and word in self.words
        return self._places.get(word, ()) if is_known else occurrences(self.data, word)

    @cached_property
    def _places(self) -> dict[bytes, list[int]]:
        return places(self.data)

    def holds(self, name: bytes) -> bool:
        """Whether an identifier stands in the file, be it in a comment or a text."""
        if name in WATCHED and name not in self.outline.held:
            return False
        if "words" not in self.__dict__ and self._asked < _FEW:
            self._asked += 1
            return next(occurrences(self.data, name), None) is not None
        return name in self.words

    @cached_property
    def words(self) -> frozenset[bytes]:
        """All identifiers and other words in the file, those of comments and texts included."""
        return words(self.data)

    def scopes_around(self, lines: list[int]) -> list[Scope]:
        """The scopes that any of these lines stands in, outermost first, each once."""
        if not lines:
            return []
        found: list[Scope] = [self.scope]
        pending: list[tuple[Scope, list[int]]] = [(self.scope, lines)]
        while pending:
            scope, inside = pending.pop()
            for child in scope.index().children_at(inside):
                first, last = child.span
                found.append(child)
                pending.append((child, inside[bisect_left(inside, first) : bisect_right(inside, last)]))
        return found

    def scopes_with(self, word: str) -> list[Scope]:
        """The scopes that hold `word` as a whole identifier, outermost first, and those around them."""
        if word not in self._scopes_with:
            self._scopes_with[word] = self.scopes_around(self.lines_with(word))
        return self._scopes_with[word]

    def _lines_calling(self, name: str) -> list[int]:
        """The lines that may hold a call of a name, by what follows it there."""
        if not self.is_python:
            return self.lines_with(name)
        data, word = self.data, name.encode()
        return self._lines_of(at for at in self._places_of(word) if _CALLED.match(data, at + len(word)))

    def _lines_writing(self, name: str) -> list[int]:
        """The lines that may hold a store to an attribute, by what stands before it there."""
        if not self.is_python:
            return self.lines_with(name)
        data, word = self.data, name.encode()
        found = self._places_of(word)
        return self._lines_of(at for at in found if data[max(0, at - _NEAR) : at].rstrip(_BLANKS)[-1:] in _STORED)

    def _lines_of(self, places: Iterable[int]) -> list[int]:
        return sorted(set(map(self.line_of, places)))

    def calls_of(self, name: str) -> list[tuple[ast.Call, Scope]]:
        """The calls of what is called `name`, or what the module calls otherwise, each with the scope of it."""
        if name not in self._calls_of:
            self._calls_of[name] = [
                (call, scope)
                for known in (name, *self.other_names(name))
                for scope in self.scopes_around(self._lines_calling(known))
                for call in scope.index().calls_of(known)
            ]
        return self._calls_of[name]

    @cached_property
    def imported_as(self) -> dict[str, str]:
        """What its own names for imported functions stand for: `ng` for `no_grad`, as far as its bytes tell."""
        found: dict[str, str] = {}
        at = self.data.find(_AS)
        while at >= 0:
            line = self.data[self.data.rfind(b"\n", 0, at) + 1 : at]
            name, other = _LAST_WORD.search(line[-80:]), _FIRST_WORD.match(self.data, at + len(_AS))
            if name and other and not line.lstrip().startswith((b"with", b"except", b"async")):
                found[other[0].decode()] = name[0].decode()
            at = self.data.find(_AS, at + 1)
        return found

    def other_names(self, name: str) -> set[str]:
        """What else the module calls a function: `from m import name as short`, `short = m.name`."""
        if name not in self._names_of:
            self._names_of[name] = set(self._renamed(name)) - {name}
        return self._names_of[name]

    def _renamed(self, name: str) -> Iterator[str]:
        for at in self._places_of(name.encode()):
            line = self.data[self.data.rfind(b"\n", 0, at) + 1 : at]
            renamed = _RENAMED.match(self.data, at + len(name)) or (
                _ENDS.match(self.data, at + len(name)) and _ASSIGNED.fullmatch(line)
            )
            if renamed:
                yield renamed[1].decode()

    def writes_of(self, name: str) -> list[tuple[AttributeWrite, Scope]]:
        """Where an attribute of this name is stored, on whatever object, each with the scope that it stands in."""
        if name not in self._writes_of:
            scopes = self.scopes_around(self._lines_writing(name))
            self._writes_of[name] = [(write, scope) for scope in scopes for write in scope.index().writes_to(name)]
        return self._writes_of[name]

    @cached_property
    def set_by_functions(self) -> dict[str, list[tuple[FunctionScope, Binding]]]:
        """What functions store under names of the module: by `global name` and `name = ...`."""
        found: dict[str, list[tuple[FunctionScope, Binding]]] = {}
        for scope in self.scopes_with("global"):
            if not isinstance(scope, FunctionScope):
                continue
            for name, bound in scope.index().bindings.items():
                if isinstance(bound[0].node, ast.Global):
                    found.setdefault(name, []).extend([(scope, one) for one in bound if one.kind != "global"])
        return found

    @cached_property
    def classes(self) -> list[ClassScope]:
        """All classes of the file, in functions too."""
        return [scope for scope in self.scopes_with("class") if isinstance(scope, ClassScope)]

    @property
    def class_bases(self) -> list[tuple[str, tuple[str, ...]]]:
        """(class, last names of its bases) as the bytes have them."""
        return self.outline.class_bases
