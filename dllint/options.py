"""Which options the command line has, and what they mean for the settings."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from dllint import __version__
from dllint.arguments import Arguments, Output
from dllint.finding import Severity
from dllint.output import FORMATS
from dllint.settings import KEYS, START_METHODS


def read(words: Sequence[str], arguments: Arguments) -> None:
    """Put what `dllint check` is given in `arguments`. Bad usage ends the process with status 2, as argparse does."""
    parser = _check_parser()
    parser.parse_intermixed_args(words, namespace=arguments)
    _check_stdin(parser, arguments)
    _check_fixes(parser, arguments)
    _check_old_code(parser, arguments)
    given = ((field, getattr(arguments, field)) for field in _SETTINGS)
    arguments.settings = {field: tuple(value) if isinstance(value, list) else value for field, value in given}
    arguments.outputs = _outputs(parser, getattr(arguments, "asked_outputs", None) or [])


class _Asked(argparse.Action):
    """Collects `--output-format` and `--output-file` in their order, which says what belongs together."""

    def __call__(self, parser: object, namespace: object, values: object, option_string: str | None = None) -> None:
        asked = [*(getattr(namespace, "asked_outputs", None) or []), (option_string, str(values))]
        setattr(namespace, "asked_outputs", asked)  # noqa: B010 - a namespace has no such field to its type


class _Severity(argparse.Action):
    """Takes the label of a Severity."""

    def __call__(self, parser: object, namespace: object, values: object, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, Severity[str(values).upper()])


def _outputs(parser: argparse.ArgumentParser, asked: Sequence[tuple[str, str]]) -> list[Output]:
    """Pair each format with the file beside it; one format may stand without a file, which is stdout's."""
    pairs: list[list[str | None]] = []
    for option, value in asked:
        place = 0 if option == "--output-format" else 1
        if not pairs or pairs[-1][place] is not None:
            pairs.append([None, None])
        pairs[-1][place] = value
    found = [Output(name or "text", file) for name, file in pairs] or [Output("text", None)]
    if sum(output.file is None for output in found) > 1:
        parser.error("argument --output-format: only one format can go to stdout; give the others an --output-file")
    return found


def _check_stdin(parser: argparse.ArgumentParser, arguments: Arguments) -> None:
    """A name for stdin means that it is to be read; beside paths it has to be said."""
    if arguments.stdin_filename is None or "-" in arguments.paths:
        return
    if arguments.paths:
        parser.error("argument --stdin-filename: works only with - among the paths")
    arguments.paths = ["-"]


def _check_fixes(parser: argparse.ArgumentParser, arguments: Arguments) -> None:
    if arguments.unsafe_fixes and not arguments.fix and not arguments.diff:
        parser.error("argument --unsafe-fixes: works only with --fix or --diff")
    if arguments.fix and not arguments.diff and "-" in arguments.paths:
        parser.error("argument --fix: cannot be used on stdin; --diff can")


def _check_old_code(parser: argparse.ArgumentParser, arguments: Arguments) -> None:
    for flag, given in (("--write-baseline", arguments.write_baseline), ("--add-noqa", arguments.add_noqa)):
        if given and (arguments.fix or arguments.diff):
            parser.error(f"argument {flag}: cannot be used with --fix or --diff")
        if given and "-" in arguments.paths:
            parser.error(f"argument {flag}: cannot be used on stdin")
    if arguments.write_baseline and (arguments.new_since is not None or arguments.add_noqa):
        parser.error("argument --write-baseline: cannot be used with --new-since or --add-noqa")


def parse_rule(words: Sequence[str]) -> tuple[str, str]:
    """Read the command line of `dllint rule`: the code, name or symptom, and the output format."""
    parser = argparse.ArgumentParser(
        prog="dllint rule",
        description="Explain one rule, or list the rules that speak of a symptom, such as 'Bus error'.",
        allow_abbrev=False,
    )
    parser.add_argument("rule", nargs="+", metavar="CODE|NAME|SYMPTOM")
    _add_catalogue_format(parser)
    values = parser.parse_args(words)
    return " ".join(values.rule), values.output_format


def parse_rules(words: Sequence[str]) -> str:
    """Read the command line of `dllint rules`: the output format."""
    parser = argparse.ArgumentParser(prog="dllint rules", description="List all rules.", allow_abbrev=False)
    _add_catalogue_format(parser)
    output_format: str = parser.parse_args(words).output_format
    return output_format


def _add_catalogue_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")


# --- dllint check ---

_SETTINGS = (
    "select",
    "extend_select",
    "ignore",
    "per_file_ignores",
    "exclude",
    "extend_exclude",
    "target_python",
    "platforms",
    "start_method",
    "max_workers",
    "jobs",
    "baseline",
)


