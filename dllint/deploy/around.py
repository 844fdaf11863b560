"""Which loaders of the project lie around a container: what a shell in it most likely runs."""

from __future__ import annotations

import os
import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.deploy.copied import Copied
from dllint.deploy.loading import imports_torch
from dllint.deploy.nearest import folders_in_common
from dllint.deploy.told import says_training
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.code.loaders.loader import Loader
    from dllint.deploy.images import Image
    from dllint.deploy.plan import Plan
    from dllint.deploy.workload import Workload

_NO_WITNESS = pattern(r"(?:^|[/\\_.-])bench(?:mark(?:s|ing)?)?[/\\_.-]|mnist", re.IGNORECASE)
"""Files whose loaders do not tell what a project trains: its benchmarks, and the smallest of all examples."""


class LoadersAround:
    """The loaders in the home of an image: the next folder, from its Dockerfile's upwards, whose code uses torch."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._known: dict[str, list[Loader]] = {}
        self._working: dict[tuple[Image | None, str, bool], Loader | None] = {}

    def have_no_workers(self, image: Image | None) -> bool:
        """Whether there are any, or any in the project, and none of them has workers unless somebody asks for them."""
        loaders = self._around(image) or self._plan.program.loaders
        return bool(loaders) and all(loader.has_no_workers or loader.defaults_to_no_workers for loader in loaders)

    def nearest_with_workers(self, image: Image | None, workload: Workload) -> Loader | None:
        """The one with workers that lies next to the image, or without one to the workload's folder; tests, benchmarks
        and MNIST apart. None where none is seen to have any, or none of those lies in the container."""
        folder = workload.folder if image is None else image.file.folder
        key = (image, folder, workload.has_mounts)
        if key not in self._working:
            found = self._around(image)
            self._working[key] = self._nearest(found if workload.has_mounts else self._within(image, found), folder)
        return self._working[key]

    def _within(self, image: Image | None, loaders: list[Loader]) -> list[Loader]:
        """Those of some loaders that the image may hold."""
        if image is None:
            return []
        copied = Copied(image, self._plan)
        return [loader for loader in loaders if copied.may_hold(loader.module.absolute)]

    def _nearest(self, loaders: list[Loader], folder: str) -> Loader | None:
        working = (loader for loader in loaders if loader.has_workers)
        own = [loader for loader in working if not loader.module.is_test and not _NO_WITNESS.search(loader.path)]
        if not own:
            return None
        from dllint.deploy.reached import called

        def witness(loader: Loader) -> tuple[bool, int]:
            return loader.module in self._trained_with, folders_in_common(folder, loader.module.absolute)

        return max(called(own), key=witness)

    @cached_property
    def _trained_with(self) -> set[Module]:
        """What the scripts come to that are called trainings."""
        every = self._plan.program.modules.by_file.values()
        scripts = (module for module in every if says_training(os.path.basename(module.path)) and not module.is_test)
        return {module for script in scripts for module in self._plan.reached_from(script)}

    def _around(self, image: Image | None) -> list[Loader]:
        if image is None:
            return self._plan.program.loaders
        home = self._home_of(image.file.folder.replace(os.sep, "/"))
        if home not in self._known:
            within = home.rstrip("/") + "/"
            every = self._plan.program.loaders
            self._known[home] = [loader for loader in every if loader.module.absolute.startswith(within)]
        return self._known[home]

    def _home_of(self, folder: str) -> str:
        root = self._plan.root.replace(os.sep, "/")
        while folder not in self._with_torch and len(folder) > len(root):
            folder = posixpath.dirname(folder)
        return folder

    @cached_property
    def _with_torch(self) -> set[str]:
        """The folders in which, or below which, code uses torch."""
        found: set[str] = set()
        for module in self._plan.program.modules.by_file.values():
            folder = posixpath.dirname(module.absolute)
            if folder in found or module.is_test or not imports_torch(module):
                continue
            while folder not in found and len(folder) > 1:
                found.add(folder)
                folder = posixpath.dirname(folder)
        return found
