"""From the bytes of a log to the lines that can matter, however large it is: one block in memory at a time."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from dllint.diagnose.signs import SIGNS, Sign

_BLOCK = 1 << 18
_PAGE = 1 << 14
"""Bytes that are looked at before and after a hit: a traceback stands before its error, followers after it."""
_MOST_CURIOUS = 16
"""Pages that are read for a needle alone: where nothing is recognised, they hold what comes nearest."""
_LONGEST = 1 << 20
"""Bytes of a line that are kept together; progress bars may go without an end of line for megabytes."""
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines near a sign of an error text, the first and the last ones: (row from 1, bytes without the newline).

    A row that does not follow the one before it says that something was left out.
    """
    row, before, after = 1, b"", True
    for page, hot in _pages(stream):
        if hot:
            yield from _rows(row - before.count(b"\n"), before)
        if hot or after:
            yield from _rows(row, page)
        before = b"" if hot or after else page
        after = hot
        row += page.count(b"\n")
    yield from _rows(row - before.count(b"\n"), before)


def _rows(row: int, page: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(page.removesuffix(b"\n").split(b"\n"), row) if page else iter(())


def _pages(stream: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """The log cut at ends of lines, and whether a sign is in the piece."""
    curious = _MOST_CURIOUS
    apart: list[Sign] = []
    for block in _blocks(stream):
        found = [sign for sign in SIGNS if sign.needle in block]
        asked = [sign.pattern for sign in (*found, *(sign for sign in apart if sign not in found))]
        apart = [sign for sign in found if sign.apart]
        start = 0
        while start < len(block):
            end = block.find(b"\n", start + _PAGE) + 1 or len(block)
            page = block[start:end]
            hot = any(pattern.search(page) for pattern in asked)
            if not hot and curious and any(sign.needle in page for sign in found):
                hot, curious = True, curious - 1
            yield page, hot
            start = end


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    rest = b""
    for block in _decoded(stream):
        end = block.rfind(b"\n") + 1
        if end or len(rest) > _LONGEST:
            yield rest + block[: end or len(block)]
            rest = block[end:] if end else b""
        else:
            rest += block
    if rest:
        yield rest


def _decoded(stream: BinaryIO) -> Iterator[bytes]:
    """Blocks in UTF-8 or what is close to it; UTF-16, which Windows shells write into files, is made so."""
    block = stream.read(_BLOCK)
    encoding = _utf16(block)
    if encoding is None:
        while block:
            yield block
            block = stream.read(_BLOCK)
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while block:
        yield decoder.decode(block).encode("utf-8", "replace")
        block = stream.read(_BLOCK)


def _utf16(head: bytes) -> str | None:
    sample = head[:4096]
    for bom, name in _BOMS:
        if head.startswith(bom) and sample.count(0) > len(sample) // 10:  # of text, not of any bytes
            return name
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = sample[first::2]
        # A few NUL bytes are torch's own: it writes one after each line of its signal handlers.
        if len(zeros) > 8 and zeros.count(0) > 0.7 * len(zeros) and sample[1 - first :: 2].count(0) == 0:
            return name
    return None
