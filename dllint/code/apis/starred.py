"""What star imports of libraries bring: `from fastai.vision.all import *`."""

from __future__ import annotations

from dllint.code.apis.datasets import DATASET_BASES, WRAPPERS
from dllint.code.apis.loaders import LOADERS
from dllint.code.apis.names import canonical
from dllint.code.apis.transforms import CALLED_METHODS

_KNOWN = DATASET_BASES.union(
    WRAPPERS,
    LOADERS,
    CALLED_METHODS,
    (name.rpartition(".")[0] for name in LOADERS),
    ("torch.utils.data.get_worker_info",),
)
"""The names by which dllint knows something of a library, and the classes whose methods it knows."""

_FASTAI = "fastai."
_FASTAI_TOO = {
    **{name: name for name in ("os", "random", "torch")},
    "F": "torch.nn.functional",
    "Tensor": "torch.Tensor",
    "nn": "torch.nn",
    "np": "numpy",
    "partial": "functools.partial",
    "pd": "pandas",
}
"""What fastai's `all` modules hand on of others; read in fastai 2.8."""


def offered(package: str, name: str) -> str | None:
    """What `name` is after `from package import *`; None where nothing is known of that."""
    if package.startswith(_FASTAI) and name in _FASTAI_TOO:
        return _FASTAI_TOO[name]
    found = canonical(f"{package}.{name}")
    return found if found in _KNOWN else None
