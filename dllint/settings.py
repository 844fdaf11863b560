"""What the user set: `pyproject.toml` [tool.dllint], `dllint.toml` or `.dllint.toml`, then the command line on top.

`load` finds and checks a settings file; `merge` lays the command line over it. Which rules a selection stands for is
decided one floor up, in `dllint.selection`, because it needs the registry.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dllint.finding import Severity
from dllint.records import dataclass, replace

PLATFORMS = {"linux": "linux", "macos": "macos", "darwin": "macos", "windows": "windows", "win32": "windows"}
START_METHODS = ("fork", "spawn", "forkserver")
_FILE_NAMES = (".dllint.toml", "dllint.toml", "pyproject.toml")
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


class SettingsError(ValueError):
    """A key or value that settings cannot have; the message names the key, where it stands and what is allowed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that the user can set. Plain values only, so that they can be compared, printed and sent to processes."""

    select: tuple[str, ...] | None = None
    """Rules to run; None stands for all rules that are not opt-in."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    """Globs of paths to skip; None stands for the built-in list (`dllint.files.DEFAULT_EXCLUDE`)."""
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pairs of a glob and the selectors that are silent in the files it matches."""
    severity: tuple[tuple[str, Severity], ...] = ()
    """Pairs of a selector and the severity that its rules get."""
    target_python: tuple[int, int] | None = None
    platforms: tuple[str, ...] = ()
    """Of `linux`, `macos` and `windows`; empty stands for unknown."""
    start_method: str | None = None
    max_workers: int = 32
    max_batches_in_flight: int = 128
    batch_bytes: int | None = None
    dataset_bases: tuple[str, ...] = ()
    loaders: tuple[str, ...] = ()
    handles: tuple[str, ...] = ()
    training_images: tuple[str, ...] = ()
    baseline: str | None = None
    """A file of findings that are not reported; in a settings file it is relative to that."""
    jobs: int = 0
    """How many processes may be used; 0 leaves it to dllint. Command line only."""
    noqa: bool = True
    """Whether `# noqa` comments count: flake8 can be told to look past them."""
    root: str = ""
    """The folder that globs are relative to: where the settings file lies, else the current folder."""
    path: str | None = None
    """The settings file, if there is one."""


# --- values: each parser returns the value for Settings, or raises ValueError when it is none of the allowed ones ---


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError
    return tuple(item.strip() for item in value)


