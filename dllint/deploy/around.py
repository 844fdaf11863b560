"""Which loaders of the project lie around a container: what a shell in it most likely runs."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from dllint.deploy.nearest import folders_in_common
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.loaders.loader import Loader
    from dllint.deploy.images import Image
    from dllint.deploy.plan import Plan

_NO_WITNESS = pattern(r"(?:^|[/\\_.-])bench(?:mark(?:s|ing)?)?[/\\_.-]|mnist", re.IGNORECASE)
"""Files whose loaders do not tell what a project trains: its benchmarks, and the smallest of all examples."""


class LoadersAround:
    """The loaders in the folder that an image is built in, if there are any there; else those of the whole project."""

    def __init__(self, plan: Plan) -> None:
        self._every = plan.program.loaders
        self._known: dict[str, list[Loader]] = {}
        self._working: dict[str, Loader | None] = {}

    def have_no_workers(self, image: Image | None) -> bool:
        """Whether there are any, and none of them has workers unless somebody asks for them."""
        loaders = self._around(image)
        return bool(loaders) and all(loader.has_no_workers or loader.defaults_to_no_workers for loader in loaders)

    def nearest_with_workers(self, image: Image | None, folder: str) -> Loader | None:
        """The one with workers that lies next to the image, or without one to `folder`; tests, benchmarks and MNIST
        apart. None where none is seen to have any."""
        folder = folder if image is None else image.file.folder
        if folder not in self._working:
            self._working[folder] = self._nearest(self._around(image), folder)
        return self._working[folder]

    def _nearest(self, loaders: list[Loader], folder: str) -> Loader | None:
        working = (loader for loader in loaders if loader.has_workers)
        own = [loader for loader in working if not loader.module.is_test and not _NO_WITNESS.search(loader.path)]
        return max(own, key=lambda loader: folders_in_common(folder, loader.module.absolute), default=None)

    def _around(self, image: Image | None) -> list[Loader]:
        if image is None:
            return self._every
        folder = image.file.folder.replace(os.sep, "/").rstrip("/") + "/"
        if folder not in self._known:
            within = [loader for loader in self._every if loader.module.absolute.startswith(folder)]
            self._known[folder] = within or self._every
        return self._known[folder]
