"""Which workloads train with torch: by their image, their command, and the project's own loaders.

A GPU alone, or `torch` in a name, is no evidence. Serving stacks, tools and scripts without a loader are evidence
against it, and so are loaders that all run without workers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from itertools import pairwise
from typing import TYPE_CHECKING

from dllint.deploy.around import LoadersAround
from dllint.deploy.images import Image, bases_of, built_for, words_of
from dllint.deploy.installed import brings_torch
from dllint.deploy.library_trainers import library_trainer
from dllint.deploy.loading import ByHand, has_no_loaders, leaves_workers_out, may_load, uses_loaders_of_others
from dllint.deploy.no_workers import gives_none, leaves_out, switches_off
from dllint.deploy.pages import session, speaks_of_else
from dllint.deploy.published import label_of
from dllint.deploy.ranks import may_start_ranks
from dllint.deploy.remounts import heed
from dllint.deploy.runs import ScriptRun, Started
from dllint.deploy.shells import is_memory_given, is_shell_beside, is_to_work_in
from dllint.deploy.stopped import stops_at_its_command
from dllint.deploy.tested import RUNNERS, only_tests, runs_tests, tests_start_workers
from dllint.deploy.told import is_called_a_trainer, is_tiny, says_training
from dllint.deploy.tools import SERVES, is_tool, listens
from dllint.deploy.training import Training
from dllint.deploy.workload import Start, Workload
from dllint.patterns import pattern
from dllint.records import replace

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_TRAINING_IMAGE = pattern(
    r"(?:^|/)(?:"
    r"pytorch/pytorch|nvidia/(?:pytorch|nemo)|rocm/pytorch(?:-[\w.-]+)?|mosaicml/(?:pytorch|llm-foundry|composer)"
    r"|ultralytics/(?:ultralytics|yolov\d+)|huggingface/(?:transformers|accelerate)-(?:pytorch[\w-]*|gpu[\w-]*)"
    r"|deepspeed/[\w.-]+|pytorchlightning/[\w.-]+|projectmonai/monai|winglian/axolotl|axolotlai/axolotl[\w-]*"
    r"|(?:huggingface-)?pytorch-training[\w.-]*|[\w.-]*pytorch-notebook|jupyter-pytorch(?:-[\w-]+)?|gcr\.io/pytorch-(?:gpu|cpu|cu)[\w.-]*"
    r"|pytorch-(?:gpu|cu\d+)[\w.-]*"
    r")(?::|@|$)"
)
"""Images that carry torch for training (facts on the images' own pages); the registry before them does not matter."""
_LAUNCHERS = frozenset({"torchrun", "deepspeed", "composer"})
_LIBRARY_TRAINERS = frozenset({"nnUNetv2_train", "nnUNet_train"})
_LAUNCHING_MODULES = frozenset(
    {
        "torch.distributed.run",
        "torch.distributed.launch",
        "torchelastic.distributed.launch",
        "accelerate.commands.launch",
    }
)
_NO_TRAINER = pattern(
    r"(?:^|[_.-])(?:infer(?:ence)?|predict(?:ion|or)?|serv(?:e|ing)|api|export|tensorboard|mlflow|(?:web[_-]?)?ui"
    r"|dashboard|client|(?:unit)?tests?|unit|lint(?:er)?|checks?|qa|frontend|gradio|streamlit|demo|download(?:er)?|prepare|preprocess(?:ing|or)?|convert(?:er)?)$",
    re.IGNORECASE,
)
"""What a container is called that does not train, where nothing but its image says that it might."""
_CHECKS = pattern(r"(?:^|/)tests?/|(?:^|[/_.-])(?:check|lint|import|verify)(?:s|er|ing)?[_.-]", re.IGNORECASE)
"""What a script is called that only checks the code."""


def training(workload: Workload, plan: Plan) -> Training | None:
    """The workload as one that trains with torch; None where the evidence for that is missing or speaks against it."""
    found = _of_all_ways(workload, plan)
    if found is not None:
        heed(found)
    return found


def _of_all_ways(workload: Workload, plan: Plan) -> Training | None:
    """The same; of the ways in which the project runs it rather one that is seen to start workers."""
    typed = session(workload, plan)
    if typed:
        found = _training(replace(workload, start=Start(("bash", "-c", typed))), plan)
        return found if found is not None and (found.starts_workers or _says_so(found)) else None
    ways = (workload, *(replace(workload, start=start) for start in workload.also_runs))
    trainings = [found for way in ways if (found := _training(way, plan)) is not None]
    return next((found for found in trainings if found.starts_workers), trainings[0] if trainings else None)


def _training(workload: Workload, plan: Plan) -> Training | None:
    image = built_for(workload, plan)
    words = words_of(workload, image)
    found = Training(workload, plan, "", words)
    commands = found.commands
    if switches_off(words) or found.has_no_workers or _is_other(found):
        return None
    if stops_at_its_command(found, image) or (not found.starts_workers and gives_none(found, plan)):
        return None
    if not found.loaders and (leaves_out(found, plan) or is_tiny(found, plan)):
        return None
    if found.runs and all(_hands_on(run, plan) for run in found.runs):
        return None
    if only_tests(commands) and not tests_start_workers(found, image):
        return None
    if not found.loaders and plan.shared(LoadersAround).have_no_workers(image) and _are_its_loaders(found, plan):
        return None
    if not found.runs and _serves(commands):
        return None
    found.why = _why(workload, plan, image, commands, found)
    found.does = "train with" if _says_so(found) or not found.starts_workers else "run"
    found.is_sure = found.is_sure and found.comes_to_it
    return found if found.why else None


def _why(workload: Workload, plan: Plan, image: Image | None, commands: list[list[str]], found: Training) -> str:
    if found.starts_workers:
        return _why_by_workers(found)
    script = library_trainer(found, plan)
    if script:
        return f"{script}, which it {_runs(found)}, trains by ultralytics, which starts DataLoader workers"
    folders = (plan.root,) if image is None else (plan.root, image.file.folder)
    if any(map(plan.shared(ByHand).trains_in, folders)) and not has_own_loaders(found):
        return ""
    seen = [run for run in found.runs if run.module is not None]
    if seen and not found.loaders and not _may_train_unseen(found, plan):
        return ""
    if len(seen) == len(found.runs) and found.may_have_no_workers:
        return ""
    if not found.runs and plan.shared(leaves_workers_out):
        return ""
    if workload.is_training:
        return f"{workload.launcher.name} starts it as a PyTorch training job"
    if any(map(_launches, found.started)):
        return _why_by_launcher(found)
    if workload.launcher.checks and not _may_train(commands, found, image):
        return ""
    return _why_by_image(found, plan, image)


def _why_by_workers(found: Training) -> str:
    """The evidence that a loader with workers gives, by the script that leads to it."""
    loader = next(loader for loader in found.loaders if loader.has_workers)
    file = os.path.basename(loader.loader.path)
    script = file if loader.run is None or loader.run.module is None else os.path.basename(loader.run.module.path)
    return f"{script}, which it {_runs(found)}, starts DataLoader workers" + (f" in {file}" if script != file else "")


def _runs(found: Training) -> str:
    return "runs" if found.comes_to_it else "may run"


def _why_by_launcher(found: Training) -> str:
    """The evidence that a launcher gives; of one process whose loaders nobody knows the workers of it is not enough."""
    launches = "its command is a launcher of PyTorch training"
    found.is_sure = may_start_ranks(found.words) or all(run.module is None for run in found.runs)
    return launches if found.is_sure else f"{launches}, and nobody sees whether its loaders have workers"


def _why_by_image(found: Training, plan: Plan, image: Image | None) -> str:
    """The evidence that the image gives, where what runs in it says nothing."""
    workload = found.workload
    name = training_image(workload, image, plan)
    if not name and not (image is not None and _is_for_training(found, image) and brings_torch(image, plan)):
        return ""
    named = (workload.name, label_of(image, plan) if image is not None else "")
    if (not workload.launcher.checks and any(map(_NO_TRAINER.search, named))) or speaks_of_else(workload, plan):
        return ""
    if is_shell_beside(workload, plan) or plan.shared(has_no_loaders):
        return ""
    if image is not None and (_holds_no_loaders(image, plan) or _is_made_to_serve(image, found, plan)):
        return ""
    carries = f"{_called(name, workload)} carries PyTorch" if name else "PyTorch is installed in its image"
    is_seen = any(run.module is not None for run in found.runs)
    if name and (_says_so(found) or is_seen):
        found.is_sure = not is_seen  # else its loaders would say how many workers they have
        return carries
    if name and workload.launcher.checks and tests_start_workers(found, image):
        return f"{carries}, and its tests build loaders"
    runs = [run for run in found.runs if not is_tool(list(run.words))]
    if runs and not workload.launcher.checks and all(map(_is_foreign, runs)):
        return ""
    found.beside = plan.shared(LoadersAround).nearest_with_workers(image, workload)
    is_witness = found.beside is not None and not plan.shared(is_memory_given)
    # A shell in an image with torch is for anything, and so is a script of which nobody sees what it comes to.
    is_hidden = any(each.is_inner for each in found.started)
    found.is_sure = is_witness and (bool(name) or bool(found.runs)) and not is_hidden
    if found.beside is None:
        return carries if name else ""
    return f"{carries}, and {os.path.basename(found.beside.path)} starts DataLoader workers"


def _called(name: str, workload: Workload) -> str:
    """What messages call the image that carries torch: it may be what the project builds its own on."""
    is_own = workload.image is not None and workload.image.value == name
    return f"its image, {name}," if is_own else f"{name}, which its image is built on,"


def _are_its_loaders(found: Training, plan: Plan) -> bool:
    """Whether the loaders of the project are all that it may use: nobody sees what runs, or scripts of the project run
    that reach none by what can be followed, and no library builds others for them."""
    if not found.runs:
        return True
    is_open = any(run.module is None for run in found.runs) or any(map(_launches, found.started))
    if is_open or found.workload.is_training:
        return False
    return not plan.shared(uses_loaders_of_others)


def _hands_on(run: ScriptRun, plan: Plan) -> bool:
    """Whether a script only has others run what loads: a flow of Metaflow."""
    if run.module is None or not run.module.has(b"metaflow"):
        return False
    from dllint.deploy.launchers.metaflow import hands_on

    return hands_on(run, plan)


def _is_foreign(run: ScriptRun) -> bool:
    """Whether a module of somebody else's package runs, which is not called a training: `python -m picai_eval`."""
    if run.module is not None or run.script in RUNNERS or "$" in run.script or says_training(run.script):
        return False
    return ("-m", run.script) in pairwise(run.words)


def _is_for_training(found: Training, image: Image) -> bool:
    """Whether people work in an image that torch is installed in, or it is called after what it is for."""
    return is_to_work_in(found.workload, image) or is_called_a_trainer(found)


def _may_train_unseen(found: Training, plan: Plan) -> bool:
    """Whether scripts without a loader say that they train, and may get one from a library or from what is not seen."""
    if not any(run.module is not None and says_training(run.script) for run in found.runs):
        return False
    scripts = [run.module for run in found.runs if run.module is not None]
    return len(scripts) < len(found.runs) or may_load(scripts, plan)


def _holds_no_loaders(image: Image, plan: Plan) -> bool:
    """Whether a Dockerfile lies with code of its own in a folder of the project, and none of that builds a loader."""
    folder = image.file.folder.replace(os.sep, "/").rstrip("/") + "/"
    if folder.rstrip("/") == plan.root.replace(os.sep, "/").rstrip("/"):
        return False
    own = [module for module in plan.program.modules.by_file.values() if module.absolute.startswith(folder)]
    return bool(own) and not may_load(own, plan)


def _is_made_to_serve(image: Image, found: Training, plan: Plan) -> bool:
    """Whether an image starts a server by itself, and nobody sees what else a container of it runs."""
    if found.runs or not image.command:
        return False
    alone = Training(found.workload, plan, "", image.command)
    if not alone.runs:
        return _serves(alone.commands)
    return any(map(_is_server, alone.runs)) and _is_other(alone)


def _may_train(commands: list[list[str]], found: Training, image: Image | None) -> bool:
    """Whether a job of CI runs a script that says so, one that is not seen, or tests that start workers."""
    runs = [run for run in found.runs if not is_tool(list(run.words)) and run.script not in RUNNERS]
    if any(says_training(run.script) or (run.module is None and not _CHECKS.search(run.script)) for run in runs):
        return True
    return any(map(runs_tests, commands)) and tests_start_workers(found, image)


def training_image(workload: Workload, image: Image | None, plan: Plan) -> str:
    """The image that carries torch, of those that a workload is made of; empty if none is known to."""
    names = [] if workload.image is None or workload.image.value is None else [workload.image.value]
    names += bases_of(image, plan) if image is not None else []
    return next((name for name in names if is_training_image(name, plan.settings.training_images)), "")


def is_training_image(name: str, more: Iterable[str] = ()) -> bool:
    """Whether an image of this name carries torch; `more` are globs that the user gives."""
    plain = re.split("[:@]", name.rpartition("/")[2], maxsplit=1)[0]
    bare = f"{name.rpartition('/')[0]}/{plain}".lstrip("/")
    return _TRAINING_IMAGE.search(name) is not None or any(fnmatch(name, glob) or fnmatch(bare, glob) for glob in more)


def _is_launcher(command: Sequence[str]) -> bool:
    texts = [os.path.basename(word) for word in command]
    if any(word in _LAUNCHERS for word in texts[:3]):
        return True
    if any(word in _LAUNCHING_MODULES for word in command):
        return True
    if "accelerate" in texts[:1] and "launch" in texts[1:]:
        return True
    return _is_library(texts)


def has_own_loaders(found: Training) -> bool:
    """Whether it runs the training command of a library, which starts workers by itself."""
    return any(_is_library([os.path.basename(word) for word in command]) for command in found.commands)


def _is_library(texts: Sequence[str]) -> bool:
    if texts[0] == "yolo":  # ultralytics: 8 workers unless `workers=` says otherwise
        return any(word in ("train", "mode=train") for word in texts[1:])
    return texts[0] in _LIBRARY_TRAINERS


def _is_other(found: Training) -> bool:
    """Whether all that runs is something else than training: a tool, a server, a question to the interpreter."""
    if not found.started:
        return any(found.words)  # a script that comes to nothing
    if not found.commands or any(_launches(each) and not is_tool(each.command) for each in found.started):
        return False
    runs = [run for run in found.runs if not is_tool(list(run.words))]
    if runs:
        return all(map(_is_server, runs))
    return all(map(is_tool, found.commands))


def _launches(each: Started) -> bool:
    """Whether a launcher of PyTorch starts anything but a server (`accelerate launch api.py`)."""
    if not each.command or not each.command[0] or not _is_launcher(each.command):
        return False
    return each.run is None or not _is_server(each.run)


def _is_server(run: ScriptRun) -> bool:
    """Whether a script serves: it is called so, or is told where to listen and nobody sees what else it does."""
    if says_training(run.script):
        return False
    return SERVES.search(run.script) is not None or (run.module is None and listens(run.arguments))


def _serves(commands: list[list[str]]) -> bool:
    """Whether one of the commands starts a server."""
    return any(SERVES.search(os.path.basename(command[0])) for command in commands)


def _says_so(found: Training) -> bool:
    """Whether any of the commands is called a training, or starts one by a launcher."""
    scripts = [run.script for run in found.runs] + [word for command in found.commands for word in command[:2]]
    return any(map(says_training, scripts)) or any(map(_launches, found.started))
