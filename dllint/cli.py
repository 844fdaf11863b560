"""The command line: `dllint [check] PATHS`, `dllint rule CODE|NAME|SYMPTOM`, `dllint rules`.

Exit status 0: nothing to report. 1: findings. 2: bad usage, bad settings or an internal error. 130: Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO

from dllint.arguments import Arguments, Output, parse
from dllint.files import PathError, Project, discover, problem_with
from dllint.registry import registry, rule_named
from dllint.rule import UnknownRuleError
from dllint.settings import Settings, SettingsError, load, merge

if TYPE_CHECKING:
    from dllint.finding import Finding
    from dllint.fixes import Change
    from dllint.linter import Report
    from dllint.output import Style

OK, FINDINGS, FAILURE, INTERRUPTED = 0, 1, 2, 130
_COMMANDS = ("check", "rule", "rules")
_FACES = {"diagnose": "dllint.diagnose", "doctor": "dllint.doctor", "shm": "dllint.shm"}
"""Commands of their own: name -> module, each with `run(words)`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: that of the process) and return the exit status."""
    import gc

    # A run is short: looking for cycles would only cost time. Restored for whoever calls this in a longer process.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _main(list(sys.argv[1:] if argv is None else argv))
    finally:
        if collecting:
            gc.enable()


def _main(words: list[str]) -> int:
    command = words.pop(0) if words and words[0] in (*_COMMANDS, *_FACES) else "check"
    try:
        if sys.stdout is None:  # closed by the caller: `>&-`
            _discard_output()
        for stream in (sys.stdout, sys.stderr):
            _never_fail_to_encode(stream)
        status = _run(command, words)
        sys.stdout.flush()
        return status
    except (SettingsError, UnknownRuleError, PathError) as error:
        return _fail(str(error))
    except BrokenPipeError:
        # The reader has seen enough. What Python would still flush at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except OSError as error:  # the report cannot be written: a full disk
        _discard_output()
        return _fail(error.strerror or str(error))
    except KeyboardInterrupt:
        return INTERRUPTED


def _discard_output() -> None:
    """Let what is still printed go nowhere."""
    sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _run(command: str, words: list[str]) -> int:
    if command == "check":
        return _check(parse(words))
    if command in _FACES:
        from importlib import import_module

        status: int = import_module(_FACES[command]).run(words)
        return status
    from dllint.options import parse_rule, parse_rules
    from dllint.output.catalogue import render_list

    if command == "rule":
        sys.stdout.write(_explained(*parse_rule(words)))
    else:
        sys.stdout.write(render_list(list(registry().values()), parse_rules(words)))
    return OK


def _explained(text: str, output_format: str) -> str:
    """The rule that is called so, or those that speak of such a symptom. Raises UnknownRuleError if there are none."""
    from dllint.output.catalogue import render_list, render_rule

    try:
        return render_rule(rule_named(text), output_format)
    except UnknownRuleError:
        from dllint.diagnose.symptoms import rules_about

        rules = rules_about(text)
        if not rules:
            raise UnknownRuleError(f"no rule is called {text!r} or speaks of it; `dllint rules` lists them") from None
        return render_list(rules, output_format)


def _fail(message: str) -> int:
    from dllint.output import printable

    sys.stderr.write("".join(f"error: {printable(line)}\n" for line in message.splitlines()))
    return FAILURE


def _never_fail_to_encode(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


# --- check ---


def _check(arguments: Arguments) -> int:
    settings = settings_of(arguments)
    from dllint.selection import enabled_rules

    enabled_rules(settings)
    if arguments.show_settings:
        return _show_settings(settings)
    paths, wrong = _existing(_paths(arguments))
    stdin = _stdin(arguments)
    if wrong and not paths and stdin is None:
        raise PathError("\nerror: ".join(wrong))
    if arguments.hook and not paths and stdin is None:
        return OK
    projects = discover(paths, settings, stdin, explicit=not arguments.hook)
    status = _check_files(projects, settings, arguments)
    for message in wrong:
        status = _fail(message)
    return status


def _existing(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths that can be linted, and what is wrong with the others: one bad path costs no other finding."""
    found, wrong = [], []
    for path in paths:
        problem = problem_with(path)
        if problem:
            wrong.append(problem)
        else:
            found.append(path)
    return found, wrong


