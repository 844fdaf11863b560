"""Which files there are, what each one is, and to which project it belongs.

The unit of analysis is the project; what was asked for (the targets) is what gets reported. `discover` walks each
project once and marks the targets. Folders are listed with `os.scandir` and links to folders are not followed, as with
git: a loop cannot happen, and a link to a data set with a million images costs nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

from dllint.globs import GitIgnore, Globs, ignored
from dllint.kinds import Kind, kind_of, kind_of_entry, kind_of_path
from dllint.records import dataclass, replace
from dllint.settings import Settings
from dllint.tracked import in_repository, is_source

__all__ = ["Kind", "PathError", "Project", "SourceFile", "discover", "kind_of", "problem_with"]

DEFAULT_EXCLUDE = (
    "*.egg-info",
    "__pycache__",
    "__pypackages__",
    "buck-out",
    "node_modules",
    "site-packages",
    "venv",
)
"""Names of folders that hold what others wrote or what tools made. Hidden folders are skipped anyway."""
_OUTPUT = frozenset(("build", "dist", "_build"))
"""Skipped by default, too, but packages have these names: such a folder is source if it holds an `__init__.py`."""
_READ_HIDDEN = (".github", ".devcontainer", ".circleci", ".gitlab", ".dstack", ".vscode")
"""Hidden folders (by the start of their names) that hold what dllint reads."""
_OWN_SETTINGS = ("dllint.toml", ".dllint.toml")
_RUNNERS = frozenset({"config.toml", "gitlab-runner.toml", "runner.toml"})
"""Names of a GitLab runner's settings, which say what a job finds that says nothing itself."""
_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", *_OWN_SETTINGS)
_Ignores = tuple[GitIgnore, ...]
_CHUNK = 1 << 16
_CONTEXT_LIMIT = 50_000
_CONTEXT_FILES = 1_000
"""How many entries are looked at, and how many files are read, for context around a file whose project has no marker:
it may lie in a home folder."""


class PathError(ValueError):
    """A given path that does not exist or cannot be linted; the message names it."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that dllint reads."""

    path: str
    """As shown to the user: as given, else relative to the current folder."""
    absolute: str
    kind: Kind
    target: bool
    """Whether findings in it are reported."""
    explicit: bool = False
    """Whether the user named the file itself."""
    data: bytes | None = None
    """The content where it does not come from the disk (standard input)."""

    def read(self, most: int = -1) -> bytes:
        """The content, or its first `most` bytes. Raises OSError if it cannot be read."""
        if self.data is not None:
            return self.data
        return content_of(self.absolute, most)


def content_of(path: str, most: int = -1) -> bytes:
    """The content of a file, or its first `most` bytes, by the system's own calls: `open` takes four times as long
    for a small one."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        parts = []
        while most and (part := os.read(handle, _CHUNK if most < 0 else min(most, _CHUNK))):
            parts.append(part)
            most -= len(part) if most > 0 else 0
    finally:
        os.close(handle)
    return parts[0] if len(parts) == 1 else b"".join(parts)


@dataclass(frozen=True, slots=True)
class Project:
    """The files below one root, sorted by path."""

    root: str
    files: tuple[SourceFile, ...]
    unlisted: tuple[str, ...] = ()
    """The folders that findings should be reported in, and that cannot be listed."""
    runners: tuple[str, ...] = ()
    """The absolute paths of files whose names are those of a GitLab runner's settings."""

    @property
    def targets(self) -> tuple[SourceFile, ...]:
        """The files that findings are reported in."""
        return tuple(file for file in self.files if file.target)


@dataclass(frozen=True, slots=True)
class _Given:
    """A path as the user gave it."""

    path: str
    absolute: str
    folder: bool
    data: bytes | None = None
    explicit: bool = True
    """Whether a user gave it, not a program that goes through lists of files."""


def discover(
    paths: Sequence[str], settings: Settings, stdin: tuple[str, bytes] | None = None, *, explicit: bool = True
) -> list[Project]:
    """The projects that `paths` belong to, with the files below `paths` as targets; several paths may share a project.

    `stdin` is a file name and the content to take for it. With `explicit` off, a file counts no more for being named:
    what a walk would leave out stays out. Raises PathError for a path that does not exist.
    """
    given = [_look_at(path) for path in paths]
    if stdin is not None:
        given.append(_Given(stdin[0], os.path.abspath(stdin[0]), folder=False, data=stdin[1]))
    if not explicit:
        given = [replace(item, explicit=False) for item in given if item.folder or _would_find(item, settings)]
    by_root: dict[_Root, list[_Given]] = {}
    for item in given:
        by_root.setdefault(_root_of(item, settings), []).append(item)
    return [_project(root, items, settings) for root, items in by_root.items()]


