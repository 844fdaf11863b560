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
_OF_MODELS = pattern(rb"\b(?!Bpe|Unigram|WordLevel|WordPiece)(\w*Trainer)\(")
"""A trainer that is none of the library `tokenizers`."""
_OF_ITS_OWN = pattern(
    rb"^[ \t]*class[ \t]+(\w*Trainer)[ \t]*"
    rb"(?:\([ \t]*(?:object|(?:abc\.)?ABC|(?:torch\.)?nn\.Module)?[ \t]*\))?[ \t]*:",
    re.MULTILINE,
)
"""A class of a trainer that derives from none: what it loads by stands in the project."""
_LOADER_OF_ITS_OWN = pattern(
    rb"^[ \t]*class[ \t]+(\w*DataLoader\w*)[ \t]*(?:\([ \t]*(?:object|(?:abc\.)?ABC)?[ \t]*\))?[ \t]*:", re.MULTILINE
)
"""A class that is called a loader and derives from none: it starts no workers but its own."""
_NAMED_LOADER = pattern(rb"(?<!\w)\w{0,60}(?:DataLoader|data_loader)\w*")
_TOP = pattern(rb"[ \t(]*([A-Za-z_]\w*)")
WITHOUT_WORKERS = ("transformers", "trl", "sentence_transformers", "setfit")
"""Libraries whose trainers have no workers unless `dataloader_num_workers` gives them some."""
_OTHER_TRAINERS = _WITH_LOADERS - {"accelerate", "deepspeed", *WITHOUT_WORKERS}
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


def imports_torch(module: Module) -> bool:
    """Whether a module names torch in an import, as far as words tell."""
    return any(map(module.has, _IMPORTS_TORCH))


def starts_no_workers(library: str) -> bool:
    """Whether a library, or module of Python itself, starts no workers of DataLoader by names that do not tell."""
    return library in _HARMLESS or library in sys.stdlib_module_names


def has_no_loaders(plan: Plan) -> bool:
    """Whether a project has code that uses torch, and nowhere speaks of loaders or what builds them."""
    own = _own_modules(plan)
    using = (module for module in own if not module.is_notebook and imports_torch(module))
    return next(using, None) is not None and not any(_speaks_of_loaders(module, plan) for module in own)


def uses_loaders_of_others(plan: Plan) -> bool:
    """Whether code of a project uses a library that builds loaders for those who use it."""
    return any(_has_trainer(module, plan) or _imports(module, _WITH_LOADERS) for module in _own_modules(plan))


def leaves_workers_out(plan: Plan) -> bool:
    """Whether a project trains by the trainer of transformers or TRL alone, and neither its code nor its configs give
    that any workers: its default is none."""
    own = _own_modules(plan)
    if not any(_has_trainer(module, plan) for module in own):
        return False
    if any(_builds_loaders(module, plan) or _imports(module, _OTHER_TRAINERS) for module in own):
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
        if not any(module.has(b".backward(") for module in own):
            return False
        return not any(_speaks_of_loaders(module, self._plan) for module in own)


def _speaks_of_loaders(module: Module, plan: Plan) -> bool:
    return _has_trainer(module, plan) or _builds_loaders(module, plan) or _imports(module, _WITH_LOADERS)


def _builds_loaders(module: Module, plan: Plan) -> bool:
    if not any(map(module.has, _LOADERS)):
        return False
    named = {name for found in _IN_CODE.finditer(module.data) for name in _NAMED_LOADER.findall(found[0])}
    return not named <= plan.shared(_own_loaders)


def _own_loaders(plan: Plan) -> frozenset[bytes]:
    """The names of the project's loaders that are none of torch."""
    modules = plan.program.modules.by_file.values()
    holding = (module for module in modules if module.has(b"DataLoader"))
    return frozenset(name for module in holding for name in _LOADER_OF_ITS_OWN.findall(module.data))


def _imports(module: Module, libraries: frozenset[str]) -> bool:
    return any(name in libraries for rest in module.import_statements() for name in _tops(*rest))


def _has_trainer(module: Module, plan: Plan) -> bool:
    if not module.has(_TRAINER):
        return False
    return not plan.shared(_own_trainers).issuperset(_OF_MODELS.findall(module.data))


def _own_trainers(plan: Plan) -> frozenset[bytes]:
    """The names of the project's trainers that are none of a library's."""
    modules = plan.program.modules.by_file.values()
    return frozenset(name for module in modules if module.has(b"Trainer") for name in _OF_ITS_OWN.findall(module.data))


def _may_build(module: Module, plan: Plan) -> bool:
    return (
        _has_trainer(module, plan)
        or any(map(module.holds, _NAMES))
        or any(not _is_harmless(name, module, plan) for rest in module.import_statements() for name in _tops(*rest))
    )


def _tops(keyword: bytes, rest: bytes) -> list[str]:
    """The first names of what an import statement imports; none where it is relative."""
    parts = rest.split(b",") if keyword == b"import" else [rest]
    return [found[1].decode() for part in parts if (found := _TOP.match(part))]


def _is_harmless(name: str, module: Module, plan: Plan) -> bool:
    if starts_no_workers(name):
        return True
    return plan.program.modules.find(name, module) is not None
