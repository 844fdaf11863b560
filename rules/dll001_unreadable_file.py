"""DLL001 unreadable-file

## What it does
Reports a file that cannot be decoded or parsed, where it matters: it speaks of torch's datasets or loaders, it names
torch in an encoding that Python does not read (UTF-16, one that there is not), it is plainly a Dockerfile, a compose
file or a manifest of Kubernetes, or it was named on the command line. So it does a folder that cannot be listed.
The reason may be wrong bytes for its encoding, a syntax error, Python 2, NUL bytes, a size that no source file has, or
syntax that is newer than the Python that runs dllint. Other Python is not looked into, broken or not, for it can hold
nothing that any rule reports.

## Why it breaks workers
What cannot be read is not checked: the classes in it count as unknown, and their findings are missing. A linter that
stays silent about that would look like one that found nothing.

## Example
```python
from torch.utils.data import DataLoader

loader = DataLoader(dataset, num_workers=4
```

## Use instead
```python
from torch.utils.data import DataLoader

loader = DataLoader(dataset, num_workers=4)
```

## When to ignore
For files that are not meant to parse: templates with placeholders, test data for parsers, Python 2 code. Leave them out
with `extend-exclude`.

## References
- Encoding declarations: https://peps.python.org/pep-0263/
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dllint.code.unreadable import Unreadable
from dllint.finding import Failure, Finding, Location, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL001",
    name="unreadable-file",
    severity=Severity.ERROR,
    failure=Failure.TOOL,
    since="0.1",
)


@RULE.check
def unreadable_file(unreadable: Unreadable) -> Iterator[Finding]:
    """Report a file that cannot be decoded or parsed."""
    row, column = max(unreadable.row, 1), max(unreadable.column, 1)
    yield RULE.finding(
        Location(unreadable.path, row, column, row, column + 1),
        f"Cannot read this {unreadable.what}: {_reason(unreadable)}",
        help=f"{_cure(unreadable)}, or leave it out with `extend-exclude`; nothing in it was checked",
    )


def _reason(unreadable: Unreadable) -> str:
    if unreadable.needs is None:
        return unreadable.reason
    return f"its syntax needs Python {_dotted(unreadable.needs)}, and dllint runs on {_dotted(sys.version_info[:2])}"


def _cure(unreadable: Unreadable) -> str:
    if unreadable.what == "folder":
        return "let the one who runs dllint read the folder"
    if unreadable.needs is None:
        return f"mend the {unreadable.what}"
    return f"install and run dllint with Python {_dotted(unreadable.needs)} or newer"


def _dotted(version: tuple[int, ...]) -> str:
    return f"{version[0]}.{version[1]}"
