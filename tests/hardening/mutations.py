"""Ways to break a file: each takes its bytes, what kind of file it is, and a source of chance."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from dllint.kinds import Kind

Mutation = Callable[[bytes, Kind, Random], bytes]

REPEATS = 100_000
MOST_BYTES = 40_000_000
"""A line of a notebook or of minified JSON can be a megabyte: it is repeated less often."""
LADDERS = {
    Kind.PYTHON: (b"if x:", 90),
    Kind.NOTEBOOK: (b"[", 90),
    Kind.YAML: (b"a:", 1_000),
    Kind.JSON: (b"[", 5_000),
    Kind.SHELL: (b"if x; then", 1_000),
    Kind.HCL: (b"a {", 1_000),
    Kind.MAKEFILE: (b"ifdef A", 1_000),
    Kind.MARKDOWN: (b"- a", 1_000),
    Kind.RESTRUCTURED: (b"- a", 1_000),
    Kind.POWERSHELL: (b"if ($x) {", 1_000),
    Kind.BATCH: (b"if a==a (", 1_000),
}
"""How a block begins in each language, and how deep blocks get."""
OPENINGS = (
    (b"(", b")"),
    (b"[", b"]"),
    (b"{", b"}"),
    (b"{{", b"}}"),
    (b"${", b"}"),
    (b"$(", b")"),
    (b"$((", b"))"),
    (b"[{a: ", b"}]"),
    (b"- ", b""),
    (b"not ", b""),
    (b"lambda: ", b""),
    (b"<<A ", b""),
    (b"`", b"`"),
    (b"\\", b""),
    (b'"', b'"'),
    (b"f'{", b"}'"),
    (b"/* ", b" */"),
    (b"&a [*a, ", b"]"),
)
NUMBERS = (
    b"9" * 400,
    b"9" * 5_000,
    b"1e999",
    b"-1",
    "\u00b2".encode(),
    "\u0663".encode(),
    b"nan",
    b"inf",
    b"0" * 5_000,
)
_DIGITS = re.compile(rb"\d+")


def truncate(data: bytes, _kind: Kind, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def flip(data: bytes, _kind: Kind, random: Random) -> bytes:
    """Some bits are wrong."""
    out = bytearray(data)
    for _ in range(random.randint(1, 20) if out else 0):
        out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def shuffle(data: bytes, _kind: Kind, random: Random) -> bytes:
    """Pieces are cut out, doubled, or put elsewhere."""
    for _ in range(random.randint(1, 5)):
        start = random.randint(0, len(data))
        end = min(len(data), start + random.randint(1, 200))
        at = random.randint(0, len(data))
        piece = data[start:end]
        if random.random() < 0.5:
            data = data[:start] + data[end:]
        if random.random() < 0.7:
            data = data[:at] + piece + data[at:]
    return data


def brackets(data: bytes, _kind: Kind, random: Random) -> bytes:
    """A thousand brackets open at one place; sometimes they close at another."""
    opening, closing = random.choice(OPENINGS)
    count = random.choice((90, 1_000, 20_000))
    start, end = sorted(random.randint(0, len(data)) for _ in range(2))
    closings = closing * count if random.random() < 0.7 else b""
    return data[:start] + opening * count + data[start:end] + closings + data[end:]


def ladder(data: bytes, kind: Kind, random: Random) -> bytes:
    """The file stands in the innermost of many blocks."""
    head, most = LADDERS.get(kind, (b"a", 1_000))
    # Each line of the file is indented as deep.
    depth = random.randint(1, max(1, min(most, 2_000_000 // (data.count(b"\n") + 1))))
    steps = b"".join(b" " * level + head + b"\n" for level in range(depth))
    return steps + b"".join(b" " * depth + line for line in data.splitlines(keepends=True))


def repeat(data: bytes, _kind: Kind, random: Random) -> bytes:
    """One line stands there 100,000 times."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at = random.randrange(len(lines))
    line = lines[at] if lines[at].endswith((b"\n", b"\r")) else lines[at] + b"\n"
    return b"".join(lines[:at]) + line * min(REPEATS, MOST_BYTES // len(line)) + b"".join(lines[at + 1 :])


def widen(data: bytes, _kind: Kind, random: Random) -> bytes:
    """One line holds itself over and over."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at = random.randrange(len(lines))
    line = lines[at].strip()
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    joint = random.choice((b"", b" ", b", ", b"; "))
    long = joint.join([line] * (200_000 // (len(line) + len(joint) + 1)))
    return b"".join(lines[:at]) + indent + long + b"\n" + b"".join(lines[at + 1 :])


def inflate(data: bytes, _kind: Kind, random: Random) -> bytes:
    """Numbers are larger than any number of the language, or are written in other digits."""
    number = random.choice(NUMBERS)
    share = random.choice((0.1, 0.5, 1.0))
    return _DIGITS.sub(lambda found: number if random.random() < share else found[0], data)


MUTATIONS: dict[str, Mutation] = {
    "truncate": truncate,
    "flip": flip,
    "shuffle": shuffle,
    "brackets": brackets,
    "ladder": ladder,
    "repeat": repeat,
    "widen": widen,
    "inflate": inflate,
}
