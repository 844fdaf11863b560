"""All modules of a project: which file an import means."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator

from dllint.code.language.modules import Module
from dllint.code.language.outlines import Outline
from dllint.files import SourceFile
from dllint.syntax.python import Data

_NEVER_FOUND_BELOW = frozenset({"numpy", "torch"})
"""Libraries that tests of them are called after, in folders that nobody puts on the path: `tests/unit/torch/`."""
_KNOWN_LIBRARIES = frozenset(
    [
        "torch",
        "torchvision",
        "torchaudio",
        "torchdata",
        "numpy",
        "datasets",
        "transformers",
        "lightning",
        "pytorch_lightning",
        "monai",
        "h5py",
        "lmdb",
        "cv2",
        "PIL",
        "tarfile",
        "zipfile",
        "sqlite3",
        "multiprocessing",
        "concurrent",
        "threading",
        "random",
        "os",
        "sys",
        "io",
        "json",
        "pickle",
        "csv",
        "gzip",
        "glob",
        "pathlib",
        "functools",
        "itertools",
        "collections",
        "socket",
        "tensorstore",
        "zarr",
        "webdataset",
        "fsspec",
        "s3fs",
        "gcsfs",
        "ray",
        "torch_geometric",
        "mmengine",
        "mmcv",
        "accelerate",
        "wandb",
        "tqdm",
        "pandas",
        "scipy",
        "sklearn",
        "skimage",
    ]
)
"""Top-level names that never mean a neighbouring file of a package module, though a folder may be called the same."""


def _with_slashes(path: str) -> str:
    return path.replace(os.sep, "/") if os.sep != "/" else path


class ModuleTable:
    """All Python files of a project by path and by importable name."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.by_file: dict[str, Module] = {}
        self._folders_with_init: set[str] = set()
        self._package_roots: dict[str, list[str]] = {}

    @classmethod
    def build(
        cls, root: str, files: list[tuple[SourceFile, Data, Outline | None]], module_type: Callable[[str], type[Module]]
    ) -> ModuleTable:
        """A table of files with their content and known outline; `module_type` says how a path is read."""
        table = cls(_with_slashes(root))
        paths = [_with_slashes(file.absolute) for file, _, _ in files]
        for absolute in paths:
            if os.path.basename(absolute) == "__init__.py":
                table._folders_with_init.add(os.path.dirname(absolute))
        for folder in sorted(table._folders_with_init):
            above = os.path.dirname(folder)
            if above not in table._folders_with_init:
                table._package_roots.setdefault(os.path.basename(folder), []).append(above)
        for absolute, (file, data, known) in zip(paths, files, strict=True):
            name, is_package = table._dotted_name(absolute)
            module = module_type(absolute)(file.path, absolute, name, is_package, data, file.target)
            if known is not None:
                module.outline = known
            table.by_file[absolute] = module
        return table

    def keep(self, modules: Collection[Module]) -> None:
        """Forget all other modules."""
        self.by_file = {path: module for path, module in self.by_file.items() if module in modules}

    def _dotted_name(self, absolute: str) -> tuple[str, bool]:
        folder, filename = os.path.split(absolute)
        stem = filename.rpartition(".")[0] or filename
        is_package = stem == "__init__"
        parts = [] if is_package else [stem]
        while folder in self._folders_with_init:
            folder, part = os.path.split(folder)
            parts.insert(0, part)
        return ".".join(parts) or stem, is_package

    def in_package(self, module: Module) -> bool:
        """Whether a module is, or lies in, a package."""
        return "." in module.name or module.is_package

    def find(self, dotted: str, importer: Module) -> Module | None:
        """The module that `import dotted` in `importer` means, if the project has it."""
        path = dotted.replace(".", "/")
        for base in self._bases(dotted, importer):
            found = self._at(f"{base}/{path}")
            if found is not None and found is not importer:
                return found
        return None

    def of_namespace(self, package: str, name: str, importer: Module) -> Module | None:
        """The module of the project in a package that has no `__init__.py`: `import src.data.images`."""
        if package.partition(".")[0] in _KNOWN_LIBRARIES:
            return None
        return self.find(f"{package}.{name}", importer)

    def _bases(self, dotted: str, importer: Module) -> Iterator[str]:
        top = dotted.partition(".")[0]
        folder = os.path.dirname(importer.absolute)
        own_root = folder
        while own_root in self._folders_with_init:
            own_root = os.path.dirname(own_root)
        yield own_root
        if own_root != folder and top not in _KNOWN_LIBRARIES:
            yield folder
        yield self.root
        yield self.root + "/src"
        if top not in _NEVER_FOUND_BELOW:
            yield from self._package_roots.get(top, ())
        if top not in _KNOWN_LIBRARIES or "." in dotted:
            yield from self._between(own_root)

    def _between(self, folder: str) -> Iterator[str]:
        """The folders around one, up to the project's root: scripts are started in any of them."""
        above = os.path.dirname(folder)
        while above.startswith(self.root + "/"):
            yield above
            above = os.path.dirname(above)

    def _at(self, path: str) -> Module | None:
        return self.by_file.get(path + ".py") or self.by_file.get(path + "/__init__.py")

    def relative(self, importer: Module, level: int, dotted: str | None) -> Module | None:
        """The module that `from ...dotted import` means, if the project has it."""
        folder = os.path.dirname(importer.absolute)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        path = f"{folder}/{dotted.replace('.', '/')}" if dotted else folder
        return self._at(path)

    def submodule(self, package: Module, name: str) -> Module | None:
        """The module `name` within a package, if the project has it."""
        if not package.is_package:
            return None
        return self._at(f"{os.path.dirname(package.absolute)}/{name}")
