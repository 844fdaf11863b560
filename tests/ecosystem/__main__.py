"""Lint packages that others wrote, and hold the findings against those that were read.

    python tests/ecosystem check [PACKAGE...]     what is new, gone or moved since the digest; status 1 if anything is
    python tests/ecosystem update [PACKAGE...]    write it to the digest; verdicts stay
    python tests/ecosystem show [--all] [PACKAGE...]   findings without a verdict (or all), with their way and source
    python tests/ecosystem judge PLACE VERDICT REASON  enter a verdict: true, false or debatable
    python tests/ecosystem precision              how often each rule is right, by the verdicts

`judge` takes a place as `check` and `show` print it. Wheels are kept in .cache/ecosystem, or where --cache or the
variable DLLINT_ECOSYSTEM_CACHE says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ecosystem import cache, digest, pins, precision
from ecosystem.digest import DIGEST, Entry
from ecosystem.linting import Found, LintError, lint

CONTEXT = 6
"""Lines of source that `show` prints before and after a finding."""


def known() -> list[Entry]:
    return digest.read(DIGEST.read_text(encoding="utf-8"))


def of(packages: Iterable[str], entries: Iterable[Entry]) -> list[Entry]:
    names = set(packages)
    return [entry for entry in entries if entry.package in names]


def findings(folders: dict[str, Path]) -> list[Found]:
    return [found for package, folder in folders.items() for found in lint(package, folder)]


def check(folders: dict[str, Path]) -> int:
    """Print what has changed, and how many findings there are."""
    found = [one.entry for one in findings(folders)]
    before = of(folders, known())
    difference = digest.compare(before, found)
    for line in difference.lines():
        print(line)
    changes = f"{len(difference.new)} new, {len(difference.gone)} gone, {len(difference.moved)} moved"
    print(f"{len(folders)} packages, {len(found)} findings: {changes}")
    return 1 if difference else 0


def update(folders: dict[str, Path]) -> int:
    """Let the digest say what was found in these packages. Packages that are no longer pinned go."""
    before = known()
    others = of({pin.name for pin in pins.pinned()} - set(folders), before)
    after = digest.merged(of(folders, before), [one.entry for one in findings(folders)])
    DIGEST.write_text(digest.written([*others, *after]), encoding="utf-8")
    return 0


def show(folders: dict[str, Path], everything: bool) -> int:
    """Print findings for somebody who is going to judge them."""
    verdicts = {entry.found: entry.verdict for entry in known()}
    for entry, message, way in findings(folders):
        if everything or not verdicts.get(entry):
            print(f"\n{entry.place} {verdicts.get(entry) or 'unread'}\n  {message}")
            print(*(f"  {number}. {step}" for number, step in enumerate(way, 1)), sep="\n")
            print(excerpt(folders[entry.package] / entry.path, entry.line))
    return 0


def excerpt(path: Path, line: int) -> str:
    rows = path.read_text(encoding="utf-8", errors="replace").splitlines()
    first, last = max(1, line - CONTEXT), min(len(rows), line + CONTEXT)
    return "\n".join(f"{'>' if row == line else ' '}{row:5} {rows[row - 1]}" for row in range(first, last + 1))


def judge(place: str, verdict: str, reason: str) -> int:
    """Enter what somebody thinks of a finding who has read it."""
    entries = known()
    if not any(entry.place == place for entry in entries):
        raise digest.DigestError(f"no finding in the digest is {place}")
    judged = [replace(e, verdict=verdict, reason=reason) if e.place == place else e for e in entries]
    DIGEST.write_text(digest.written(judged), encoding="utf-8")
    return 0


def arguments(words: Sequence[str]) -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="tests/ecosystem", description=__doc__, formatter_class=form)
    parser.add_argument("--cache", type=Path, default=cache.default_folder())
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("check", "update", "show"):
        commands.add_parser(name).add_argument("packages", nargs="*")
    commands.choices["show"].add_argument("--all", action="store_true")
    judging = commands.add_parser("judge")
    judging.add_argument("place")
    judging.add_argument("verdict", choices=digest.VERDICTS)
    judging.add_argument("reason")
    commands.add_parser("precision")
    return parser.parse_args(words)


def run(options: argparse.Namespace) -> int:
    if options.command == "precision":
        print(precision.table(known()))
        return 0
    if options.command == "judge":
        return judge(options.place, options.verdict, options.reason)
    folders = cache.unpacked(pins.pinned(options.packages), options.cache.resolve())
    if options.command == "show":
        return show(folders, options.all)
    return {"check": check, "update": update}[options.command](folders)


if __name__ == "__main__":
    try:
        sys.exit(run(arguments(sys.argv[1:])))
    except (cache.CacheError, digest.DigestError, pins.PinError, LintError) as error:
        sys.exit(f"tests/ecosystem: {error}")
