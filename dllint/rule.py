"""The Rule type: what a rule module holds.

A rule module holds one `RULE` and one check. The type of the check's first argument is its subject: the linter calls
the check once for each dataset, loader, module ... that the project has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from dllint.basis import Basis
from dllint.finding import Failure, Finding, Fix, Location, Related, Severity
from dllint.records import dataclass, field

Check = Callable[[Any], Iterable[Finding]]

DOC_HEADINGS = (
    "What it does",
    "Why it breaks workers",
    "Example",
    "Use instead",
    "When to ignore",
    "References",
)
"""The headings of a rule module's docstring, in this order."""

DOCS_URL = "https://github.com/dllint/dllint/blob/main/rules/README.md"


class UnknownRuleError(ValueError):
    """A code, a prefix or a name that no rule has; the message lists what would be right."""


@dataclass(slots=True)
class Rule:
    """One kind of failure. `opt_in` rules run only when they are selected."""

    code: str
    name: str
    severity: Severity
    failure: Failure
    since: str
    basis: Basis | None = None
    """How it is known that the failure is real; None for rules on the use of dllint itself."""
    opt_in: bool = False
    replaced_by: tuple[str, ...] = ()
    """Codes of more specific rules: where one of these reports on the same line, this rule is silent."""
    doc: str = ""
    run: Check | None = None
    subject: type | None = None
    """The class of the check's argument."""
    _subject_name: str = field(default="", repr=False)

    def check(self, function: Check) -> Check:
        """Register `function` (a decorator) as this rule's check."""
        annotation = next(iter(getattr(function, "__annotations__", {}).values()), None)
        module = sys.modules[function.__module__]
        self.subject = getattr(module, annotation, None) if isinstance(annotation, str) else annotation
        if not isinstance(self.subject, type):
            raise TypeError(f"{self.code}: the check's argument needs the class of its subject as annotation")
        self.run = function
        return function

    def finding(
        self,
        at: Location,
        message: str,
        *,
        help: str = "",  # noqa: A002 - the field of Finding that it fills
        related: Iterable[Related] = (),
        symbol: str = "",
        evidence: str = "",
        severity: Severity | None = None,
        fix: Fix | None = None,
    ) -> Finding:
        """A finding of this rule; `severity` only where this one finding differs from the rule's own."""
        return Finding(
            code=self.code,
            name=self.name,
            message=message,
            severity=self.severity if severity is None else severity,
            failure=self.failure,
            location=at,
            help=help,
            related=tuple(related),
            symbol=symbol,
            evidence=evidence,
            fix=fix,
        )

    @property
    def url(self) -> str:
        """Where the documentation of this rule stands."""
        return rule_url(self.code, self.name)

    @property
    def sections(self) -> dict[str, str]:
        """The module docstring, cut at its `## ` headings: heading -> text."""
        parts = self.doc.split("\n## ")[1:]
        pairs = (part.split("\n", 1) for part in parts)
        return {pair[0].strip(): pair[1].strip() if len(pair) > 1 else "" for pair in pairs}


def rule_url(code: str, name: str) -> str:
    """Where the documentation of the rule with this code and name stands."""
    return f"{DOCS_URL}#{code.lower()}-{name}"