def problem_with(path: str) -> str:
    """What is wrong with a given path: it does not exist, or is neither a file nor a folder. Empty if nothing is."""
    try:
        _look_at(path)
    except PathError as error:
        return str(error)
    return ""


def _look_at(path: str) -> _Given:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no such file"
        raise PathError(f"{path}: {reason}") from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise PathError(f"{path}: neither a file nor a folder")
    return _Given(path, os.path.abspath(path), stat.S_ISDIR(mode))


def _would_find(item: _Given, settings: Settings) -> bool:
    """Whether a walk over the project takes this file. What is tracked by git in spite of .gitignore counts."""
    if item.data is None and kind_of_path(item.absolute) is None:
        return False
    walker = _Walker(settings)
    folder = os.path.dirname(item.absolute)
    root = _marked_root(folder)
    return not walker.excludes_file(item.absolute) and (root is None or not walker.hides(folder, root))


# --- roots ---


@dataclass(frozen=True, slots=True)
class _Root:
    path: str
    start: str
    """Where the walk begins: below `path` only for a package without a project around it."""
    marked: bool


def _root_of(item: _Given, settings: Settings) -> _Root:
    folder = item.absolute if item.folder else os.path.dirname(item.absolute)
    marked = _marked_root(folder)
    if marked is not None and not _Walker(settings).hides(folder, marked):
        return _Root(marked, marked, marked=True)
    return _package_root(folder)


def _marked_root(folder: str) -> str | None:
    """The nearest folder with a .git or settings of its own for dllint, else the nearest with a project file."""
    nearest = None
    for parent in _upwards(folder):
        if any(os.path.exists(os.path.join(parent, name)) for name in (".git", *_OWN_SETTINGS)):
            return parent
        if nearest is None and any(os.path.isfile(os.path.join(parent, marker)) for marker in _MARKERS):
            nearest = parent
    return nearest


def _package_root(folder: str) -> _Root:
    """For code outside of any project: the whole package that `folder` is in, rooted where imports of it start."""
    top = None
    for parent in _upwards(folder):
        if not os.path.isfile(os.path.join(parent, "__init__.py")):
            return _Root(folder if top is None else parent, folder if top is None else top, marked=False)
        top = parent
    return _Root(folder, folder, marked=False)


