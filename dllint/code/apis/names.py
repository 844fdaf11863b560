"""Canonical names: one for each function and class of a library, whichever of its modules it is imported from."""

from __future__ import annotations

from functools import cache

_FLAT = (
    "torch.utils.data.",
    "torchdata.stateful_dataloader.",
    "torchdata.dataloader2.",
    "torch_geometric.loader.",
    "torch_geometric.data.",
    "torch_geometric.transforms.",
    "albumentations.",
    "audiomentations.",
    "torch_audiomentations.",
    "torchvision.datasets.",
    "torchvision.transforms.",
    "monai.data.",
    "monai.transforms.",
    "mmengine.dataset.",
    "lightning.pytorch.",
    "fairseq.data.",
    "fastai.",
)
"""Packages that export all their modules' names at the top: `torch.utils.data.dataset.Dataset` counts as
`torch.utils.data.Dataset`."""

_RENAMED = {
    "pytorch_lightning.": "lightning.pytorch.",
    "lightning.LightningDataModule": "lightning.pytorch.LightningDataModule",
    "lightning.LightningModule": "lightning.pytorch.LightningModule",
    "lightning.Trainer": "lightning.pytorch.Trainer",
    "lightning.Callback": "lightning.pytorch.Callback",
    "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
    "torch.distributed.distributed_c10d.": "torch.distributed.",
    "io.open": "builtins.open",
    "multiprocessing.context.": "multiprocessing.",
    "torch.utils.data.distributed.": "torch.utils.data.",
}

BUILTINS = frozenset(
    {
        "open",
        "int",
        "float",
        "str",
        "bool",
        "bytes",
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "len",
        "min",
        "max",
        "sum",
        "sorted",
        "reversed",
        "range",
        "enumerate",
        "zip",
        "map",
        "filter",
        "iter",
        "next",
        "super",
        "getattr",
        "setattr",
        "isinstance",
        "type",
        "print",
        "object",
        "Exception",
        "RuntimeError",
        "ValueError",
        "any",
        "all",
        "abs",
        "round",
        "id",
        "vars",
        "input",
        "property",
        "staticmethod",
        "classmethod",
        "bytearray",
        "memoryview",
        "callable",
        "hasattr",
    }
)
"""The names of Python's own that mean something here."""


@cache
def canonical(name: str) -> str:
    """The public name of a library's function or class."""
    for old, new in _RENAMED.items():
        if name == old or (old.endswith(".") and name.startswith(old)):
            name = new + name[len(old) :] if old.endswith(".") else new
            break
    for prefix in _FLAT:
        if name.startswith(prefix):
            *modules, last = name[len(prefix) :].split(".")
            kept = [part for part in modules if not part.islower() and "_" not in part[:1]]
            return prefix + ".".join([*kept, last])
    return name
