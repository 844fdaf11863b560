"""What of the project an image holds: what its Dockerfile copies."""

from __future__ import annotations

import glob
import os
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.images import Image
    from dllint.deploy.plan import Plan

_PATTERN = pattern(r"[*?\[]")
_FETCHES = pattern(r"\bgit\b[^\n]*\b(?:clone|pull|checkout)\b|\bgit\+|\b(?:wget|curl)\b[^\n]*\.(?:zip|tar|tgz)")
"""Commands that bring code into an image which is not copied there."""


class Copied:
    """The files of the project that an image holds."""

    def __init__(self, image: Image, plan: Plan) -> None:
        context = context_of(image, plan)
        self._sources = [os.path.normpath(os.path.join(context, copy.source.lstrip("/"))) for copy in image.copies]
        self._image = image

    def holds(self, path: str) -> bool:
        """Whether it holds the file at an absolute path."""
        return any(_holds(source, path) for source in self._sources)

    def may_hold(self, path: str) -> bool:
        """Whether it may hold that file; False where all that it holds is seen."""
        # Where all is copied, nobody says from which folder: that of the Dockerfile, or one above.
        is_open = any("$" in copy.source or copy.source in (".", "./") for copy in self._image.copies)
        is_open = is_open or "$" in self._image.base
        return is_open or self.holds(path) or any(_FETCHES.search(run.text) for run in self._image.runs)


def context_of(image: Image, plan: Plan) -> str:
    """The folder that the image is most likely built from: the first in which all lies that it copies by name."""
    named = [copy.source for copy in image.copies if copy.source not in (".", "./", "*") and "$" not in copy.source]
    for folder in (image.file.folder, plan.root):
        if all(glob.glob(os.path.join(glob.escape(folder), source.lstrip("/"))) for source in named):
            return folder
    return image.file.folder


def _holds(source: str, path: str) -> bool:
    """Whether a copied file, folder or pattern holds the file at an absolute path."""
    if path == source or path.startswith(source.rstrip("*").rstrip("/") + "/"):
        return True
    return _PATTERN.search(source) is not None and fnmatch(path, source)