def _check_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dllint",
        formatter_class=_formatter,
        usage="dllint [check] [PATHS] [options]\n       dllint rule CODE|NAME|SYMPTOM\n       dllint rules\n"
        "       dllint diagnose [LOG] [--project PATH]\n       dllint doctor [PATH]\n"
        "       dllint shm --workers N --batch-size N --sample SHAPE",
        description="Find what makes PyTorch DataLoader workers crash, stall, leak or yield wrong data.",
        epilog="Exit status: 0 nothing to report, 1 findings, 2 bad usage, bad settings or an internal error, "
        "130 Ctrl-C.",
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATHS", help="files or folders; - reads stdin")
    parser.add_argument("--version", action="version", version=f"dllint {__version__}")
    _add_selection(parser)
    _add_fixes(parser)
    _add_old_code(parser)
    _add_output(parser)
    _add_files_and_settings(parser)
    _add_environment(parser)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    # With a width of its own argparse need not import shutil to ask for the terminal's, which it does on every run.
    width = os.environ.get("COLUMNS", "")
    return argparse.HelpFormatter(prog, max_help_position=30, width=int(width) if width.isdigit() else 100)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules", "RULES: codes, prefixes of codes, names or ALL, with commas")
    for flag, parse_rules, text in (
        ("--select", _some_rules, "run these rules only"),
        ("--extend-select", _words, "run these, too"),
        ("--ignore", _words, "do not run these"),
    ):
        group.add_argument(flag, type=parse_rules, action="extend", metavar="RULES", help=text)
    group.add_argument(
        "--per-file-ignores",
        type=_per_file_ignores,
        action="extend",
        metavar="GLOB:RULES",
        help="rules that are silent in some files: 'tests/*:DLL2,DLL501'",
    )


def _add_fixes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="mend what can be mended safely, report the rest")
    group.add_argument("--unsafe-fixes", action="store_true", help="mend also what may change what the program does")
    group.add_argument("--diff", action="store_true", help="only show what --fix would change; exit 1 if anything")


def _add_old_code(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("old code")
    group.add_argument("--baseline", metavar="FILE", help="do not report the findings that this file knows")
    group.add_argument("--write-baseline", action="store_true", help="write all findings to that file, and exit 0")
    group.add_argument("--new-since", metavar="REV", help="report only what was not to find at this git revision")
    group.add_argument("--add-noqa", action="store_true", help="write a comment at each finding that suppresses it")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--output-format", choices=tuple(FORMATS), action=_Asked, help="default: text")
    group.add_argument(
        "--output-file",
        metavar="FILE",
        action=_Asked,
        help="write findings there instead of to stdout; with --output-format as often as there are reports to write",
    )
    severities = [severity.label for severity in Severity]
    group.add_argument("--fail-on", choices=severities, action=_Severity, help="exit 1 only from this severity on")
    group.add_argument("--exit-zero", action="store_true", help="exit 0 even if there are findings")
    group.add_argument("--statistics", action="store_true", help="count findings by rule")
    group.add_argument("--show-files", action="store_true", help="list the files that would be linted")
    group.add_argument("--show-settings", action="store_true", help="list the settings that hold")
    group.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    group.add_argument("-v", "--verbose", action="store_true", help="print the way and the help, too")
    group.add_argument("--no-color", action="store_true", help="as does the environment variable NO_COLOR")


def _add_files_and_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files and settings")
    group.add_argument("--exclude", type=_words, action="extend", metavar="GLOBS", help="leave these out, nothing else")
    group.add_argument("--extend-exclude", type=_words, action="extend", metavar="GLOBS", help="leave these out, too")
    group.add_argument("--stdin-filename", metavar="FILE", help="what the text on stdin is called")
    group.add_argument("--hook", action="store_true", help="named files may be excluded; no path means nothing to do")
    group.add_argument("--config", metavar="FILE", help="read settings from this file")
    group.add_argument("--isolated", action="store_true", help="read no settings file")
    group.add_argument("-j", "--jobs", type=_setting("max-workers"), metavar="N", help="use at most N processes")


def _add_environment(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where the code will run")
    group.add_argument("--target-python", type=_setting("target-python"), metavar="3.N")
    group.add_argument("--platforms", type=_listed("platforms"), metavar="NAMES", help="linux, macos, windows")
    group.add_argument("--start-method", choices=START_METHODS)
    group.add_argument("--max-workers", type=_setting("max-workers"), metavar="N", help="more workers are too many")


# --- values ---


def byte_size(text: str) -> int:
    """Bytes, spelled as docker reads them: `600MB`. Raises ArgumentTypeError."""
    from dllint.deploy.sizes import docker_bytes

    size = docker_bytes(text)
    if not size:
        raise argparse.ArgumentTypeError(f"must be a size such as 600MB, not {text!r}")
    return size


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,\s]+", text) if word)


def _some_rules(text: str) -> tuple[str, ...]:
    """What `--select` is given. Nothing is a variable that was left empty: a run of no rules would look like praise."""
    words = _words(text)
    if not words:
        raise argparse.ArgumentTypeError(f"must be codes, prefixes of codes, names or ALL, not {text!r}")
    return words


def _per_file_ignores(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    pairs: list[tuple[str, tuple[str, ...]]] = []
    for word in _words(text):
        glob, colon, selector = word.rpartition(":")
        if colon and glob:
            pairs.append((glob, (selector,)))
        elif pairs and not colon:
            pairs[-1] = (pairs[-1][0], (*pairs[-1][1], word))
        else:
            raise argparse.ArgumentTypeError(f"must be GLOB:RULES, such as 'tests/*:DLL2', not {text!r}")
    return tuple(pairs)


def _setting(key: str) -> Callable[[str], Any]:
    def parse_value(text: str) -> Any:
        try:
            return KEYS[key].parse(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {KEYS[key].allowed}, not {text!r}") from None

    return parse_value


def _listed(key: str) -> Callable[[str], Any]:
    def parse_value(text: str) -> Any:
        try:
            return KEYS[key].parse(_words(text))
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {KEYS[key].allowed}, not {text!r}") from None

    return parse_value
