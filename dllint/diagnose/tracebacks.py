"""Tracebacks, line by line: as Python prints them, and as rich and IPython do."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from dllint.patterns import pattern
from dllint.records import dataclass, field

_HEAD = "Traceback (most recent call last)"
_FRAME = pattern(r'File "(?P<path>[^"]+)", line (?P<row>\d+)(?:, in (?P<function>.+))?')
_OTHER_FRAMES = (
    re.compile(r"\s*(?:File )?(?P<path>\S[^:]*(?::[\\/][^:]*)?\.py):(?P<row>\d+),? in (?P<function>[\w.<>]+)"),
    re.compile(r"(?P<path>\S+\.py) in (?P<function>[\w.<>]+)\("),
    re.compile(r"\s*(?P<path>(?:[A-Za-z]:)?[\\/~]\S*\.py):(?P<row>\d+)\s*$"),
)
"""Of rich and new IPython; of old IPython; of rich where the rest stands on the next line."""
_REST_OF_FRAME = pattern(r"\s*(?:\d+\s*)?in (?P<function>[\w.<>]+)\s*$")
_SOURCE = pattern(r"[\s^~]+|(?:-+>\s*|\s{3,})\d+(?:\s.*)?")
"""What stands below a frame: markers, numbered lines."""
_LIBRARY = pattern(
    r"(?:site|dist)-packages/|^<|/lib/python\d|/python\d[\d.]*/(?:lib/)?"
    r"|[Ll]ib/(?:multiprocessing|concurrent|threading|asyncio|importlib|runpy)|^h5py/|\.pyx$"
)
_REACH = 12
"""Lines after the last frame that still belong to its error: messages may have several."""


class Frame(NamedTuple):
    """A place in the user's own code that a traceback names."""

    path: str
    row: int
    function: str


@dataclass
class Traceback:
    """The traceback that one process is printing, and the places that the last ones went through."""

    frames: list[str] = field(default_factory=list)
    """`path function`, outermost first."""
    users: deque[Frame] = field(default_factory=lambda: deque(maxlen=24))
    age: int = _REACH
    """Lines since the last frame."""
    started: bool = False
    """Whether the last line was the head of a traceback."""
    _after_frame: bool = False

    @property
    def text(self) -> str:
        """The frames, one a line; empty once the traceback has ended."""
        return "\n".join(self.frames) if self.age < _REACH else ""

    def take(self, text: str, *, boxed: bool) -> bool:
        """Whether the line is a part of the traceback before its error; `boxed`: it stands in one of rich's boxes."""
        self.started = _HEAD in text
        if self.started:
            self.frames.clear()
        if self.started or self._enter(text):
            self.age = 0
            return True
        if boxed:
            return True
        after_frame, self._after_frame = self._after_frame, False
        if (after_frame and text.startswith("    ")) or (self.age < _REACH and _SOURCE.fullmatch(text)):
            return True
        self.age += 1
        return False

    def _enter(self, text: str) -> bool:
        if ".py" not in text and 'File "' not in text:
            return self.age == 0 and self._complete(text)
        found = _FRAME.search(text) or next((match for each in _OTHER_FRAMES if (match := each.match(text))), None)
        if found is None:
            return False
        parts = found.groupdict()
        path, function = parts["path"].replace("\\", "/"), (parts.get("function") or "").strip()
        self.frames.append(f"{path} {function}")
        self._after_frame = True
        if not _LIBRARY.search(path):
            self.users.append(Frame(path, int(parts.get("row") or 0), function))
        return True

    def _complete(self, text: str) -> bool:
        found = _REST_OF_FRAME.match(text)
        if found is None or not self.frames or not self.frames[-1].endswith(" "):
            return False
        self.frames[-1] += found["function"]
        return True
