"""The modules of a project: which file an import means, and where in a file a name is mentioned.

Questions over the whole project ("who calls this function?") go through the bytes first: a file that does not hold the
name is not parsed, and of one that does only the scopes around the name are indexed.
"""

from __future__ import annotations

import ast
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator
from functools import cached_property

from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.outlines import Outline, import_statements, occurrences, outline, words
from dllint.code.language.scopes import ClassScope, FunctionScope, ModuleScope, Scope
from dllint.code.language.watched import WATCHED
from dllint.files import SourceFile
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError, Data, Source, parse

_FEW = 8
"""Questions about the words of one file that are answered by a search each; for more, they are taken apart once."""
_CELL = b"# %%"
_LINE_END = pattern(rb"\r\n|\r|\n")
_RENAMED = pattern(rb"[ \t]+as[ \t]+(\w+)")
"""Behind a name: what an import calls it instead."""
_AS = b" as "
_LAST_WORD = pattern(rb"(\w{1,80})\Z")
_FIRST_WORD = pattern(rb"\w+")
_ASSIGNED = pattern(rb"[ \t]*(\w+)[ \t]*=[ \t]*(?:\w{1,60}\.){0,6}")
_ENDS = pattern(rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
"""Before and behind a name: a line that only gives it another one."""


class Module:
    """One Python file of the project, parsed when it is first needed."""

    is_notebook = False
    """Whether it consists of cells that are run one by one, in a process whose main module no worker can import."""

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
        self._lines_with: dict[str, list[int]] = {}
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

    @property
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
        if b"\r" in self.data.replace(b"\r\n", b""):  # the line ends of old Macs
            return [0, *(match.end() for match in _LINE_END.finditer(self.data))]
        starts = [0]
        at = self.data.find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.data.find(b"\n", at + 1)
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
            places = occurrences(self.data, word.encode()) if self.holds(word.encode()) else ()
            self._lines_with[word] = sorted(set(map(self.line_of, places)))
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
        return text in self.outline.held if text in WATCHED else text in self.data

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
            for child in scope.index().children.values():
                first, last = child.span
                at = bisect_left(inside, first)
                if at < len(inside) and inside[at] <= last:
                    found.append(child)
                    pending.append((child, inside[at : bisect_right(inside, last)]))
        return found

    def calls_of(self, name: str) -> list[tuple[ast.Call, Scope]]:
        """The calls of what is called `name`, or what the module calls otherwise, each with the scope of it."""
        if name not in self._calls_of:
            self._calls_of[name] = [
                (call, scope)
                for known in (name, *self.other_names(name))
                for scope in self.scopes_around(self.lines_with(known))
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
        for at in occurrences(self.data, name.encode()) if self.lines_with(name) else ():
            line = self.data[self.data.rfind(b"\n", 0, at) + 1 : at]
            renamed = _RENAMED.match(self.data, at + len(name)) or (
                _ENDS.match(self.data, at + len(name)) and _ASSIGNED.fullmatch(line)
            )
            if renamed:
                yield renamed[1].decode()

    def writes_of(self, name: str) -> list[tuple[AttributeWrite, Scope]]:
        """Where an attribute of this name is stored, on whatever object, each with the scope that it stands in."""
        if name not in self._writes_of:
            scopes = self.scopes_around(self.lines_with(name))
            found = [(write, scope) for scope in scopes for write in scope.index().writes if write.name == name]
            self._writes_of[name] = found
        return self._writes_of[name]

    @cached_property
    def set_by_functions(self) -> dict[str, list[tuple[FunctionScope, Binding]]]:
        """What functions store under names of the module: by `global name` and `name = ...`."""
        found: dict[str, list[tuple[FunctionScope, Binding]]] = {}
        for scope in self.scopes_around(self.lines_with("global")):
            if not isinstance(scope, FunctionScope):
                continue
            for name, bound in scope.index().bindings.items():
                if isinstance(bound[0].node, ast.Global):
                    found.setdefault(name, []).extend([(scope, one) for one in bound if one.kind != "global"])
        return found

    @cached_property
    def classes(self) -> list[ClassScope]:
        """All classes of the file, in functions too."""
        lines = self.lines_with("class")
        return [scope for scope in self.scopes_around(lines) if isinstance(scope, ClassScope)]

    @property
    def class_bases(self) -> list[tuple[str, tuple[str, ...]]]:
        """(class, last names of its bases) as the bytes have them."""
        return self.outline.class_bases


_NEVER_FOUND_BELOW = frozenset({"numpy", "torch"})
"""Libraries that tests of them are called after, in folders that nobody puts on the path: `tests/unit/torch/`."""
KNOWN_LIBRARIES = frozenset(
    [
        "torch",
        "torchvision",
        "torchaudio",
        "torchdata",
        "numpy",
        "datasets",
        "transformers",
        "lightning",
        "pytorch_lightning",
        "monai",
        "h5py",
        "lmdb",
        "cv2",
        "PIL",
        "tarfile",
        "zipfile",
        "sqlite3",
        "multiprocessing",
        "concurrent",
        "threading",
        "random",
        "os",
        "sys",
        "io",
        "json",
        "pickle",
        "csv",
        "gzip",
        "glob",
        "pathlib",
        "functools",
        "itertools",
        "collections",
        "socket",
        "tensorstore",
        "zarr",
        "webdataset",
        "fsspec",
        "s3fs",
        "gcsfs",
        "ray",
        "torch_geometric",
        "mmengine",
        "mmcv",
        "accelerate",
        "wandb",
        "tqdm",
        "pandas",
        "scipy",
        "sklearn",
        "skimage",
    ]
)
"""Top-level names that never mean a neighbouring file of a package module, though a folder may be called the same."""


def _with_slashes(path: str) -> str:
    return path.replace(os.sep, "/") if os.sep != "/" else path


class ModuleTable:
    """All Python files of a project by path and by importable name."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.by_file: dict[str, Module] = {}
        self._folders_with_init: set[str] = set()
        self._package_roots: dict[str, list[str]] = {}

    @classmethod
    def build(
        cls, root: str, files: list[tuple[SourceFile, Data, Outline | None]], module_type: Callable[[str], type[Module]]
    ) -> ModuleTable:
        """A table of files with their content and known outline; `module_type` says how a path is read."""
        table = cls(_with_slashes(root))
        paths = [_with_slashes(file.absolute) for file, _, _ in files]
        for absolute in paths:
            if os.path.basename(absolute) == "__init__.py":
                table._folders_with_init.add(os.path.dirname(absolute))
        for folder in sorted(table._folders_with_init):
            above = os.path.dirname(folder)
            if above not in table._folders_with_init:
                table._package_roots.setdefault(os.path.basename(folder), []).append(above)
        for absolute, (file, data, known) in zip(paths, files, strict=True):
            name, is_package = table._dotted_name(absolute)
            module = module_type(absolute)(file.path, absolute, name, is_package, data, file.target)
            if known is not None:
                module.outline = known
            table.by_file[absolute] = module
        return table

    def keep(self, modules: Collection[Module]) -> None:
        """Forget all other modules."""
        self.by_file = {path: module for path, module in self.by_file.items() if module in modules}

    def _dotted_name(self, absolute: str) -> tuple[str, bool]:
        folder, filename = os.path.split(absolute)
        stem = filename.rpartition(".")[0] or filename
        is_package = stem == "__init__"
        parts = [] if is_package else [stem]
        while folder in self._folders_with_init:
            folder, part = os.path.split(folder)
            parts.insert(0, part)
        return ".".join(parts) or stem, is_package

    def in_package(self, module: Module) -> bool:
        """Whether a module is, or lies in, a package."""
        return "." in module.name or module.is_package

    def find(self, dotted: str, importer: Module) -> Module | None:
        """The module that `import dotted` in `importer` means, if the project has it."""
        path = dotted.replace(".", "/")
        for base in self._bases(dotted, importer):
            found = self._at(f"{base}/{path}")
            if found is not None and found is not importer:
                return found
        return None

    def of_namespace(self, package: str, name: str, importer: Module) -> Module | None:
        """The module of the project in a package that has no `__init__.py`: `import src.data.images`."""
        if package.partition(".")[0] in KNOWN_LIBRARIES:
            return None
        return self.find(f"{package}.{name}", importer)

    def _bases(self, dotted: str, importer: Module) -> Iterator[str]:
        top = dotted.partition(".")[0]
        folder = os.path.dirname(importer.absolute)
        own_root = folder
        while own_root in self._folders_with_init:
            own_root = os.path.dirname(own_root)
        yield own_root
        if own_root != folder and top not in KNOWN_LIBRARIES:
            yield folder
        yield self.root
        yield self.root + "/src"
        if top not in _NEVER_FOUND_BELOW:
            yield from self._package_roots.get(top, ())
        if top not in KNOWN_LIBRARIES or "." in dotted:
            yield from self._between(own_root)

    def _between(self, folder: str) -> Iterator[str]:
        """The folders around one, up to the project's root: scripts are started in any of them."""
        above = os.path.dirname(folder)
        while above.startswith(self.root + "/"):
            yield above
            above = os.path.dirname(above)

    def _at(self, path: str) -> Module | None:
        return self.by_file.get(path + ".py") or self.by_file.get(path + "/__init__.py")

    def relative(self, importer: Module, level: int, dotted: str | None) -> Module | None:
        """The module that `from ...dotted import` means, if the project has it."""
        folder = os.path.dirname(importer.absolute)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        path = f"{folder}/{dotted.replace('.', '/')}" if dotted else folder
        return self._at(path)

    def submodule(self, package: Module, name: str) -> Module | None:
        """The module `name` within a package, if the project has it."""
        if not package.is_package:
            return None
        return self._at(f"{os.path.dirname(package.absolute)}/{name}")
