"""Which rules there are: told by the names and texts of their files, since importing sixty modules costs more than most
runs need. A rule's module is imported when there is something for it to look at.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module

from dllint.files import content_of
from dllint.finding import Finding
from dllint.records import dataclass
from dllint.rule import Rule, UnknownRuleError

_PACKAGE = "dllint.rules"
_SUFFIX = ".py"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a rule before its module is imported."""

    code: str
    name: str
    opt_in: bool
    """Whether it runs only when it is selected."""
    subject: str
    """The name of the class of its check's argument."""
    module: str
    """The module that holds it, by its whole name."""

    @property
    def rule(self) -> Rule:
        """The rule itself."""
        return _held_by(self.module)

    def check(self, subject: object) -> Iterable[Finding]:
        """What the rule reports on one subject."""
        check = self.rule.run
        assert check is not None
        return check(subject)


@cache
def _held_by(name: str) -> Rule:
    module = import_module(name)
    rule: Rule = module.RULE
    rule.doc = module.__doc__ or ""
    return rule


@cache
def listing() -> dict[str, Entry]:
    """All rules by code, in the order of their codes. Each module of `dllint.rules` named `dll...` is one."""
    folder = import_module(_PACKAGE).__path__[0]
    names = sorted(name for name in os.listdir(folder) if name.startswith("dll") and name.endswith(_SUFFIX))
    entries = (_entry(os.path.join(folder, name), name.removesuffix(_SUFFIX)) for name in names)
    return {entry.code: entry for entry in entries}


def _entry(path: str, stem: str) -> Entry:
    code, _, words = stem.partition("_")
    text = content_of(path).replace(b"\r", b"")
    given = text.partition(b"\nRULE = Rule(")[2].partition(b"\n)")[0]
    signature = text.partition(b"\n@RULE.check\ndef ")[2].partition(b")")[0]
    return Entry(
        code=code.upper(),
        name=words.replace("_", "-"),
        opt_in=b"opt_in=True" in given,
        subject=signature.rpartition(b": ")[2].decode(),
        module=f"{_PACKAGE}.{stem}",
    )


def registry() -> dict[str, Rule]:
    """All rules by code, each with its module imported."""
    return {code: entry.rule for code, entry in listing().items()}


def rule_named(text: str) -> Rule:
    """The rule with this code or name, in any case of letters. Raises UnknownRuleError."""
    wanted = text.strip().lower()
    for entry in listing().values():
        if wanted in (entry.code.lower(), entry.name):
            return entry.rule
    raise UnknownRuleError(f"no rule is called {text!r}; `dllint rules` lists them")


def expand(selector: str) -> Iterator[Entry]:
    """The rules that a code, a prefix of codes (`DLL2`), a name or `ALL` means. Raises UnknownRuleError if none."""
    wanted = selector.strip()
    if wanted.upper() == "ALL":
        yield from listing().values()
        return
    prefix = wanted.upper()
    matches = [entry for entry in listing().values() if entry.name == wanted.lower() or entry.code.startswith(prefix)]
    if not matches or not wanted:
        codes = ", ".join(listing())
        raise UnknownRuleError(f"no rule matches {selector!r}; use ALL, a prefix, a name, or one of: {codes}")
    yield from matches
