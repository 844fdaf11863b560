"""What a TOML file holds."""

from __future__ import annotations

import sys
from typing import Any


def tables_of(text: str) -> dict[str, Any]:
    """The tables of a file; none of one that is broken."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError):  # no TOML, a number of more digits than Python reads, or too deep
        return {}
    return found
