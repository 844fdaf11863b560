"""What is known of one error text."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from dllint.finding import Failure


class Role(IntEnum):
    """What the text says about the failure."""

    CAUSE = 0
    """It names what went wrong."""
    SYMPTOM = 1
    """It is how main noticed: a cause close to it explains it, even one that is printed after it."""
    FOLLOWER = 2
    """It comes of something that failed before, unless nothing did."""
    NOTE = 3
    """A warning: nothing has failed yet."""


class Signature(NamedTuple):
    """One error text."""

    name: str
    failure: Failure
    pattern: str
    """A regular expression, searched in a line without colours and prefixes."""
    meaning: str
    torch: str
    """The versions that print it."""
    source: str
    """Where the text was seen: `run` (provoked and captured), `read` (in the source), or an issue."""
    role: Role = Role.CAUSE
    inside: str = ""
    """A regular expression on the frames of the traceback, `path function` a line; without frames it does not count,"""
    strict: bool = False
    """unless they are demanded."""
