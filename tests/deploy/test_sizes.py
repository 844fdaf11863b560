"""The four grammars of sizes, case by case as docker 28.2.2, kubectl 1.32.4 and mount(8) read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dllint.deploy.sizes import (
    GIB,
    MIB,
    docker_bytes,
    docker_sdk_bytes,
    is_share_of_memory,
    quantity,
    shown,
    tmpfs_bytes,
)

REFUSED = None

DOCKER = {
    "8g": 8 * GIB,
    "8G": 8 * GIB,
    "8gb": 8 * GIB,
    "8GB": 8 * GIB,
    "8Gb": 8 * GIB,
    "8gB": 8 * GIB,
    "8GiB": 8 * GIB,
    "8gib": 8 * GIB,
    "8 GB": 8 * GIB,
    "8Gi": REFUSED,
    "8  GB": REFUSED,
    " 8g": REFUSED,
    "8g ": REFUSED,
    "8589934592": 8 * GIB,
    "8": 8,
    "8b": 8,
    "64m": 64 * MIB,
    "64M": 64 * MIB,
    "8k": 8 << 10,
    "8K": 8 << 10,
    "8Ki": REFUSED,
    "1.5g": 3 * GIB // 2,
    ".5g": GIB // 2,
    "5.": 5,
    "1e9": 10**9,
    "8t": 8 << 40,
    "8p": 8 << 50,
    "8e": REFUSED,
    "+8g": 8 * GIB,
    "8_000": 8000,
    "-1": REFUSED,
    "": REFUSED,
    "0x10": REFUSED,
    "0": 0,
    "50%": REFUSED,
    "\u0668g": REFUSED,
}
QUANTITY = {
    "8g": REFUSED,
    "8G": 8 * 10**9,
    "8gb": REFUSED,
    "8GB": REFUSED,
    "8GiB": REFUSED,
    "8Gi": 8 * GIB,
    "8 GB": REFUSED,
    " 8Gi": REFUSED,
    "8589934592": 8 * GIB,
    "8": 8,
    "64m": 0.064,
    "64M": 64 * 10**6,
    "64Mi": 64 * MIB,
    "8k": 8000,
    "8K": REFUSED,
    "8Ki": 8192,
    "1.5Gi": 3 * GIB // 2,
    ".5Gi": GIB // 2,
    "1e9": 10**9,
    "8E": 8 * 10**18,
    "8T": 8 * 10**12,
    "8P": 8 * 10**15,
    "8_000": REFUSED,
    "-1": -1,
    "": REFUSED,
    ".": REFUSED,
    "0x10": REFUSED,
    "1500m": 1.5,
}
TMPFS = {
    "8g": 8 * GIB,
    "8G": 8 * GIB,
    "8192m": 8 * GIB,
    "8k": 8192,
    "8589934592": 8 * GIB,
    "8gb": REFUSED,
    "8Gi": REFUSED,
    "1.5g": REFUSED,
    "50%": REFUSED,
    "": REFUSED,
}


@pytest.mark.parametrize(("text", "size"), DOCKER.items())
def test_docker_and_compose(text: str, size: int | None) -> None:
    assert docker_bytes(text) == size


@pytest.mark.parametrize(("text", "size"), QUANTITY.items())
def test_a_kubernetes_quantity(text: str, size: float | None) -> None:
    assert quantity(text) == size


@pytest.mark.parametrize(("text", "size"), TMPFS.items())
def test_an_option_of_tmpfs(text: str, size: int | None) -> None:
    assert tmpfs_bytes(text) == size


def test_a_share_of_the_memory_is_a_size_that_nobody_can_know_here() -> None:
    assert is_share_of_memory("50%")
    assert not is_share_of_memory("50")


@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5_000, "1e999", "0." + "1" * 5_000])
@pytest.mark.parametrize("unit", ["", "g", "Gi", "m"])
def test_no_number_is_too_large_to_be_read(digits: str, unit: str) -> None:
    for read in (docker_bytes, docker_sdk_bytes, quantity, tmpfs_bytes):
        assert float(read(f"{digits}{unit}") or 0) <= 2.0**63


@given(st.text(max_size=20))
def test_no_text_makes_a_grammar_fail(text: str) -> None:
    for read in (docker_bytes, quantity, tmpfs_bytes):
        read(text)


@given(st.integers(min_value=0, max_value=1 << 62))
def test_a_whole_number_is_bytes_to_everyone(number: int) -> None:
    assert docker_bytes(str(number)) in (number, int(float(number)))
    assert quantity(str(number)) == number
    assert tmpfs_bytes(str(number)) == number


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (8, "8 bytes"), (64 * MIB, "64 MB"), (GIB, "1 GB"), (3 * GIB // 2, "1.5 GB"), (16384, "16 kB")],
)
def test_sizes_are_shown_as_people_write_them(size: int, text: str) -> None:
    assert shown(size) == text
