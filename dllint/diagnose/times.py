"""When a line of a log was written, by the time that a runtime, a collector or a logger put on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from dllint.patterns import pattern

_KEYS = ("@timestamp", "timestamp", "time", "ts", "asctime", "datetime", "date", "created", "t")
_ISO = pattern(
    r"(?P<date>\d{4}[-/]\d\d[-/]\d\d)[T _](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d+))?"
    r"\ ?(?:(?P<utc>Z|UTC)|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?"
)
_YEARLESS = pattern(r"(?P<date>\d{4}|[A-Z][a-z]{2} [ \d]\d) (?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d+))?")
_SOME_LEAP_YEAR = 2024
_SECONDS, _LARGEST = (1e8, 1e11), 1e20
"""What a number of seconds since 1970 lies between; milliseconds, micro- and nanoseconds lie above."""


class Clock(Enum):
    """What a time refers to: those of one clock can be held against one another."""

    UTC = "utc"
    LOCAL = "local"
    YEARLESS = "yearless"


class Moment(NamedTuple):
    """A point in time."""

    clock: Clock
    seconds: float
    whole: bool
    """Whether it is told in whole seconds."""


@lru_cache(maxsize=256)
def moment(stamp: str) -> Moment | None:
    """The time that a stamp tells: ISO 8601 and what is close to it, seconds since 1970, those of glog and syslog."""
    try:
        return _of_number(float(stamp))
    except ValueError:
        pass
    try:
        return _of_iso(stamp) or _yearless(stamp)
    except ValueError:  # the 31st of February
        return None


def stamp_of(record: dict[str, Any]) -> str:
    """The time that a JSON record has under one of the usual keys, or nothing."""
    for key in _KEYS:
        value = record.get(key)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and moment(str(value)):
            return str(value)
    return ""


def comparable(moments: Iterable[Moment | None]) -> Sequence[float] | None:
    """Seconds that tell what came first; None where one has no time, or another clock than the others."""
    clocks, coarse, seconds = set(), False, []
    for each in moments:
        if each is None:
            return None
        clocks.add(each.clock)
        coarse |= each.whole
        seconds.append(each.seconds)
    if len(clocks) != 1:
        return None
    return [float(int(each)) for each in seconds] if coarse else seconds


def _of_number(number: float) -> Moment | None:
    if not _SECONDS[0] <= number <= _LARGEST:
        return None
    while number > _SECONDS[1]:
        number /= 1000
    return Moment(Clock.UTC, number, whole=number.is_integer())


def _of_iso(stamp: str) -> Moment | None:
    found = _ISO.match(stamp)
    if found is None:
        return None
    local = _seconds(f"{found['date'].replace('/', '-')} {found['clock']}", "%Y-%m-%d %H:%M:%S", found["fraction"])
    whole = found["fraction"] is None
    if not found["utc"] and not found["sign"]:
        return Moment(Clock.LOCAL, local, whole)
    offset = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0)).total_seconds()
    return Moment(Clock.UTC, local + (offset if found["sign"] == "-" else -offset), whole)


def _yearless(stamp: str) -> Moment | None:
    found = _YEARLESS.match(stamp)
    if found is None:
        return None
    day = "%m%d" if found["date"].isdigit() else "%b %d"
    text = f"{_SOME_LEAP_YEAR} {found['date']} {found['clock']}"
    return Moment(Clock.YEARLESS, _seconds(text, f"%Y {day} %H:%M:%S", found["fraction"]), found["fraction"] is None)


def _seconds(text: str, form: str, fraction: str | None) -> float:
    parsed = datetime.strptime(text, form).replace(tzinfo=timezone.utc)
    return parsed.timestamp() + float(f"0.{fraction or 0}")