def _check_files(projects: list[Project], settings: Settings, arguments: Arguments) -> int:
    targets = [file for project in projects for file in project.targets]
    if arguments.show_files:
        return _show_files([file.path for file in targets])
    if not targets and not arguments.quiet and not arguments.hook:
        sys.stderr.write("warning: no files to lint below the given paths\n")
    if arguments.write_baseline:
        return _write_baseline(projects, settings, arguments)
    lint = _linting(projects, settings, arguments)
    if arguments.add_noqa:
        return _add_noqa(projects, lint(projects), arguments)
    if arguments.fix or arguments.diff:
        return _fix(projects, lint, arguments)
    report = lint(projects)
    _print(report, arguments)
    if report.stale and not arguments.quiet:
        from dllint.old_code import tell_stale

        tell_stale(report, settings)
    return _status(report, arguments)


def _linting(
    projects: list[Project], settings: Settings, arguments: Arguments
) -> Callable[[Sequence[Project]], Report]:
    """What lints, and hides what is known already."""
    if settings.baseline is None and arguments.new_since is None:
        return lambda some: _lint(some, settings, arguments)
    from dllint.old_code import known

    paths = [*_paths(arguments), *([arguments.stdin_filename] if arguments.stdin_filename else [])]
    filters = known(paths, projects, settings, arguments.new_since)

    def lint(some: Sequence[Project]) -> Report:
        report = _lint(some, settings, arguments)
        for hide in filters:
            hide(report)
        return report

    return lint


def _write_baseline(projects: list[Project], settings: Settings, arguments: Arguments) -> int:
    from dllint.old_code import write_baseline

    report = write_baseline(projects, settings, lambda: _lint(projects, settings, arguments))
    _print_errors(report, arguments)
    return FAILURE if report.errors else OK


def _add_noqa(projects: list[Project], report: Report, arguments: Arguments) -> int:
    """Write comments at all findings; report those that no comment can suppress."""
    from dllint import comments
    from dllint.output import plural

    added = comments.add(projects, report)
    failed = [error for change in added.changes if (error := _write_change(change))]
    report.findings = added.left
    _print(report, arguments)
    if not arguments.quiet:
        told = f"{plural(added.number, 'finding')} by comments in {plural(len(added.changes), 'file')}"
        sys.stderr.write(f"Suppressed {told}.\n{_left_in_notebooks(added.left)}")
    return _fail("\n".join(failed)) if failed else _status(report, arguments)


def _left_in_notebooks(left: Sequence[Finding]) -> str:
    from dllint.output import plural

    number = sum(finding.location.path.endswith(".ipynb") for finding in left)
    if not number:
        return ""
    what = f"{plural(number, 'finding')} in notebooks"
    return f"--add-noqa does not write into notebooks: {what} left. Write `# noqa: CODE` in the cell, or a baseline.\n"


def _fix(projects: list[Project], lint: Callable[[Sequence[Project]], Report], arguments: Arguments) -> int:
    from dllint import fixes

    report, changes = fixes.fix_all(projects, lint, unsafe=arguments.unsafe_fixes)
    if arguments.diff:
        return _show_diff(report, changes, arguments)
    failed = [error for change in changes if (error := _write_change(change))]
    _print(report, arguments)
    _tell_what_was_fixed(report, arguments)
    return _fail("\n".join(failed)) if failed else _status(report, arguments)


def _tell_what_was_fixed(report: Report, arguments: Arguments) -> None:
    """On stderr, where the report itself has no summary: stdout is read by programs."""
    from dllint.output import fixed

    has_summary = Output("text", None) in arguments.outputs and _style(arguments, sys.stdout).terminal
    if report.fixed and not arguments.quiet and not has_summary:
        sys.stderr.write(f"{fixed(report)}\n")


