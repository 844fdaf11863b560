"""What a project tells of a script that nobody sees: its name, where it is fetched from, its text in another file."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from dllint.deploy.loading import WITHOUT_WORKERS, starts_no_workers
from dllint.deploy.tools import is_tool
from dllint.kinds import Kind
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.training import Training

_TINY = "mnist"
_CALLED_TRAINER = pattern(r"train(?:er|ing)?(?![a-z])", re.IGNORECASE)
_TRAINING = pattern(rf"\b(?:from|import)[ \t]+(?:{'|'.join(WITHOUT_WORKERS)})\b(?s:.)*Trainer\(|\.backward\(")
_CALLED_TRAINING = pattern(
    r"(?:^|[/_.-])(?:pre|re)?(?:train|fine-?tune|finetuning|training|fit)(?:[/_.-]|$|er\b)", re.IGNORECASE
)
_IMPORTED = pattern(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_LOADS = pattern(r"num_workers|DataLoader|data_loader")
_LOADER = "DataLoader("
_MAY_HAVE_WORKERS = pattern(r"num_workers(?![\"']?[ \t]*[=:][ \t]*0\b)|data_loader|\*\*")
"""What gives loaders workers, or may do so unseen."""


def says_training(script: str) -> bool:
    """Whether a script, or another command, is called a training."""
    return _CALLED_TRAINING.search(script.removesuffix(".py").removesuffix(".sh")) is not None


def is_tiny(found: Training, plan: Plan) -> bool:
    """Whether what runs is called after MNIST, or fetched from a folder that is: hundreds of its batches fit into the
    default."""
    image = found.workload.image
    named = [] if image is None else [image.value or image.text]
    if any(_TINY in name.lower() for name in (*named, *(run.script for run in found.runs))):
        return True
    unseen = [os.path.basename(run.script) for run in found.runs if run.module is None]
    return len(unseen) == len(found.runs) and bool(unseen) and all(_comes_from_tiny(name, plan) for name in unseen)


def _comes_from_tiny(script: str, plan: Plan) -> bool:
    texts = (file.text.lower() for file in plan.of_kind(Kind.DOCKERFILE))
    words = (word for text in texts if _TINY in text for word in text.split())
    return any(_TINY in word and word.endswith(f"/{script.lower()}") for word in words)


def is_called_a_trainer(found: Training) -> bool:
    """Whether a container with a GPU, or its image, is called after training, and nobody sees what runs in it."""
    workload = found.workload
    if not workload.gpus or found.runs or any(map(is_tool, found.commands)):
        return False
    image = (workload.image.value or "") if workload.image is not None else ""
    return any(map(_CALLED_TRAINER.search, (workload.name, image.rpartition("/")[2].partition(":")[0])))


def is_written_in_place(found: Training, plan: Plan) -> bool:
    """Whether the scripts that run stand in the command, or in a ConfigMap beside it, train by the trainer of
    transformers or TRL, whose default is no workers, or by hand, and neither they nor what they import speak of loaders
    but such without workers."""
    text = "\n".join(found.words)
    own = plan.by_path.get(found.workload.path)
    if own is not None and all(own.has(f"{os.path.basename(run.script)}:".encode()) for run in found.runs):
        text = own.text
    if _LOADER in text:
        if _MAY_HAVE_WORKERS.search(text) is not None:
            return False
    elif _TRAINING.search(text) is None or _LOADS.search(text) is not None:
        return False
    return all(map(starts_no_workers, _IMPORTED.findall(text)))
