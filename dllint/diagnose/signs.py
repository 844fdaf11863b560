"""Cheap questions before the dear ones: which pages of a log, and which lines of them, can hold an error text.

A log has millions of lines, and nearly all of them say nothing. Every text of `signatures` has to pass both; a test
holds it to that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dllint.diagnose.signature import Signature
from dllint.diagnose.signatures import SIGNATURES
from dllint.patterns import pattern


class Sign(NamedTuple):
    """Bytes that announce an error text."""

    needle: bytes
    """What is looked for first: that is fast. Ordinary lines may hold it."""
    pattern: re.Pattern[bytes]
    """What tells an error text from an ordinary line. A search is fast where it begins with the needle."""
    apart: bool = False
    """Whether the two stand apart, the needle up to a block before."""


_BEGINNINGS = rb"""
    unable\ to | Unable\ to | \[Errno\ 2[48] | \[WinError\ 1455 | received\ \d | Too\ many | too\ many | Caught
  | CUDA\ error | cuda\ run | Attempted\ to\ send | __init__\(\) | Cannot\ re | cannot\ pi | can't\ pickle
  | cannot\ ser | Torch\ not | context\ has | cannot\ find\ context | A\ SemLock | Can't | h5py
  | \('\{\}\ cannot | Cowardly | Tried\ to\ serialize | Got\ pickle | daemonic | \[enforce | DefaultCPU
  | DataLoader | mdb_ | Bad | File\ name | sampler | batch_s | timeout\ option | multiproc | drop_last | num_
  | persistent_w | prefetch_f | --dataloader_p | dataset\ attr | _SingleProcess | invalid\ sharing | Sampler
  | Subclasses | stack | each\ element | Trying\ to | default_collate | batch\ must | 'NoneType'
  | Could\ not\ infer | Couldn't\ open | torch\.cat | input\ types | Pin\ memory | Length\ of | Unexpected | \x1b
"""
"""How the messages of torch's exceptions begin. Those that count in a traceback only are not needed here."""

SIGNS = (
    Sign(
        b"Error",  # an exception whose message is known, or that is not written as Python writes it
        re.compile(rb"Error(?:[^\w\s:(]|:?[ ]?(?:[\r\n]|\Z)|(?::[ ]|\()['\"]?(?:%s))" % _BEGINNINGS, re.VERBOSE),
    ),
    Sign(
        b"ork",  # worker, workers, fork(), WorkNCCL
        re.compile(
            rb"""ork(?:
                er(?<=encountered\ in\ worker) | er(?<=DataLoader\ worker)\ (?:process|\(pid) | er(?<=at\ each\ worker)
              | er\ in\ current | er\ Process | ers\ (?:option|must\ be|which\ may|is\ no)
              | \(\)\ (?:may|was\ c) | [A-Z]*CCL
            )""",
            re.VERBOSE,
        ),
    ),
    Sign(
        b" process",
        re.compile(rb"[ ]process(?:(?<=ill[ ]process)|(?<=illed[ ]process)|[ ]has[ ](?:been|finished))", re.VERBOSE),
    ),
    Sign(b"exitcode: -7", re.compile(rb"exitcode: -7\)")),
    Sign(b"SIGBUS", re.compile(rb"SIGBUS")),
    Sign(b"error: Bus", re.compile(rb"error: Bus error")),
    Sign(
        b"Traceback (most",  # one that passed through what loads data
        re.compile(rb"multiprocessing[/\\]|utils[/\\]+data[/\\]|torchdata|collat|zipfile"),
        apart=True,
    ),
)

Candidate = tuple[re.Pattern[str], Signature]

_WORD = pattern(r"[A-Za-z_]{3,}")
_WORDS = frozenset(
    _WORD.findall("""
    unable Errno dev shm ancdata files CUDA initialization ordinal pin pinned Torch shared bootstrapping context
    SemLock fds resize pickle pickled get pickling serialize refusing attribute Ran truncated daemonic
    DefaultCPUAllocator memory killed Kill Killed encountered group MDB_READERS_FULL BadZipFile inflate symbol
    DataLoader Watchdog fork persistent_workers prefetch_factor dataloader_prefetch_factor multiprocessing_context
    _SingleProcessDataLoaderIter exclusive IterableDataset disables num_workers timeout batch_size drop_last
    num_samples sharing Sampler Subclasses interpreted between has callable invalid stack batch storage numel infer
    cast mapping view WinError generator Attempted progress MDB_BAD_RSLOT synchronization Packet Commands expected
    scalar ndarray must unexpected unavailable exited EOFError ConnectionResetError ConnectionRefusedError
    FileNotFoundError BrokenPipeError PermissionError AuthenticationError Pin worker workers runtime decryption
    DECRYPTION_FAILED_OR_BAD_RECORD_MAC exitcode SIGBUS Fatal space
    """)
)


_COMPILED: tuple[Candidate, ...] = tuple((pattern(signature.pattern), signature) for signature in SIGNATURES)
_WITH_WORD = {
    word: [number for number, signature in enumerate(SIGNATURES) if word in signature.pattern] for word in _WORDS
}


def candidates(text: str) -> Sequence[Candidate]:
    """The signatures that a line may match, in the order of the table: those whose pattern has a word of the line."""
    words = _WORDS.intersection(_WORD.findall(text))
    if not words:
        return ()
    return [_COMPILED[number] for number in sorted({number for word in words for number in _WITH_WORD[word]})]
