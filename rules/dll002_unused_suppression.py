"""DLL002 unused-suppression

## What it does
Reports a code or name in a `# dllint: ignore[...]` or `# noqa: DLL...` comment that switched nothing off, or that no
rule has. Only codes of rules that ran are judged; a bare `# noqa` and the codes of other tools are left alone.

## Why it breaks workers
It does not. But a comment that outlives the problem it excused hides the next one on that line, and a misspelt code
hides nothing at all.

## Example
```python
import h5py

path = "train.h5"  # dllint: ignore[DLL201] opened in the worker
```

## Use instead
```python
import h5py

path = "train.h5"
```

## When to ignore
Where the same file is linted with several settings (platforms, Python versions) and the finding comes with only one.

## References
- The suppression comments of dllint: README.md, "Suppressing findings"
- flake8's `# noqa`: https://flake8.pycqa.org/en/latest/user/violations.html
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.finding import Failure, Finding, Location, Severity
from dllint.rule import Rule
from dllint.suppressions import UnusedSuppression

RULE = Rule(
    code="DLL002",
    name="unused-suppression",
    severity=Severity.WARNING,
    failure=Failure.TOOL,
    since="0.1",
    opt_in=True,
)


@RULE.check
def unused_suppression(unused: UnusedSuppression) -> Iterator[Finding]:
    """Report a suppression that switches nothing off."""
    at = Location(unused.path, unused.row, unused.column, unused.row, unused.end_column)
    reason = "it suppresses no finding" if unused.known else "no rule has this code or name"
    yield RULE.finding(
        at,
        f"Unused suppression of `{unused.selector}`: {reason}",
        help=f"remove `{unused.selector}` from the comment",
        evidence=unused.selector,
    )
