"""Each program on real torch: the bad ones fail as the rule says, the good ones run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache

import pytest

from dllint.basis import TORCH
from program import Program, programs
from running import own_mounts, run

pytestmark = pytest.mark.torch

RUNS = [(program, method) for program in programs() for method in program.outcomes]


def test_the_claims_are_about_this_torch(torch_python: str, torch_version: str) -> None:
    if torch_python != sys.executable:
        pytest.skip("another torch was asked for")
    assert torch_version.partition("+")[0] == TORCH


@cache
def imports(python: str, package: str) -> bool:
    return subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0


@pytest.mark.parametrize(("program", "method"), RUNS, ids=[f"{p.code}-{p.path.stem}-{m}" for p, m in RUNS])
def test_it_ends_as_it_says(
    program: Program,
    method: str,
    torch_python: str,
    torch_version: str,
    record_property: Callable[[str, object], None],
) -> None:
    for package in program.needs.get("needs", "").split():
        if not imports(torch_python, package):
            pytest.skip(f"{package} is not installed")
    if "shm" in program.needs and own_mounts() is None:
        pytest.skip("a private /dev/shm is not permitted here")
    done = run(program, method, torch_python)
    wanted = program.outcomes[method]
    record_property("torch", torch_version)
    record_property(program.code, f"{program.path.stem:<16} {method:<10} {done.kind:<5} {done.seconds:5.1f} s")
    assert wanted.met_by(done.kind, done.output), f"{wanted} was wanted; it {done.kind}:\n{done.output}"
