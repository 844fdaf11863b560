"""`dllint shm`: how much shared memory a loader needs, and the settings that give it, ready to paste."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from dllint.deploy.demand import PREFETCH, peak_bytes
from dllint.deploy.sizes import DEFAULT_SHM, GIB, shown
from dllint.options import byte_size
from dllint.patterns import pattern
from dllint.syntax.dtypes import DTYPE_BYTES

_SHAPE = pattern(r"\d+(?:[xX*,]\d+)*")


class Sample(NamedTuple):
    """One tensor of a sample."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """Bytes of its elements."""
        return math.prod(self.shape) * DTYPE_BYTES[self.dtype]


class Estimate(NamedTuple):
    """What one loader needs."""

    workers: int
    prefetch: int
    batch_bytes: int

    @property
    def bytes(self) -> int:
        """The peak."""
        return peak_bytes(self.workers, self.prefetch, self.batch_bytes)

    @property
    def advised(self) -> int:
        """Whole gibibytes with a quarter to spare."""
        return max(GIB, math.ceil(self.bytes * 1.25 / GIB) * GIB)


def run(words: Sequence[str]) -> int:
    """Run the command line behind `dllint shm`; the exit status is 0."""
    arguments = _parser().parse_args(words)
    estimate = Estimate(arguments.workers, arguments.prefetch, _batch_bytes(arguments))
    write = _as_json if arguments.output_format == "json" else _as_text
    sys.stdout.write(write(estimate))
    return 0


def _batch_bytes(arguments: argparse.Namespace) -> int:
    if arguments.batch_bytes is not None:
        size: int = arguments.batch_bytes
        return size
    samples = [Sample(shape, dtype or arguments.dtype) for shape, dtype in arguments.sample]
    return int(arguments.batch_size * sum(sample.bytes for sample in samples))


def _as_json(estimate: Estimate) -> str:
    values = {
        "workers": estimate.workers,
        "prefetch": estimate.prefetch,
        "batch_bytes": estimate.batch_bytes,
        "bytes": estimate.bytes,
        "advised_bytes": estimate.advised,
        "fits_default": estimate.bytes <= DEFAULT_SHM,
        "settings": dict(_settings(estimate.advised)),
    }
    return json.dumps(values, indent=2) + "\n"


def _as_text(estimate: Estimate) -> str:
    workers = f"{estimate.workers} worker{'' if estimate.workers == 1 else 's'}"
    if not estimate.workers:
        return "Without workers batches stay in the main process: no shared memory is needed.\n"
    formula = f"({workers} x {estimate.prefetch} prefetched + 2) batches x {shown(estimate.batch_bytes)}"
    lines = [f"{formula} = {shown(estimate.bytes)} of /dev/shm at the peak"]
    if estimate.bytes <= DEFAULT_SHM:
        lines.append(f"That fits the default of {shown(DEFAULT_SHM)}.")
    else:
        lines.append(f"The default of {shown(DEFAULT_SHM)} is too small: give it {shown(estimate.advised)}.")
    for name, text in _settings(estimate.advised):
        lines += ["", f"{name}:", *(f"    {line}" for line in text.splitlines())]
    return "\n".join(lines) + "\n"


def _settings(size: int) -> list[tuple[str, str]]:
    gib = size // GIB
    kubernetes = (
        "volumes:\n  - name: dshm\n    emptyDir:\n      medium: Memory\n"
        f"      sizeLimit: {gib}Gi\ncontainers:\n  - volumeMounts:\n      - name: dshm\n        mountPath: /dev/shm"
    )
    return [
        ("docker run", f"--shm-size={gib}g"),
        ("compose", f"shm_size: '{gib}gb'"),
        ("Kubernetes", kubernetes),
    ]


# The command line


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dllint shm",
        description="How much shared memory a loader needs: (workers x prefetch + 2) batches.",
        allow_abbrev=False,
    )
    parser.add_argument("--workers", type=_count, required=True, metavar="N", help="num_workers of the loader")
    parser.add_argument(
        "--prefetch", type=_positive, default=PREFETCH, metavar="N", help="prefetch_factor (default: 2)"
    )
    parser.add_argument("--batch-size", type=_positive, default=1, metavar="N", help="samples in a batch (default: 1)")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--sample",
        type=_sample,
        action="append",
        metavar="SHAPE[:DTYPE]",
        help="a tensor of a sample, such as 3x224x224 or 10:int64; as often as it has tensors",
    )
    size.add_argument("--batch-bytes", type=byte_size, metavar="SIZE", help="bytes of a batch instead, such as 600MB")
    parser.add_argument(
        "--dtype", type=_dtype, choices=sorted(DTYPE_BYTES), default="float32", help="of samples without one"
    )
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}")
    return int(text)


def _positive(text: str) -> int:
    number = _count(text)
    if not number:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _sample(text: str) -> tuple[tuple[int, ...], str]:
    shape, _, dtype = text.partition(":")
    dtype = _dtype(dtype)
    if not _SHAPE.fullmatch(shape) or (dtype and dtype not in DTYPE_BYTES):
        raise argparse.ArgumentTypeError(
            f"must be a shape such as 3x224x224, with a dtype such as :uint8, not {text!r}"
        )
    sides = tuple(int(side) for side in re.split(r"[xX*,]", shape))
    if 0 in sides:
        raise argparse.ArgumentTypeError(f"a tensor without elements needs nothing: {text!r}")
    return sides, dtype


def _dtype(text: str) -> str:
    return text.removeprefix("torch.")
