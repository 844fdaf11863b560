"""Samples that hold no tensor, and of which collating makes none: they go through a pipe, not through shared memory."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.code.language.values import Collection, Const, Derived, Product, Value

_TEXTS = frozenset({"str", "builtins.str", "builtins.bytes", "builtins.repr", "builtins.format", "json.dumps"})
_DOWNLOADS = ("dataflux_core.download.",)
"""What gives the bytes of objects, or goes through them."""
_FILES = frozenset(
    """builtins.open io.open gzip.open bz2.open lzma.open codecs.open tarfile.open urllib.request.urlopen boto3.client
    boto3.resource
    """.split()  # noqa: SIM905 - one word a call reads better than a list of quotes
)
"""What gives bytes, or a text, when it is read, or what is got from it."""
_READS = frozenset({".read()", ".readline()", ".readlines()"})
_ALWAYS_TEXT = frozenset(
    f".{name}()" for name in ("read_bytes", "read_text", "tobytes", "as_posix", "download_as_bytes", "download_as_text")
)
_OF_RESPONSES = frozenset({".content", ".text"})
_KEEPS_TEXT = frozenset(
    f".{name}()"
    for name in (
        *("casefold", "decode", "encode", "format", "join", "lower", "lstrip", "removeprefix", "removesuffix"),
        *("replace", "rstrip", "split", "splitlines", "strip", "title", "upper"),
    )
) | {"each", "op"}
_OBJECTS = ("PIL.", "cv2.", "numpy.", "json.load", "pickle.dumps")
"""What tensors are only made of by a collate function that does more than hand on."""


def is_text(value: Value) -> bool:
    """Whether a value certainly is a text or bytes, which torch's default collate function hands on as they are."""
    if isinstance(value, Const):
        return isinstance(value.value, (str, bytes))
    if isinstance(value, Product):
        return value.name in _TEXTS or value.name.startswith(_DOWNLOADS)
    if not isinstance(value, Derived):
        return False
    if value.via in _ALWAYS_TEXT:
        return True
    if value.via in _READS:
        return isinstance(value.origin, Product) and value.origin.name in _FILES
    if value.via in _OF_RESPONSES:
        return isinstance(value.origin, Product) and value.origin.name.startswith(("requests.", "httpx."))
    return value.via in _KEEPS_TEXT and is_text(value.base)


def are_plain(values: Iterable[Value]) -> bool:
    """Whether values surely hold no tensor, where samples are handed on as they are."""
    return all(_is_plain(value) for value in values)


def _is_plain(value: Value) -> bool:
    if isinstance(value, Const) or is_text(value):
        return True
    origin = value.origin if isinstance(value, Derived) else value
    if isinstance(origin, Product):
        return origin.name.startswith(_OBJECTS)
    # What it holds is asked for beside it; of one that is filled later nothing is seen.
    return isinstance(origin, Collection) and value is origin and bool(origin.items or origin.each)