def _per_file_ignores(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError
    return tuple((glob, _strings(selectors)) for glob, selectors in value.items())


def _severity_name(value: object) -> Severity:
    if not isinstance(value, str) or value.upper() not in Severity.__members__:
        raise ValueError
    return Severity[value.upper()]


def _severities(value: object) -> tuple[tuple[str, Severity], ...]:
    if not isinstance(value, dict):
        raise ValueError
    return tuple((selector, _severity_name(name)) for selector, name in value.items())


def _python_version(value: object) -> tuple[int, int]:
    found = re.fullmatch(r"(?:py)?3\.?(\d{1,2})(?:\.\d+)?", value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError
    return (3, int(found[1]))


def _platforms(value: object) -> tuple[str, ...]:
    names = [name.lower() for name in _strings(value)]
    if not all(name in PLATFORMS for name in names):
        raise ValueError
    return tuple(dict.fromkeys(PLATFORMS[name] for name in names))


def _start_method(value: object) -> str:
    if not isinstance(value, str) or value not in START_METHODS:
        raise ValueError
    return value


def _file(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _count(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError
    return value


def _bytes(value: object) -> int:
    if not isinstance(value, str):
        return _count(value)
    found = re.fullmatch(r"([\d_]+(?:\.\d+)?)\s*([KMGT]I?)?B?", value.strip().upper())
    if found is None:
        raise ValueError
    size = float(found[1]) * _UNITS[found[2] or ""]
    if size == float("inf"):
        raise ValueError
    return _count(int(size))


@dataclass(frozen=True, slots=True)
class _Key:
    parse: Callable[[object], Any]
    allowed: str


_RULES = 'a list of rule codes, prefixes of codes, names or "ALL"'
_GLOBS = "a list of globs"
_NAMES = "a list of qualified names"
KEYS: Mapping[str, _Key] = {
    "select": _Key(_strings, _RULES),
    "extend-select": _Key(_strings, _RULES),
    "ignore": _Key(_strings, _RULES),
    "exclude": _Key(_strings, _GLOBS),
    "extend-exclude": _Key(_strings, _GLOBS),
    "per-file-ignores": _Key(_per_file_ignores, f"a table from globs to {_RULES}"),
    "severity": _Key(_severities, 'a table from rules to "error", "warning" or "info"'),
    "target-python": _Key(_python_version, 'a Python version as a string, such as "3.11"'),
    "platforms": _Key(_platforms, 'a list of "linux", "macos", "windows"'),
    "start-method": _Key(_start_method, '"fork", "spawn" or "forkserver"'),
    "max-workers": _Key(_count, "a whole number of at least 1"),
    "max-batches-in-flight": _Key(_count, "a whole number of at least 1"),
    "batch-bytes": _Key(_bytes, 'a number of bytes, or a string such as "600MB" or "1.5GiB"'),
    "dataset-bases": _Key(_strings, _NAMES),
    "loaders": _Key(_strings, _NAMES),
    "handles": _Key(_strings, _NAMES),
    "training-images": _Key(_strings, "a list of globs of image names"),
    "baseline": _Key(_file, "the name of a file"),
}
"""The keys of a settings file, in kebab-case as they are written there."""


def parse_values(table: Mapping[str, object], origin: str) -> dict[str, Any]:
    """Check `table` (kebab-case keys) and return fields of Settings. Raises SettingsError, which names `origin`."""
    fields = {}
    for name, value in table.items():
        key = KEYS.get(name)
        if key is None:
            raise SettingsError(f"{origin}: unknown setting {name!r}; {_suggestion(name)}")
        try:
            fields[name.replace("-", "_")] = key.parse(value)
        except ValueError:
            raise SettingsError(f"{origin}: {name} must be {key.allowed}, not {value!r}") from None
    return fields


def _suggestion(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name.replace("_", "-").lower(), KEYS, n=1)
    known = "allowed are: " + ", ".join(KEYS)
    return f"did you mean {close[0]!r}? {known}" if close else known


# --- files ---


def load(start: str, *, config: str | None = None, isolated: bool = False) -> Settings:
    """The settings that hold for the path `start`: of the file `config`, else of the nearest file upwards.

    `isolated` reads no file at all. Raises SettingsError for a file that cannot be read or holds what it may not.
    """
    if isolated:
        return Settings(root=os.getcwd())
    if config is not None:
        if os.path.exists(config) and not os.path.isfile(config):
            raise SettingsError(f"{config}: not a file")
        table = _table(config, required=True)
        return _from_table(table or {}, config)
    for path in _candidates(start):
        table = _table(path, required=False)
        if table is not None:
            return _from_table(table, path)
    return Settings(root=os.getcwd())


def _from_table(table: Mapping[str, object], path: str) -> Settings:
    fields = parse_values(table, path)
    root = os.path.dirname(os.path.abspath(path))
    if "baseline" in fields:
        fields["baseline"] = os.path.relpath(os.path.join(root, fields["baseline"]))
    return Settings(**fields, root=root, path=path)


def _candidates(start: str) -> Iterable[str]:
    """The settings files that exist from `start` upwards, nearest first."""
    folder = os.path.abspath(start)
    while True:
        for name in _FILE_NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield path
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _table(path: str, *, required: bool) -> dict[str, object] | None:
    """The settings in one TOML file; None if it is a pyproject.toml that has none."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    pyproject = os.path.basename(path) == "pyproject.toml"
    # Looking at the bytes first spares most projects the import of a TOML parser.
    if pyproject and b"dllint" not in _letters(data):
        return {} if required else None
    document = _parse_toml(data, path, strict=required or not pyproject)
    if not pyproject:
        return document
    tool = document.get("tool", {})
    table = tool.get("dllint", {} if required else None) if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: tool.dllint must be a table")
    return table


def _parse_toml(data: bytes, path: str, *, strict: bool) -> dict[str, Any]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document: dict[str, Any] = tomllib.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        if strict or b"[tool.dllint" in _letters(data):
            # What `int` says of thousands of digits speaks of Python, not of the file.
            reason = "a number has too many digits" if type(error) is ValueError else error
            raise SettingsError(f"{path}: not valid TOML: {reason}") from None
        return {}
    return document


def _letters(data: bytes) -> bytes:
    """The bytes as they would be in UTF-8, of plain letters: some editors write UTF-16, which TOML may not be in."""
    return data.replace(b"\0", b"")


# --- the command line ---


def merge(base: Settings, **given: Any) -> Settings:
    """`base` with the values `given` on the command line (None: not given), which win over it.

    As with ruff, a `select` replaces the whole selection of the file, and `extend_select` and `ignore` come on top of
    it: they take back what the file ignores or selects, where they cover it.
    """
    values = {name: value for name, value in given.items() if value is not None}
    extend: tuple[str, ...] = values.pop("extend_select", ())
    ignore: tuple[str, ...] = values.pop("ignore", ())
    per_file = values.pop("per_file_ignores", ())
    excludes = values.pop("extend_exclude", ())
    if "select" in values:
        base = replace(base, extend_select=(), ignore=())
    elif base.select is not None:
        base = replace(base, select=_uncovered(base.select, ignore))
    return replace(
        base,
        extend_select=_uncovered(base.extend_select, ignore) + extend,
        ignore=_uncovered(base.ignore, extend) + ignore,
        per_file_ignores=base.per_file_ignores + per_file,
        extend_exclude=base.extend_exclude + excludes,
        **values,
    )


def _uncovered(selectors: tuple[str, ...], by: tuple[str, ...]) -> tuple[str, ...]:
    prefixes = tuple("" if selector.upper() == "ALL" else selector.upper() for selector in by)
    return tuple(selector for selector in selectors if not selector.upper().startswith(prefixes)) if by else selectors


def as_toml(settings: Settings) -> Iterable[str]:
    """The lines of a settings file that sets the same, with comments for the keys that are not set."""
    yield f"# settings file: {_quoted(settings.path) if settings.path else 'none'}"
    for key in KEYS:
        value = getattr(settings, key.replace("-", "_"))
        yield f"# {key}: not set" if value is None else f"{key} = {_toml(key, value)}"


def _toml(key: str, value: Any) -> str:
    if key == "target-python":
        return _quoted(".".join(str(part) for part in value))
    if key == "severity":
        return _inline_table({selector: _quoted(severity.label) for selector, severity in value})
    if key == "per-file-ignores":
        merged: dict[str, tuple[str, ...]] = {}
        for glob, selectors in value:
            merged[glob] = merged.get(glob, ()) + selectors
        return _inline_table({glob: _array(selectors) for glob, selectors in merged.items()})
    if isinstance(value, tuple):
        return _array(value)
    return str(value) if isinstance(value, int) else _quoted(value)


def _inline_table(values: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{_quoted(key)} = {value}" for key, value in values.items()) + " }" if values else "{}"


def _array(words: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _quoted(text: str) -> str:
    """A basic string of TOML: what does not print is escaped."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else _escaped(c) for c in text) + '"'


def _escaped(character: str) -> str:
    number = ord(character)
    return "\\" + character if character in '"\\' else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
