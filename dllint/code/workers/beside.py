"""What lies beside the samples, such as paths, labels and poses: small, while workers read the samples."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.workers.eager import TABLES, Read
from dllint.code.workers.state import Item
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.workers.datasets import Dataset

_HOLDS_PARTS = frozenset({"numpy.load", "torch.load", "scipy.io.loadmat", "joblib.load", "safetensors.torch.load_file"})
_WORDS = pattern(r"[a-zA-Z][a-z]+|[A-Z]+")
_SMALL = pattern(
    "(angle|annotation|bbox|camera|cam|class|count|extrinsic|file|filename|fname|id|intrinsic|key|label|length|name"
    "|overlap|pair|path|pose|scale|shape|size|split|stat|time|timestamp)s?"
    "|box(es)?|calib|calibration|categor(y|ies)|classes|idx|index|indices|info|k|meta|metadata|trajector(y|ies)"
)
"""Words by which authors name what is small beside a sample."""


def is_beside_samples(dataset: Dataset, item: Item, read: Read) -> bool:
    """Whether it is text, or what is named as small, and worker code reads the samples by itself."""
    named_small = (read.parsed or read.call in _HOLDS_PARTS) and is_small_by_name(read.part or item.attribute)
    if read.call not in TABLES and not named_small and not _is_text(read):
        return False
    return any(True for _ in dataset.worker.library_calls(apis.DECODES - TABLES))


def _is_text(read: Read) -> bool:
    """Whether a file is read as text: `open(path).read()`, without a mode of bytes."""
    if read.call != "open" or not isinstance(read.node, ast.Call):
        return read.call == "read_text"
    modes = [*read.node.args[1:2], *(k.value for k in read.node.keywords if k.arg == "mode")]
    return all(isinstance(mode, ast.Constant) and "b" not in str(mode.value) for mode in modes)


def is_small_by_name(name: str) -> bool:
    """Whether the last word of a name says so: `image_paths` are small, `path_images` are not."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and (_SMALL.fullmatch(words[-1]) is not None or words[0] in ("num", "meta"))
