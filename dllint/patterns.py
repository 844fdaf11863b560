"""Regular expressions that are compiled when they are first used: most runs need few of those that modules hold.

To a type checker `pattern` is `re.compile`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern
else:
    import re

    class pattern:  # noqa: N801 - called as a function, like `re.compile`
        """A pattern whose methods are there once they are asked for."""

        def __init__(self, text, flags=0):
            self._given = text, flags

        def __getattr__(self, name):
            method = getattr(re.compile(*self._given), name)
            setattr(self, name, method)
            return method
