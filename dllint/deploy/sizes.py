"""How those who read a size of memory read it. Each consumer has its own grammar; a wrong size is refused or misread.

Measured on docker 28.2.2 (`--shm-size`, compose `shm_size`), kubectl 1.32.4 (quantities) and mount(8) on Linux 6.18
(tmpfs options).
"""

from __future__ import annotations

import re

from dllint.patterns import pattern

MIB = 1 << 20
GIB = 1 << 30
DEFAULT_SHM = 64 * MIB
"""What docker, podman, containerd and CRI-O give a container for /dev/shm where nobody says otherwise."""

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_DOCKER = pattern(rf"({_NUMBER}) ?(?:([kmgtp])(?:b|ib)?|b)?", re.IGNORECASE | re.ASCII)
_SDK = pattern(rf"({_NUMBER})\s*([bkmgt])b?", re.IGNORECASE | re.ASCII)
_QUANTITY = pattern(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d{1,3}))?", re.ASCII)
_TMPFS = pattern(r"(\d{1,40})([kmgtpe%]?)", re.IGNORECASE | re.ASCII)
_BINARY = {unit: 1 << (10 * power) for power, unit in enumerate("kmgtpe", 1)}
_MOST = (1 << 63) - 1
_MOST_DIGITS = 40
_MOST_POWER = 30
_MULTIPLE = {f"{unit}i".capitalize(): factor for unit, factor in _BINARY.items()}
_MULTIPLE |= {unit: 1000**power for power, unit in enumerate("kMGTPE", 1)}
_PART = {"n": 10**9, "u": 10**6, "m": 1000}


def docker_bytes(text: str) -> int | None:
    """Bytes that docker, podman and compose read (go-units `RAMInBytes`); None where they refuse the text.

    All units are powers of 1024: `8g`, `8GB` and `8 GiB` are one size. `8Gi` is refused.
    """
    found = _DOCKER.fullmatch(text.replace("_", "") if re.match(r"\d[\d_]*", text) else text)
    if found is None:
        return None
    value = float(found[1]) * _BINARY.get((found[2] or "").lower(), 1)
    return int(value) if 0 <= value < float(1 << 63) else None


def docker_sdk_bytes(text: str) -> int | None:
    """Bytes that the docker SDK for Python reads (`docker.utils.parse_bytes`); None where it raises.

    A unit is one of `b k m g t`, with a `b` behind it or not, in powers of 1024: `8GiB` and `8Gi` are refused.
    """
    found = _SDK.fullmatch(text)
    if found is None:
        return docker_bytes(text) if text.isdecimal() else None
    return min(_MOST, int(min(float(found[1]), _MOST) * _BINARY.get(found[2].lower(), 1)))


def quantity(text: str) -> float | None:
    """The number that a Kubernetes quantity means, such as bytes or processors; None where the API server refuses it.

    `8G` is 8 x 1000^3, `8Gi` is 8 x 1024^3, `64m` is 0.064; `8g`, `8gb`, `8GiB` and `8K` are refused. Whole numbers are
    exact. What nobody can have is capped, as the API server caps it.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None or not found[1].strip("+-."):
        return None
    unit, power = found[2] or "", int(found[3] or 0)
    number, _, decimals = found[1][:_MOST_DIGITS].partition(".")
    if len(number) == _MOST_DIGITS or power > _MOST_POWER:
        return -_MOST if number.startswith("-") else _MOST
    over: int = int(number + decimals) * _MULTIPLE.get(unit, 1) * 10 ** max(power, 0)
    under: int = 10 ** len(decimals) * _PART.get(unit, 1) * 10 ** max(-power, 0)
    return over / under if over % under else over // under


def tmpfs_bytes(text: str) -> int | None:
    """Bytes of the kernel's tmpfs option `size=`; None where the kernel refuses it.

    `8g` and `8192m` are sizes, `8gb`, `8Gi` and `1.5g` are refused. A percentage (of the machine's memory) is a size
    that is not known here: see `is_share_of_memory`.
    """
    found = _TMPFS.fullmatch(text)
    if found is None or found[2] == "%":
        return None
    return int(found[1]) * _BINARY.get(found[2].lower(), 1)


def is_share_of_memory(text: str) -> bool:
    """Whether a tmpfs option is a percentage of the machine's memory, such as `50%`."""
    found = _TMPFS.fullmatch(text)
    return found is not None and found[2] == "%"


def shown(size: int) -> str:
    """A number of bytes for people: `64 MB`, `1.4 GB`; units are powers of 1024, as docker and `df -h` count."""
    for unit, factor in (("TB", 1 << 40), ("GB", GIB), ("MB", MIB), ("kB", 1 << 10)):
        if size >= factor:
            value = size / factor
            return f"{value:.1f} {unit}" if value < 10 and value != int(value) else f"{value:.0f} {unit}"
    return f"{size} bytes"
