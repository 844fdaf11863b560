"""Syntax that is newer than the Python that runs dllint: `ast` reads only what its own version knows."""

from __future__ import annotations

import re
import sys

from dllint.patterns import pattern

_NESTED_QUOTES = pattern(r"""(?<!\w)(?:f|rf|fr)(["'])(?:(?!\1)[^{])*\{(?:(?!\1)[^}])*\1[^}]*\1[^}]*\}""", re.IGNORECASE)
_SINCE = (
    ((3, 14), pattern(r"""(?<![\w"'])(?:t|tr|rt)["']""", re.IGNORECASE)),
    ((3, 13), pattern(r"^\s*(?:class|(?:async\s+)?def)\s+\w+\s*\[[^\]=]*\w\s*=[^=]")),
    ((3, 12), pattern(r"^\s*(?:class|(?:async\s+)?def)\s+\w+\s*\[")),
    ((3, 12), pattern(r"^\s*type\s+\w+(?:\s*\[.*\])?\s*=[^=]")),
    ((3, 12), _NESTED_QUOTES),
    ((3, 11), pattern(r"^\s*except\s*\*")),
    ((3, 10), pattern(r"^\s*match\s[^=:]+:\s*(?:#.*)?$")),
)
"""What a line looks like that only a newer Python reads, and since which; the newest first."""


def needed(line: str, running: tuple[int, ...] = sys.version_info[:2]) -> tuple[int, int] | None:
    """The Python that the line of a syntax error needs, where that is newer than the running one; else None."""
    return next((since for since, form in _SINCE if since > running and form.search(line)), None)
