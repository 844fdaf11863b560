"""What a compose service mounts, in the short and the long syntax of `volumes` and `tmpfs`."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from dllint.deploy.launchers.compose.layers import Layer, Merged
from dllint.finding import Location
from dllint.patterns import pattern

_COLON = pattern(r"\{[^{}]*\}|:")
"""A colon, or a variable: the colon before its default cuts nothing."""
_DRIVE = pattern(r"[A-Za-z]:[\\/]")
_REFERENCE = pattern(r"\$\{[^{}]*\}|\$\w+")


class Mount(NamedTuple):
    """One mount."""

    kind: str
    """`bind`, `volume` or `tmpfs`."""
    target: str
    """Normalised path in the container."""
    source: str | None
    """Path or name of a volume; empty for an anonymous one; None where it is not known."""
    layer: Layer
    size: Layer | None = None
    """Long syntax: the size of a tmpfs."""
    options: tuple[str, ...] = ()
    """Short syntax: the options of a tmpfs."""

    @property
    def at(self) -> Location:
        """The place of the item."""
        return self.layer.at


def mounts(service: Merged) -> Iterator[Mount]:
    """All mounts whose target is known, in the order of the files; of one target the last one counts."""
    volumes = service.get("volumes")
    for layer in volumes.items() if volumes is not None else []:
        mount = _long(layer) if layer.tree.is_mapping else _short(layer)
        if mount is not None:
            yield mount
    tmpfs = service.get("tmpfs")
    for layer in tmpfs.items() if tmpfs is not None else []:
        target, _, options = layer.value.text.partition(":")
        if target:
            yield Mount("tmpfs", _path(target), "", layer, options=tuple(options.split(",")) if options else ())


def is_unknown(service: Merged) -> bool:
    """Whether a whole item of its mounts comes out of a variable that nobody can see."""
    lists = [found for key in ("volumes", "tmpfs") if (found := service.get(key)) is not None]
    items = [layer.value for merged in lists for layer in merged.items() if not layer.tree.is_mapping]
    return any(not item.known and _REFERENCE.fullmatch(item.text) for item in items)


def _path(text: str) -> str:
    return posixpath.normpath(text.strip())


def _long(layer: Layer) -> Mount | None:
    target = layer.text_of("target")
    if not target:
        return None
    size = layer.tree.get("tmpfs", "size")
    source = layer.text_of("source")
    kind = layer.text_of("type") or "volume"
    if kind == "bind" and source:
        source = host_path(source, layer)
    return Mount(kind, _path(target), source, layer, Layer(size, layer.scope) if size is not None else None)


def _short(layer: Layer) -> Mount | None:
    text, known = layer.value
    drive = text[:2] if _DRIVE.match(text) else ""
    parts = _parts(text[len(drive) :])
    parts[0] = drive + parts[0]
    if len(parts) == 1:
        return Mount("volume", _path(parts[0]), "", layer) if parts[0] else None
    source, target = parts[0], _path(parts[1])
    if not known and "$" in source:
        return Mount("bind", target, None, layer)
    if source.startswith((".", "/", "~")) or drive:
        return Mount("bind", target, host_path(source, layer), layer)
    return Mount("volume", target, source, layer)


def _parts(text: str) -> list[str]:
    """What stands between the colons of a mount."""
    cuts = [found.start() for found in _COLON.finditer(text) if found[0] == ":"]
    return [text[start + 1 : end] for start, end in pairwise([-1, *cuts, len(text)])]


def host_path(text: str, layer: Layer) -> str:
    """A path of the machine as an absolute one; `~` stays."""
    return text if text.startswith("~") else os.path.normpath(os.path.join(layer.scope.folder, text))
