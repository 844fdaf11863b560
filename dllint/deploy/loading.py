"""Whether code may build loaders that nobody sees: in a library's trainer, or in one that is not known."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.kinds import Kind
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_HARMLESS = frozenset(
    """torch torchvision torchaudio numpy scipy pandas sklearn PIL cv2 matplotlib seaborn tqdm yaml omegaconf dotenv
    einops wandb tensorboard tensorboardX mlflow tiktoken tokenizers sentencepiece huggingface_hub safetensors
    transformers diffusers datasets trl peft bitsandbytes unsloth triton flash_attn requests click typer fire rich
    loguru pydantic psutil h5py imageio skimage numba cython setuptools pyarrow filelock fsspec boto3 jinja2 regex
    pytest fastapi uvicorn starlette
    """.split()  # noqa: SIM905 - one word a library reads better than a list of quotes
)
"""Libraries that start no workers of DataLoader, unless by one of these names."""
_NAMES = (b"DataLoader", b"import_module", b"runpy")
_LOADERS = (b"DataLoader", b"data_loader")
_IN_CODE = pattern(
    rb"^[^#\n]*(?:DataLoader\w*[ \t]*[(\[,)]|import\b[^#\n]*DataLoader|\.DataLoader|\bdata_loader\b)", re.MULTILINE
)
"""Where code speaks of loaders, as comments and sentences do not."""
_WITH_LOADERS = frozenset(
    """accelerate allennlp axolotl catalyst colossalai composer deepspeed detectron2 dgl espnet2 fairseq fastai flair
    gluonts ignite lhotse lightning mmcls mmcv mmdet mmengine mmpretrain mmseg monai nemo nnunet nnunetv2 pl_bolts
    pytorch_forecasting pytorch_lightning sentence_transformers setfit simpletransformers speechbrain streaming
    torch_geometric torchdata torchtune torchtext trl ultralytics webdataset yolov5
    """.split()  # noqa: SIM905 - one word a library reads better than a list of quotes
)
"""Libraries that build loaders for those who use them."""
_TRAINER = b"Trainer("
"""Of transformers or TRL."""
_OF_MODELS = pattern(rb"(?<!Bpe)(?<!Unigram)(?<!WordLevel)(?<!WordPiece)Trainer\(")
"""A trainer that is none of the library `tokenizers`."""
_TOP = pattern(rb"[ \t(]*([A-Za-z_]\w*)")
_OTHER_TRAINERS = _WITH_LOADERS - {"accelerate", "deepspeed", "trl"}
_WORKERS = b"num_workers"
_MAY_GIVE_WORKERS = (Kind.YAML, Kind.JSON, Kind.SHELL, Kind.MARKDOWN)
_IMPORTS_TORCH = (b"import torch", b"from torch")
_MOST_MODULES = 60


def may_load(modules: Iterable[Module], plan: Plan) -> bool:
    """Whether any of these modules, or what they import of the project, may build a loader, as far as words tell."""
    pending = list(modules)
    seen = set(pending)
    while pending:
        module = pending.pop()
        if len(seen) > _MOST_MODULES or _may_build(module, plan):
            return True
        new = [other for other in plan.program.imports_of(module) if other not in seen]
        seen.update(new)
        pending += new
    return False


def has_no_loaders(plan: Plan) -> bool:
    """Whether a project has code that uses torch, and nowhere speaks of loaders or what builds them."""
    own = _own_modules(plan)
    using = (module for module in own if not module.is_notebook and any(map(module.has, _IMPORTS_TORCH)))
    return next(using, None) is not None and not any(map(_speaks_of_loaders, own))


def leaves_workers_out(plan: Plan) -> bool:
    """Whether a project trains by the trainer of transformers or TRL alone, and neither its code nor its configs give
    that any workers: its default is none."""
    own = _own_modules(plan)
    if not any(map(_has_trainer, own)) or any(_builds_loaders(m) or _imports(m, _OTHER_TRAINERS) for m in own):
        return False
    texts = [module.data for module in own] + [file.data for file in plan.of_kind(*_MAY_GIVE_WORKERS)]
    return not any(_WORKERS in text for text in texts)


def _own_modules(plan: Plan) -> list[Module]:
    return [module for module in plan.program.modules.by_file.values() if not module.is_test]


class ByHand:
    """Which code trains models itself, without loaders."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._known: dict[str, bool] = {}

    def trains_in(self, folder: str) -> bool:
        """Whether the code in a folder trains so, and nowhere in it speaks of loaders or what builds them."""
        if folder not in self._known:
            self._known[folder] = self._trains_in(folder.replace(os.sep, "/").rstrip("/") + "/")
        return self._known[folder]

    def _trains_in(self, folder: str) -> bool:
        modules = self._plan.program.modules.by_file.values()
        own = [module for module in modules if not module.is_test and module.absolute.startswith(folder)]
        return any(module.has(b".backward(") for module in own) and not any(map(_speaks_of_loaders, own))


def _speaks_of_loaders(module: Module) -> bool:
    return _has_trainer(module) or _builds_loaders(module) or _imports(module, _WITH_LOADERS)


def _builds_loaders(module: Module) -> bool:
    return any(map(module.has, _LOADERS)) and _IN_CODE.search(module.data) is not None


def _imports(module: Module, libraries: frozenset[str]) -> bool:
    return any(name in libraries for rest in module.import_statements() for name in _tops(*rest))


def _has_trainer(module: Module) -> bool:
    return module.has(_TRAINER) and _OF_MODELS.search(module.data) is not None


def _may_build(module: Module, plan: Plan) -> bool:
    return (
        _has_trainer(module)
        or any(map(module.holds, _NAMES))
        or any(not _is_harmless(name, module, plan) for rest in module.import_statements() for name in _tops(*rest))
    )


def _tops(keyword: bytes, rest: bytes) -> list[str]:
    """The first names of what an import statement imports; none where it is relative."""
    parts = rest.split(b",") if keyword == b"import" else [rest]
    return [found[1].decode() for part in parts if (found := _TOP.match(part))]


def _is_harmless(name: str, module: Module, plan: Plan) -> bool:
    if name in _HARMLESS or name in sys.stdlib_module_names:
        return True
    return plan.program.modules.find(name, module) is not None