def _write_change(change: Change) -> str:
    """Write one changed file; what went wrong, if anything."""
    from dllint import fixes

    try:
        fixes.write(change)
    except OSError as error:
        return f"{change.path}: not changed: {error.strerror}"
    return ""


def _show_diff(report: Report, changes: list[Change], arguments: Arguments) -> int:
    from dllint.fixes.diff import unified

    file = next((output.file for output in arguments.outputs if output.file is not None), None)
    if file is None:
        sys.stdout.writelines(unified(changes, terminal=_style(arguments, sys.stdout).terminal))
        sys.stdout.flush()
    else:
        _to_file(file, lambda stream: stream.writelines(unified(changes, terminal=False)))
    _print_errors(report, arguments)
    if report.errors:
        return FAILURE
    return FINDINGS if changes and not arguments.exit_zero else OK


def settings_of(arguments: Arguments) -> Settings:
    """The settings of the nearest file with the command line on top. Raises SettingsError."""
    start = arguments.stdin_filename if arguments.paths == ["-"] else next(iter(arguments.paths), None)
    base = load(start or os.curdir, config=arguments.config, isolated=arguments.isolated)
    return merge(base, **arguments.settings)


def _paths(arguments: Arguments) -> list[str]:
    return [path for path in arguments.paths if path != "-"]


def _stdin(arguments: Arguments) -> tuple[str, bytes] | None:
    if "-" not in arguments.paths:
        return None
    if sys.stdin is None:
        raise PathError("-: standard input is closed")
    return arguments.stdin_filename or "-", sys.stdin.buffer.read()


def _show_settings(settings: Settings) -> int:
    from dllint.settings import as_toml

    sys.stdout.writelines(f"{line}\n" for line in as_toml(settings))
    return OK


def _show_files(paths: list[str]) -> int:
    from dllint.output import printable

    sys.stdout.writelines(f"{printable(path)}\n" for path in paths)
    return OK


def _lint(projects: Sequence[Project], settings: Settings, arguments: Arguments) -> Report:
    from dllint.linter import lint

    if arguments.quiet or not sys.stderr.isatty():
        return lint(projects, settings)
    from dllint.progress import bar_after

    with bar_after(seconds=1.0) as progress:
        return lint(projects, settings, progress=progress)


def _print(report: Report, arguments: Arguments) -> None:
    from dllint.output import write

    for output in arguments.outputs:
        if output.file is None:
            write(report, sys.stdout, output.format, _style(arguments, sys.stdout))
            sys.stdout.flush()
        else:
            produce = partial(write, report, output_format=output.format, style=_style(arguments))
            _to_file(output.file, produce)
    _print_errors(report, arguments)


def _print_errors(report: Report, arguments: Arguments) -> None:
    if report.errors:
        from dllint.linter import summaries

        for error, told in summaries(report.errors):
            _fail(f"{error.traceback.rstrip()}\n{told}" if arguments.verbose else told)
        sys.stderr.write("This is a defect of dllint, not of your code; all other findings are listed. -v says more.\n")


def _to_file(path: str, produce: Callable[[TextIO], None]) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as stream:
            produce(stream)
    except OSError as error:
        raise PathError(f"{path}: {error.strerror}") from None


def _style(arguments: Arguments, stream: TextIO | None = None) -> Style:
    from dllint.output import Style

    terminal = stream is not None and (stream.isatty() or _forced())
    return Style(
        terminal=terminal,
        color=terminal and not arguments.no_color and not os.environ.get("NO_COLOR"),
        verbose=arguments.verbose,
        quiet=arguments.quiet,
        statistics=arguments.statistics,
    )


def _forced() -> bool:
    return os.environ.get("FORCE_COLOR", "0") not in ("", "0")


def _status(report: Report, arguments: Arguments) -> int:
    if report.errors:
        return FAILURE
    if arguments.exit_zero:
        return OK
    return FINDINGS if any(finding.severity >= arguments.fail_on for finding in report.findings) else OK
