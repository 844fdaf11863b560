"""The plugin of flake8: `flake8 --select DLL`, and every editor that runs flake8.

The whole project is analysed when flake8 comes to its first file, once in each process; later files look their findings
up. What is reported is what `dllint` reports on the same paths: flake8 only has the last word on codes and `# noqa`.
"""

from __future__ import annotations

import ast
import gc
import multiprocessing
import os
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar

from flake8.exceptions import ExecutionError
from flake8.style_guide import Decision, DecisionEngine

from dllint import __version__
from dllint.finding import Finding
from dllint.records import replace
from dllint.settings import Settings, SettingsError, load, merge, parse_values

if TYPE_CHECKING:
    from argparse import Namespace

    from flake8.options.manager import OptionManager

    from dllint.files import Project
    from dllint.linter import Report
    from dllint.whole import WholeProject

Problem = tuple[int, int, str, type]
"""Row, column from 0, code with message, and a class that flake8 asks for and does not use."""

_PLUGIN = "DLL"
_STDIN = "-"
_PREFIX = "dllint-"
OPTIONS = {
    "target-python": "the Python that the project runs on, such as 3.12",
    "platforms": "where the project runs, with commas: linux, macos, windows",
    "start-method": "fork, spawn or forkserver, where the project sets it out of sight",
    "max-workers": "more workers than this are too many",
}
"""Settings that flake8 takes, too, with their help; all others stand in the settings file."""
_LISTS = ("platforms",)


class Plugin:
    """What flake8 makes for each file: the findings of dllint in it."""

    name = "dllint"
    version = __version__
    _run: ClassVar[Run]

    def __init__(self, tree: ast.Module, filename: str, lines: Sequence[str]) -> None:
        self._tree = tree
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Tell flake8 which options there are, and which rules are off until they are asked for."""
        manager.add_option(f"--{_PREFIX}config", metavar="FILE", parse_from_config=True, help="dllint's settings file")
        for key, text in OPTIONS.items():
            listed = key in _LISTS
            manager.add_option(f"--{_PREFIX}{key}", parse_from_config=True, comma_separated_list=listed, help=text)
        manager.extend_default_ignore(_opt_in())

    @classmethod
    def parse_options(cls, manager: OptionManager, options: Namespace, paths: list[str]) -> None:
        """Take over what flake8 was told. Wrong settings end flake8 with their message."""
        try:
            cls._run = Run(options, paths)
        except SettingsError as error:
            raise ExecutionError(f"dllint: {error}") from None

    def run(self) -> Iterator[Problem]:
        """The findings in the file, as flake8 wants them."""
        for finding in self._run.findings(self._filename, self._tree, self._lines):
            at = finding.location
            yield at.row, at.column - 1, f"{finding.code} {finding.message}", Plugin


class Run:
    """One run of flake8 in one process: its settings, and the findings by file once they are asked for."""

    def __init__(self, options: Namespace, paths: Sequence[str]) -> None:
        self._paths = list(paths) or ["."]
        self._stdin_name: str = options.stdin_display_name
        first = self._stdin_name if self._paths[0] == _STDIN else self._paths[0]
        settings = merge(load(first, config=options.dllint_config), **_given(options))
        self._settings = merge(settings, noqa=not options.disable_noqa, **_choice(options, settings))
        self._found: dict[str, list[Finding]] | None = None

    def findings(self, filename: str, tree: ast.Module, lines: Sequence[str]) -> list[Finding]:
        """The findings in a file that flake8 has parsed."""
        path = os.path.abspath(filename)
        if self._found is None:
            with _no_garbage_collection():
                self._found = self._lint(path, tree, lines)
        return self._found.get(path, [])

    def _lint(self, path: str, tree: ast.Module, lines: Sequence[str]) -> dict[str, list[Finding]]:
        """All findings on the paths of this run by file. `tree` saves parsing the file that flake8 is at."""
        from dllint.files import discover
        from dllint.linter import lint
        from dllint.whole import WholeProject

        def program(project: Project, settings: Settings) -> WholeProject:
            whole = WholeProject(project, settings)
            whole.code.give_tree(path, tree)
            return whole

        settings = self._settings
        if multiprocessing.parent_process() is not None:
            settings = replace(settings, jobs=1)  # flake8 has shared out the files already
        paths = [given for given in self._paths if given != _STDIN and os.path.exists(given)]
        stdin = (self._stdin_name, _encoded(lines)) if _STDIN in self._paths else None
        projects = discover(paths, settings, stdin, explicit=False)
        report = lint(projects, settings, load=program)
        if settings.baseline is not None:
            from dllint.old_code import known

            for hide in known(paths, projects, settings, None):
                hide(report)
        _tell_errors(report)
        found: dict[str, list[Finding]] = {}
        for finding in report.findings:
            found.setdefault(os.path.abspath(finding.location.path), []).append(finding)
        return found


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """While dllint is imported and runs: flake8 holds so much that looking through it for cycles takes its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _opt_in() -> list[str]:
    from dllint.registry import listing

    return [code for code, rule in listing().items() if rule.opt_in]


def _given(options: Namespace) -> dict[str, Any]:
    """The fields of Settings that stand in flake8's options. Raises SettingsError."""
    values = {key: getattr(options, (_PREFIX + key).replace("-", "_")) for key in OPTIONS}
    given = {key: value for key, value in values.items() if value}
    return parse_values(given, "flake8: --dllint")


def _choice(options: Namespace, settings: Settings) -> dict[str, tuple[str, ...]]:
    """Which rules run besides and which do not, so that no rule runs whose findings flake8 would drop.

    What the project's own settings select, flake8 shall not hide as off by default; and what flake8 is asked for by a
    code more specific than that of the whole plugin is on, whatever the default.
    """
    from dllint.registry import listing
    from dllint.selection import enabled_rules

    enabled = {rule.code for rule in enabled_rules(settings)}
    options.extended_default_ignore = [code for code in options.extended_default_ignore if code not in enabled]
    decide = DecisionEngine(options).decision_for
    asked = tuple(word for word in _words(options.select, options.extend_select) if word.startswith(_PLUGIN))
    specific = tuple(word for word in asked if word != _PLUGIN)
    shown = [code for code in listing() if decide(code) is Decision.Selected]
    extend = tuple(code for code in shown if code not in enabled and specific and code.startswith(specific))
    return {"extend_select": extend, "ignore": tuple(code for code in listing() if code not in shown)}


def _words(*lists: Iterable[str] | None) -> Iterator[str]:
    for words in lists:
        yield from words or ()


def _encoded(lines: Sequence[str]) -> bytes:
    """The bytes of a text that flake8 has decoded: in the encoding that it declares."""
    text = "".join(lines)
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(text.encode("utf-8", "replace")).readline)
        return text.encode(encoding)
    except (SyntaxError, UnicodeEncodeError):
        return text.encode("utf-8", "replace")


def _tell_errors(report: Report) -> None:
    """On stderr: what flake8 prints on stdout is read by editors."""
    from dllint.linter import summaries

    sys.stderr.writelines(f"dllint: {told}\n" for _, told in summaries(report.errors))
