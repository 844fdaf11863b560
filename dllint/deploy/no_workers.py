"""What says that the scripts of a container start no workers: its command, the scripts, the configs passed to them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dllint.deploy.command_words import simple_commands
from dllint.deploy.loading import WITHOUT_WORKERS
from dllint.deploy.nearest import closest, parts_of
from dllint.deploy.told import is_written_in_place
from dllint.kinds import Kind
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.runs import ScriptRun
    from dllint.deploy.training import Training

_TRAINER_IMPORTS = tuple(f"{word} {library}" for library in WITHOUT_WORKERS for word in ("from", "import"))
_EXAMPLES = pattern(
    r"\b(?:transformers/examples/|trl/(?:trl|examples)/"
    r"|git clone (?:-\S+ )*\S*huggingface/(?:transformers|trl|peft)(?:\.git)?(?=\s|$))"
)
"""Where scripts of transformers and TRL lie, or are fetched from."""
_WORKERS_GIVEN = pattern(rb"\b\w*num_workers\w*[ \t]*=[ \t]*([^\s,)=]+)")
_WORKERS_SET = pattern(rb"\b\w*workers[\"']?[ \t]*[:=][ \t]*([^\s,}#]+)")
_NO_WORKERS = pattern(r"-j|--?(?:[\w.-]*[._-])?(?:num|n)[_-]?workers|--?(?:[\w.-]*[._-])?workers", re.IGNORECASE)


def switches_off(words: Sequence[str]) -> bool:
    """Whether the command itself says that there are no workers."""
    flat = [word for command in simple_commands(words) for word in command]
    for word, after in zip(flat, (*flat[1:], ""), strict=False):
        name, equals, value = word.partition("=")
        if word == "-j0":
            return True
        if (value if equals else after) == "0" and _NO_WORKERS.fullmatch(name if name.startswith("-") else f"--{name}"):
            return True
    return False


def gives_none(found: Training, plan: Plan) -> bool:
    """Whether all that scripts, or the configs which the commands pass to them, say of workers, to whatever builds
    their loaders elsewhere, is that there are none."""
    if found.runs and all(_is_told_none(run, found.workload.folder, plan) for run in found.runs):
        return True
    scripts = [run.module for run in found.runs]
    given = [set(_WORKERS_GIVEN.findall(script.data)) for script in scripts if script is not None]
    return bool(scripts) and len(given) == len(scripts) and all(numbers == {b"0"} for numbers in given)


def _is_told_none(run: ScriptRun, folder: str, plan: Plan) -> bool:
    """Whether a script is passed configs of the project, or Hydra puts some together for it, and all that these say of
    workers is that there are none."""
    if any("workers" in word for word in run.arguments):
        return False
    paths = [word.rpartition("=")[2] for word in run.arguments]
    named = [(path, plan.called(os.path.basename(path), kind)) for path in paths for kind in (Kind.YAML, Kind.JSON)]
    files = [file for path, every in named if every and (file := closest(parts_of(path), every, folder)) is not None]
    texts = [file.data for file in files] + _texts_of_hydra(run, plan)
    return {number for text in texts for number in _WORKERS_SET.findall(text)} == {b"0"}


def _texts_of_hydra(run: ScriptRun, plan: Plan) -> list[bytes]:
    """The config files that Hydra puts together for a script, with the groups that its command chooses; none where it
    is none, or one of them is not seen."""
    if run.module is None or not run.module.has(b"hydra"):
        return []
    from dllint.code.language.hydra_mains import started

    config = started(plan.program.evaluator, run.module, run.arguments)
    return [file.source.data for file in config.files] if config is not None and config.is_whole else []


def leaves_out(found: Training, plan: Plan) -> bool:
    """Whether a script, of the project or of theirs, trains by the trainer of transformers or TRL, whose default is no
    workers, and nothing that they import, lies around them, or stands in the command gives it any."""
    option = "dataloader_num_workers"
    scripts = [run.module for run in found.runs if run.module is not None]
    words = [word for run in found.runs for word in (*found.words, *run.words)]
    if any(option in word for word in words):
        return False
    if not scripts:
        is_example = any(_EXAMPLES.search(word) for word in words)
        return bool(found.runs) and (is_example or is_written_in_place(found, plan))
    if plan.use(scripts, plan.program.modules_with(option)):
        return False
    folders = tuple(os.path.dirname(os.path.dirname(script.absolute)) + "/" for script in scripts)
    configs = (file for file in plan.of_kind(Kind.YAML, Kind.JSON) if file.absolute.startswith(folders))
    if any(file.has(option.encode()) for file in configs):
        return False
    importing = (module for line in _TRAINER_IMPORTS for module in plan.program.modules_with(line))
    trainers = [module for module in importing if module.has(b"Trainer")]
    return plan.use(scripts, trainers)
