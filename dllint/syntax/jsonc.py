"""JSON with comments and trailing commas -> JSON that YAML's parser reads, with every character in its place."""

from __future__ import annotations

import re

from dllint.patterns import pattern

_PART = pattern(
    r'"(?:[^"\\\n]|\\.)*"?|//[^\n\r]*|/\*(?:(?!\*/).)*(?:\*/)?'
    r"|,(?=\s*(?:(?://[^\n\r]*[\n\r]|/\*(?:(?!\*/).)*\*/)\s*)*[}\]])",
    re.DOTALL,
)
_NO_END = pattern(r"[^\n\r]")


def masked(text: str) -> str:
    """The text with comments and trailing commas made blank, and tabs of the indentation made spaces."""
    return _PART.sub(_blank, text).replace("\t", " ")


def _blank(found: re.Match[str]) -> str:
    part = found[0]
    return part if part.startswith('"') else _NO_END.sub(" ", part)