def _upwards(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


# --- the walk ---


class _Walker:
    """Walks folders; knows what the settings and .gitignore files leave out."""

    def __init__(self, settings: Settings) -> None:
        exclude = DEFAULT_EXCLUDE if settings.exclude is None else settings.exclude
        self._globs = Globs((*exclude, *settings.extend_exclude), settings.root or os.getcwd())
        self._skips_output = settings.exclude is None
        self.found: dict[str, tuple[Kind, bool]] = {}
        """Absolute path -> kind, and whether it is a target."""
        self.links: set[str] = set()
        self.visited: set[str] = set()
        self.unlisted: list[str] = []
        """The absolute paths of folders with targets that cannot be listed."""
        self.runners: list[str] = []

    def hides(self, folder: str, root: str) -> bool:
        """Whether a walk from `root` would leave `folder` out, .gitignore files aside."""
        below = root.rstrip(os.sep) + os.sep
        for parent in _upwards(folder):
            if not parent.startswith(below):
                return False
            name = os.path.basename(parent)
            marks = {mark for mark in ("pyvenv.cfg", "__init__.py") if os.path.exists(os.path.join(parent, mark))}
            if self._excludes(name, parent) or self._is_foreign(name, marks):
                return True
        return False

    def excludes_file(self, path: str) -> bool:
        """Whether the settings leave out the file itself, whatever its folder."""
        return self._globs.match_entry(os.path.basename(path), path)

    def walk(self, start: str, gitignores: _Ignores, targets: frozenset[str], limit: int | None = None) -> None:
        """Find the files below `start`; those below a folder of `targets` are targets, the rest is context."""
        stack = [(start, gitignores, start in targets)]
        seen = 0
        while stack:
            folder, gitignores, target = stack.pop()
            entries = self._entries(folder, target)
            seen += len(entries)
            if limit is not None and not target and (seen > limit or len(self.found) > _CONTEXT_FILES):
                continue
            names = {entry.name for entry in entries}
            if folder != start and folder not in targets and self._is_foreign(os.path.basename(folder), names):
                continue
            self.visited.add(folder)
            self.runners += [os.path.join(folder, name) for name in _RUNNERS & names]
            gitignores = _with_own(gitignores, folder, names)
            inner = self._take(entries, gitignores, target)
            stack.extend((path, gitignores, target or path in targets) for path in inner)

    def _entries(self, folder: str, target: bool) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as listing:
                return list(listing)
        except FileNotFoundError:  # it has gone since
            return []
        except OSError:
            self.unlisted += [folder] if target else []
            return []

    def _take(self, entries: list[os.DirEntry[str]], gitignores: _Ignores, target: bool) -> Iterator[str]:
        """Keep the files among `entries`; yield the folders to enter."""
        for entry in entries:
            kind = kind_of_entry(entry)
            if kind is None:
                if entry.is_dir(follow_symlinks=False) and not self._leaves_out(entry, gitignores, folder=True):
                    yield entry.path
            elif _is_regular(entry) and not self._leaves_out(entry, gitignores, folder=False):
                self.found.setdefault(entry.path, (kind, target))
                if entry.is_symlink():
                    self.links.add(entry.path)
            elif entry.is_dir(follow_symlinks=False) and not self._leaves_out(entry, gitignores, folder=True):
                yield entry.path

    def _leaves_out(self, entry: os.DirEntry[str], gitignores: _Ignores, *, folder: bool) -> bool:
        if folder and self._excludes(entry.name, entry.path):
            return True
        if not folder and self._globs.match_entry(entry.name, entry.path):
            return True
        if not gitignores or not ignored(gitignores, entry.path, folder):
            return False
        home = os.path.dirname(entry.path)
        if not folder and not in_repository(home) and not ignored(gitignores, home, folder=True):
            return True  # the file itself is ignored, and not the package that it lies in
        return not is_source(entry.path, folder)

    def _excludes(self, name: str, path: str) -> bool:
        if name.startswith(".") and not name.startswith(_READ_HIDDEN):
            return True
        return self._globs.match_entry(name, path)

    def _is_foreign(self, name: str, names: set[str]) -> bool:
        """Whether a folder called `name` that holds `names` is an environment or the output of a tool."""
        if "pyvenv.cfg" in names:
            return True
        return self._skips_output and name in _OUTPUT and "__init__.py" not in names


def _is_regular(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file that can be read: no FIFO, socket or device. A link counts if it leads out of the walk."""
    try:
        if not entry.is_symlink():
            return entry.is_file(follow_symlinks=False)
        return stat.S_ISREG(os.stat(entry.path).st_mode)
    except (OSError, ValueError):
        return False


def _with_own(gitignores: _Ignores, folder: str, names: Iterable[str]) -> _Ignores:
    if ".git" in names and (own := GitIgnore.read(os.path.join(folder, ".git", "info", "exclude"), folder)):
        gitignores = (*gitignores, own)
    if ".gitignore" in names and (own := GitIgnore.read(os.path.join(folder, ".gitignore"), folder)):
        gitignores = (*gitignores, own)
    return gitignores


def _ignores_above(folder: str, root: str) -> _Ignores:
    """What holds for a given folder that a walk from `root` did not come by: nothing, if it is itself ignored."""
    gitignores: _Ignores = ()
    for parent in reversed([parent for parent in _upwards(folder) if parent.startswith(root)]):
        if parent == folder:
            continue
        gitignores = _with_own(gitignores, parent, (".git", ".gitignore"))
    return () if ignored(gitignores, folder, folder=True) else gitignores


# --- projects ---


def _project(root: _Root, items: Iterable[_Given], settings: Settings) -> Project:
    items = list(items)
    walker = _Walker(settings)
    folders = frozenset(item.absolute for item in items if item.folder)
    walker.walk(root.start, (), folders, None if root.marked else _CONTEXT_LIMIT)
    for folder in sorted(folders - walker.visited):
        walker.walk(folder, _ignores_above(folder, root.path), folders)
    found = _without_aliases(walker)
    show = _shower(root.path, any(os.path.isabs(item.path) for item in items))
    files = {path: SourceFile(show(path), path, kind, target) for path, (kind, target) in found.items()}
    for item in items:
        if not item.folder:
            kind = kind_of_path(item.absolute) or Kind.PYTHON
            path = item.absolute
            files[path] = SourceFile(show(path), path, kind, target=True, explicit=item.explicit, data=item.data)
    sources, unlisted = tuple(sorted(files.values(), key=_path_of)), tuple(map(show, walker.unlisted))
    return Project(root.path, sources, unlisted, tuple(sorted(set(walker.runners))))


def _path_of(file: SourceFile) -> str:
    return file.path


def _without_aliases(walker: _Walker) -> dict[str, tuple[Kind, bool]]:
    """Drop links to files that are found under their own name, too: one file, one finding."""
    aliases = {link for link in walker.links if os.path.realpath(link) in walker.found}
    return {path: value for path, value in walker.found.items() if path not in aliases}


def _shower(root: str, absolute: bool) -> Callable[[str], str]:
    """How to show a path below `root`: absolute if the user gave absolute paths, else from the current folder."""
    if absolute:
        return lambda path: path
    here = os.getcwd().rstrip(os.sep) + os.sep
    prefix = os.path.relpath(root)
    skip = len(root.rstrip(os.sep))

    def show(path: str) -> str:
        return path[len(here) :] if path.startswith(here) else prefix + path[skip:]

    return show
