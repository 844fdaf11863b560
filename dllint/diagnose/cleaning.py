"""One line of a log without what terminals, loggers and launchers add: colours, prefixes, JSON around the message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from dllint.diagnose.times import stamp_of
from dllint.patterns import pattern


class Line(NamedTuple):
    """What one process wrote."""

    who: str
    """What the prefixes say of the writer: rank, pod, container. Empty for a log of one writer."""
    text: str
    """Without colours and prefixes; spaces at its start are kept, they tell source code from messages."""
    stamp: str = ""
    """The time that was put on it, as it was written; the outermost one, where there are several."""
    boxed: bool = False
    """Whether rich has drawn a box around it, as it does around the frames of a traceback."""


_ESCAPES = pattern(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]|(?:\^\[|#033|\\x1b|\\u001b)\[[\d;]*m"
)
_ESCAPE_MARK = pattern(r"\x1b|\^\[\[|#033\[|\\(?:x1b|u001b)\[")
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_PREFIX = pattern(
    rf"""
    \[?(?P<iso>\d{{4}}[-/]\d\d[-/]\d\d,?[T\ _]{_TIME}(?:Z|\ ?[+-]\d\d:?\d\d|\ UTC)?)\]?(?:\ -)?[\ :]?   # ISO time
    | \[?{_TIME}\]?\ (?:-\ )?  # time of day
    | (?P<syslog>[A-Z][a-z]{{2}}\ [ \d]\d\ {_TIME})\ [\w.-]+\ (?P<unit>[\w./@-]+(?:\[\d+\])?):\ ?  # syslog, journald
    | \[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)(?:\]|\ *[:|]|\ -)\ ?  # loggers
    | \[?[EWIF](?P<glog>\d{{4}}\ {_TIME})\ +(?:\d+\ )?[\w./-]+:\d+\]\ ?  # glog
    | (?P<task>\[[\w.,/:@=+ -]{{1,80}}\](?:<std(?:err|out)>)?:?)\ ?(?=.*\S)  # [rank0]: [pod/a/b] [1,0]<stderr>:
    | (?P<service>[\w.-]+)\ *\|\ ?  # compose
    | \((?P<actor>[\w.:<>-]+\ (?:pid=\d+|ip=)[^)]*)\)\ ?  # ray
    | (?P<number>\d{{1,5}}):\ ?  # srun -l
    | (?P<host>\d{{1,3}}(?:\.\d{{1,3}}){{3}}|[a-z][\w.-]*-\d+):\ ?  # pdsh
    | >\ (?=\S|\ )                                                             # quoted in a mail or an issue
    | (?:stdout|stderr)\ [FP]\ ?  # container runtimes
    """,
    re.VERBOSE,
)
_MOST_PREFIXES = 6
_MESSAGE_KEYS = ("message", "msg", "log", "text", "event", "textPayload", "MESSAGE", "body", "short_message", "line")
_ERROR_KEY = pattern(r"exc|err|trace|stack", re.IGNORECASE)
_LOGFMT = pattern(r"(?:[\w.]+=(?:\"(?:[^\"\\]|\\.)*\"|[^\s\"]*)(?:\s+|$)){2,}$")
_LOGFMT_PAIR = pattern(r"(?<![\w.])([\w.]+)=(\"(?:[^\"\\]|\\.)*\"|[^\s\"]*)")
_ESCAPED_NEWLINE = pattern(r"\\n|#012")
_BOX = "│┃❱ "
_BOXES = ("│", "┃")
_DEEPEST = 4
_LONGEST = 10_000
"""Characters of a line that are looked at together: searches take time that grows faster than lines do."""


def lines_of(raw: bytes) -> Iterator[Line]:
    """The lines that the bytes of one line of a log hold: several where a progress bar or a logger made one of them."""
    for piece in raw.replace(b"\0", b"").split(b"\r"):
        text = piece.decode("utf-8", "replace").lstrip("\ufeff")
        if not text.strip():
            continue
        who, stamp, text = _without_prefixes(_without_colours(text))
        if text.startswith("{"):
            yield from _of_json(who, stamp, text)
        elif "msg=" in text and _LOGFMT.match(text):
            yield from _of_record(who, stamp, _of_logfmt(text))
        elif text.startswith(_BOXES):
            yield Line(who, text.strip(_BOX), stamp, boxed=True)
        else:
            yield from _split(who, stamp, text)


def _without_colours(text: str) -> str:
    if _ESCAPE_MARK.search(text):
        text = _ESCAPES.sub("", text)
    return text


def _without_prefixes(text: str) -> tuple[str, str, str]:
    """Who wrote it, when, and what is left."""
    who, stamp = [], ""
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(text)
        if found is None:
            break
        kind = found.lastgroup
        if kind in ("iso", "glog"):
            stamp = stamp or found[kind]
        elif kind is not None:
            who.append(found[kind])
            stamp = stamp or found["syslog"] or ""
        text = text[found.end() :]
    return " ".join(who), stamp, text


def _split(who: str, stamp: str, text: str) -> Iterator[Line]:
    """Undo what loggers do to a traceback that has to fit on one line."""
    if "  File " in text and _ESCAPED_NEWLINE.search(text):
        text = _ESCAPED_NEWLINE.sub("\n", text).replace("\\'", "'").replace('\\"', '"')
    for line in text.split("\n"):
        yield from (Line(who, line[start : start + _LONGEST], stamp) for start in range(0, len(line) or 1, _LONGEST))


def _of_json(who: str, stamp: str, text: str) -> Iterator[Line]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):  # cut off, or not JSON after all
        yield from _split(who, stamp, text.replace('\\"', '"'))
        return
    yield from _of_record(who, stamp, record)


def _of_logfmt(text: str) -> dict[str, str]:
    """`level=error msg="..."` as a record."""
    return {key: _unquoted(value) for key, value in _LOGFMT_PAIR.findall(text)}


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:  # an escape that JSON does not know
        return value


def _of_record(who: str, stamp: str, record: dict[str, Any]) -> Iterator[Line]:
    stamp = stamp or stamp_of(record)
    for message in _messages(record, _DEEPEST) or _texts(record, _DEEPEST):
        for line in _without_colours(message).split("\n"):
            name, own, line = _without_prefixes(line.rstrip("\r"))
            yield from _split(f"{who} {name}".strip(), stamp or own, line)


def _messages(value: Any, depth: int) -> list[str]:
    """What stands in a record under the usual keys, however deep."""
    if isinstance(value, list) and depth:
        return [text for item in value for text in _messages(item, depth - 1)]
    if not isinstance(value, dict) or not depth:
        return []
    messages = [value[key] for key in _MESSAGE_KEYS if isinstance(value.get(key), str)]
    errors = [_joined(item) for key, item in value.items() if key not in _MESSAGE_KEYS and _ERROR_KEY.search(key)]
    below = [text for item in value.values() for text in _messages(item, depth - 1)]
    return [*messages, *filter(None, errors), *below]


def _joined(value: Any) -> str:
    """A text, or the lines of one in a list."""
    lines = value if isinstance(value, list) else [value]
    return "\n".join(lines) if all(isinstance(line, str) for line in lines) else ""


def _texts(value: Any, depth: int) -> list[str]:
    """All texts of a record."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, dict | list) or not depth:
        return []
    return [text for item in (value.values() if isinstance(value, dict) else value) for text in _texts(item, depth - 1)]
