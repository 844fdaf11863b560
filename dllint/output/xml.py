"""Text that may stand in XML: what two formats share."""

from __future__ import annotations

from dllint.output import printable
from dllint.patterns import pattern

_FORBIDDEN = pattern("[\ufffe\uffff]")


def attribute(text: str) -> str:
    """`text` as the value of an attribute, in quotes, on one line; what XML 1.0 cannot hold becomes an escape."""
    return f'"{escaped(printable(text))}"'


def escaped(text: str) -> str:
    """`text`, which is printable but for its line ends, as the content of an element."""
    found = _FORBIDDEN.sub("\ufffd", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return found.replace('"', "&quot;")
