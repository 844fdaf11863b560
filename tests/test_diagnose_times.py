"""Logs joined from several pods or ranks: the failure that came first in time leads, wherever it stands."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dllint.diagnose.times import Clock, Moment, moment
from logs import EXITED, KILLED, NO_SHM, WATCHDOG, names, read, traceback

Stamped = Callable[[str, int], str]


def each_line(form: str) -> Stamped:
    return lambda text, second: "".join(f"{form.format(second)}{line}\n" for line in text.splitlines())


def first_line(form: str) -> Stamped:
    """Of a logger: a traceback that it prints has the time of its head alone."""
    return lambda text, second: f"{form.format(second)} ERROR training failed\n{text}"


def as_json(key: str, form: str) -> Stamped:
    def stamped(text: str, second: int) -> str:
        value = form.format(second)
        record = {key: float(value) if value.replace(".", "").isdigit() else value, "msg": "failed", "exc_info": text}
        return json.dumps(record) + "\n"

    return stamped


STAMPS: dict[str, Stamped] = {
    "kubectl logs --timestamps": each_line("2026-11-29T20:33:{:02}.123456789Z "),
    "kubectl with pods": each_line("[pod/trainer-0/main] 2026-11-29T20:33:{:02}.5Z "),
    "container runtime": each_line("2026-11-29T20:33:{:02}.123456789+01:00 stderr F "),
    "compose": each_line("trainer-1  | 2026-11-29T20:33:{:02}Z "),
    "logging": first_line("2026-11-29 20:33:{:02},123"),
    "hydra": first_line("[2026-11-29 20:33:{:02},123][__main__][ERROR] -"),
    "slashes": first_line("2026/11/29 20:33:{:02}"),
    "syslog": each_line("Nov 29 20:33:{:02} node7 train[812]: "),
    "torch": each_line("[rank0]:[E1129 20:33:{:02}.123456 812 train.cpp:7] "),
    "docker json": as_json("time", "2026-11-29T20:33:{:02}.123456789Z"),
    "collector": as_json("@timestamp", "2026-11-29T20:33:{:02}+00:00"),
    "seconds": as_json("ts", "17960708{:02}.25"),
    "milliseconds": as_json("timestamp", "17960708{:02}123"),
}


@pytest.mark.parametrize("form", sorted(STAMPS))
def test_what_came_first_in_time_leads(form: str) -> None:
    stamped = STAMPS[form]
    late = "".join(stamped("step 7\n", second) for second in range(30, 50)) + stamped(WATCHDOG, 59)
    early = "".join(stamped("step 7\n", second) for second in range(10, 20)) + stamped(KILLED, 21)
    assert names(late + early) == ["worker killed", "collective timed out"]
    assert names(early + late) == ["worker killed", "collective timed out"]
    late = "".join(stamped("step 7\n", second) for second in range(30, 50)) + stamped(NO_SHM + "\n", 59)
    assert names(late + early) == ["worker killed", "shared memory full"]


def test_without_times_the_order_of_lines_counts() -> None:
    assert names(WATCHDOG + "step 7\n" * 3000 + KILLED) == ["collective timed out", "worker killed"]


def test_a_failure_without_a_time_makes_the_order_of_lines_count() -> None:
    assert names(WATCHDOG + "2026-11-29 20:33:10 INFO step 7\n" * 3000 + KILLED)[0] == "collective timed out"


def test_times_with_and_without_a_zone_cannot_be_compared() -> None:
    here, there = STAMPS["logging"](WATCHDOG, 50), STAMPS["kubectl logs --timestamps"](KILLED, 10)
    assert names(here + there) == ["collective timed out", "worker killed"]


def test_a_symptom_told_before_its_cause_stands_behind_it() -> None:
    stamped = STAMPS["kubectl logs --timestamps"]
    assert names(stamped(EXITED, 20) + stamped(NO_SHM, 22)) == ["shared memory full", "worker exited"]
    assert names(stamped(EXITED, 20) + stamped(NO_SHM, 55)) == ["worker exited", "shared memory full"]


def test_the_same_failure_twice_counts_from_the_earlier_one() -> None:
    stamped = STAMPS["kubectl logs --timestamps"]
    log = stamped(KILLED, 40) + stamped(NO_SHM, 30) + stamped(KILLED, 20)
    assert names(log) == ["worker killed", "shared memory full"]
    lines = [each.line for each in read(log).diagnoses[0].evidence]
    assert lines[0] > lines[1]


def test_the_time_of_a_bare_traceback_is_that_of_the_line_before() -> None:
    last = "RuntimeError: received 0 items of ancdata"
    late = "2026-11-29 20:33:40,1 INFO step 7\n" * 40 + traceback("/srv/train.py main", last=last)
    early = "2026-11-29 20:32:10,1 INFO step 7\n" * 40 + KILLED
    assert names(late + early) == ["worker killed", "ancdata"]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2024-05-01 10:00:00", Moment(Clock.LOCAL, 1714557600, whole=True)),
        ("2024-05-01T10:00:00.5Z", Moment(Clock.UTC, 1714557600.5, whole=False)),
        ("2024-05-01T12:00:00+02:00", Moment(Clock.UTC, 1714557600, whole=True)),
        ("2024-05-01T04:30:00 -0530", Moment(Clock.UTC, 1714557600, whole=True)),
        ("1714557600", Moment(Clock.UTC, 1714557600, whole=True)),
        ("1714557600500", Moment(Clock.UTC, 1714557600.5, whole=False)),
        ("1714557600000000000", Moment(Clock.UTC, 1714557600, whole=True)),
        ("12", None),
        ("nan", None),
        ("10:00:00", None),
        ("2024-02-31 10:00:00", None),
        ("", None),
    ],
)
def test_stamps(stamp: str, expected: Moment | None) -> None:
    assert moment(stamp) == expected


def test_odd_lines_take_linear_time() -> None:
    for text in ("msg=" + "a=" * 50_000 + '"', "a=b " * 50_000 + 'msg="', "[" * 100_000, "1-" * 50_000 + ":"):
        assert names(f"RuntimeError: Caught {text}\n{text}\n") == []
