"""The types of tensors by name, and the bytes of one element (torch.dtype, docs.pytorch.org)."""

from __future__ import annotations

DTYPE_BYTES = {
    "bfloat16": 2,
    "bool": 1,
    "complex128": 16,
    "complex64": 8,
    "double": 8,
    "float": 4,
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "half": 2,
    "int": 4,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "int8": 1,
    "long": 8,
    "short": 2,
    "uint8": 1,
}
