"""Which rules the settings switch on, where they are silent, and how bad their findings count."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from dllint.finding import Finding, Severity
from dllint.globs import Globs
from dllint.registry import Entry, expand, listing
from dllint.rule import UnknownRuleError
from dllint.settings import Settings, SettingsError

_NEVER = -1
_DEFAULT = 0
_BY_NAME = 1_000


def enabled_rules(settings: Settings) -> list[Entry]:
    """The rules to run, in the order of their codes.

    For each rule the most specific selector wins (`ALL`, then longer and longer prefixes, then the name); at equal
    length `ignore` wins. Raises SettingsError for a selector that no rule matches.
    """
    check_selectors(settings)
    selectors = [*(settings.select or ()), *settings.extend_select]
    selected = {code: _DEFAULT for code, rule in listing().items() if settings.select is None and not rule.opt_in}
    _weigh(selectors, selected)
    ignored: dict[str, int] = {}
    _weigh(settings.ignore, ignored)
    rules = listing().values()
    return [rule for rule in rules if selected.get(rule.code, _NEVER) > ignored.get(rule.code, _NEVER)]


def is_shown(settings: Settings, finding: Finding) -> bool:
    """Whether a finding of an enabled rule is one to show: one of severity info only where its rule was asked for."""
    if finding.severity is not Severity.INFO:
        return True
    asked = [*(settings.select or ()), *settings.extend_select]
    return any(rule.code == finding.code for selector in asked for rule in expand(selector))


def _weigh(selectors: Iterable[str], weights: dict[str, int]) -> None:
    for selector in selectors:
        for rule in expand(selector):
            weights[rule.code] = max(weights.get(rule.code, _NEVER), _specificity(selector, rule))


def _specificity(selector: str, rule: Entry) -> int:
    wanted = selector.strip().upper()
    if wanted == "ALL":
        return _DEFAULT + 1
    return len(wanted) + 1 if rule.code.startswith(wanted) and wanted != rule.code else _BY_NAME


def check_selectors(settings: Settings) -> None:
    """Raise SettingsError for the first selector in `settings` that stands for no rule; name its key."""
    for key, selector in _selectors(settings):
        _check(key, selector, f"{settings.path}: " if settings.path else "")


def _check(key: str, selector: str, place: str) -> None:
    try:
        next(expand(selector))
    except UnknownRuleError as error:
        raise SettingsError(f"{place}{key}: {error}{_suggestion(selector)}") from None


def _selectors(settings: Settings) -> Iterator[tuple[str, str]]:
    for key, selectors in (
        ("select", settings.select or ()),
        ("extend-select", settings.extend_select),
        ("ignore", settings.ignore),
    ):
        for selector in selectors:
            yield key, selector
    for _, ignored in settings.per_file_ignores:
        for selector in ignored:
            yield "per-file-ignores", selector
    for selector, _ in settings.severity:
        yield "severity", selector


def _suggestion(selector: str) -> str:
    from difflib import get_close_matches

    words = {word.lower(): word for rule in listing().values() for word in (rule.code, rule.name)}
    close = get_close_matches(selector.lower(), words, n=1)
    return f"; did you mean {words[close[0]]!r}?" if close else ""


def ignored_in(settings: Settings, path: str, code: str) -> bool:
    """Whether `per-file-ignores` makes the rule `code` silent in the file `path`."""
    if not settings.per_file_ignores:
        return False
    absolute = os.path.abspath(path)
    return any(
        _fits(absolute, glob, settings.root) and any(code == rule.code for s in selectors for rule in expand(s))
        for glob, selectors in settings.per_file_ignores
    )


def _fits(absolute: str, glob: str, root: str) -> bool:
    """Whether the file lies where `glob` says; a leading `!` turns the answer round."""
    if glob.startswith("!"):
        return not _fits(absolute, glob[1:], root)
    return Globs((glob,), root).match(absolute)


def severity_of(settings: Settings, finding: Finding) -> Severity:
    """The severity that the user gave to the finding's rule, else the finding's own."""
    severity = finding.severity
    weight = _NEVER
    for selector, wanted in settings.severity:
        for rule in expand(selector):
            if rule.code == finding.code and (specificity := _specificity(selector, rule)) > weight:
                severity, weight = wanted, specificity
    return severity
