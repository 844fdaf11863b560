"""What a container runs: the scripts of the project that its command starts, and what it passes them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from dllint.code.language.modules import Module
from dllint.deploy.command_words import simple_commands, without_prefix
from dllint.deploy.commands import Command, commands_of
from dllint.deploy.texts import DeployFile
from dllint.deploy.wrappers import SHELLS
from dllint.files import Kind
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_File = TypeVar("_File", Module, DeployFile)
_ELSEWHERE = frozenset({"docker", "podman", "nvidia-docker", "nerdctl", "docker-compose", "kubectl", "helm", "ssh"})
"""Programs whose words run in another container, or on another machine."""
_RUNNERS = frozenset(
    """torchrun torch.utils.bottleneck cProfile profile pdb ipdb pudb trace debugpy coverage memray pyinstrument
    scalene viztracer kernprof line_profiler memory_profiler
    """.split()  # noqa: SIM905 - one word a module reads better than a list of quotes
)
"""Modules that run a script which is named behind them: debuggers, profilers, and launchers as those below."""
_LAUNCHING = ("torch.distributed.", "accelerate.", "deepspeed.", "determined.launch.")
_SETUP = "setup.py"
"""Builds or installs a project; what it may import of it does not run."""
_DEEPEST = 4
"""Shell scripts that start one another are followed so far."""


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """One start of a Python file or module; `module` is None where it is none of the project's."""

    words: tuple[str, ...]
    """The whole command, the launcher (python, torchrun ...) first."""
    script: str
    """As it is written: `train.py`, `pkg.main`."""
    module: Module | None
    arguments: tuple[str, ...]
    """What the script is passed."""

    def given(self) -> dict[str, str]:
        """The values of its options, by the names that the script knows them by, `-` as `_`."""
        found: dict[str, str] = {}
        for word, after in zip(self.arguments, (*self.arguments[1:], "-"), strict=False):
            name, equals, value = word.partition("=")
            key = name.lstrip("-+").replace("-", "_")
            if equals and key:
                found[key] = value
                found.setdefault(key.rpartition(".")[2], value)
            elif word.startswith("-") and key and not after.startswith("-"):
                found[key] = after
        return found


def script_runs(words: Sequence[str], folder: str, plan: Plan, depth: int = 0) -> Iterator[ScriptRun]:
    """The Python scripts that a container's words start, also by shell scripts of the project."""
    for command in simple_commands(words):
        command = without_prefix(command)
        run = _python_run(command, folder, plan)
        if run is not None:
            yield run
        elif depth < _DEEPEST:
            script, passed = _shell_script(command, folder, plan)
            inner = [_passed_on(each.texts, passed) for each in script] if script is not None else [passed]
            for each in inner:
                yield from script_runs(each, folder, plan, depth + 1)


def shell_commands(words: Sequence[str], folder: str, plan: Plan, depth: int = 0) -> Iterator[Command]:
    """The commands in the project's shell scripts that a container's words start, and in those that these start."""
    for command in simple_commands(words):
        script, passed = _shell_script(without_prefix(command), folder, plan)
        for each in script or ():
            yield each
            if depth < _DEEPEST:
                yield from shell_commands(_passed_on(each.texts, passed), folder, plan, depth + 1)


def _python_run(command: Sequence[str], folder: str, plan: Plan) -> ScriptRun | None:
    if command and os.path.basename(command[0]) in _ELSEWHERE:
        return None
    for number, word in enumerate(command):
        if word.endswith(_SETUP):
            return None
        if word.endswith(".py") and not word.startswith("-") and "=" not in word:
            module = _module_at(word, folder, plan)
            return ScriptRun(tuple(command), word, module, tuple(command[number + 1 :]))
        if word in ("-m", "--module") and number + 1 < len(command) and not _is_runner(command[number + 1]):
            name = command[number + 1]
            return ScriptRun(tuple(command), name, _module_named(name, folder, plan), tuple(command[number + 2 :]))
    return None


def _is_runner(name: str) -> bool:
    """Whether a module is one that runs a script that is named behind it."""
    return name in _RUNNERS or name.startswith(
        ("torch.distributed.", "accelerate.", "deepspeed.", "determined.launch.")
    )


def _module_at(written: str, folder: str, plan: Plan) -> Module | None:
    """The Python file of the project that a path in a container most likely is."""
    parts = _parts(written)
    if not parts:
        return None
    modules = plan.program.modules.by_file
    own = modules.get(os.path.normpath(os.path.join(folder, *parts)).replace(os.sep, "/"))
    if own is not None:
        return own
    return _closest(parts, modules.values(), folder)


def _module_named(name: str, folder: str, plan: Plan) -> Module | None:
    parts = name.split(".")
    modules = plan.program.modules.by_file.values()
    found = _closest([*parts[:-1], parts[-1] + ".py"], modules, folder)
    # Every package may have a `__main__.py`: only that of the very package counts.
    mains = [module for module in modules if module.absolute.endswith(f"/{parts[-1]}/__main__.py")]
    return found or _closest([*parts, "__main__.py"], mains, folder)


def _parts(written: str) -> list[str]:
    """The folders and the name in a path, as far as they are known."""
    return [part for part in re.split(r"[/\\]", written) if part not in ("", ".", "..") and "$" not in part]


def _closest(parts: list[str], modules: Iterable[_File], folder: str) -> _File | None:
    """The file whose path ends with the most of `parts`; None where two are as good and neither lies nearer."""
    best: list[_File] = []
    most = 0
    for module in modules:
        own = module.absolute.split("/")
        if own[-1] != parts[-1]:
            continue
        common = next((n for n, (a, b) in enumerate(zip(reversed(own), reversed(parts), strict=False)) if a != b), None)
        length = min(len(own), len(parts)) if common is None else common
        if length > most:
            best, most = [module], length
        elif length == most:
            best.append(module)
    if len(best) > 1:
        inside = folder.replace(os.sep, "/").rstrip("/") + "/"
        best = [module for module in best if module.absolute.startswith(inside)]
    return best[0] if len(best) == 1 else None


def _shell_script(command: Sequence[str], folder: str, plan: Plan) -> tuple[list[Command] | None, list[str]]:
    """The commands of the shell script that a command runs, and the rest of its words, which stand for `"$@"`.

    No commands (None) where it is a script, but none of the project's.
    """
    words = list(command[1:]) if command and os.path.basename(command[0]) in SHELLS else list(command)
    while words and words[0].startswith("-"):
        words.pop(0)
    if not words or not words[0].endswith((".sh", ".bash")):
        return [], []
    named = [file for file in plan.of_kind(Kind.SHELL) if file.name == os.path.basename(words[0])]
    passed = words[1:]
    if not named:
        return None, passed
    found = _closest(_parts(words[0]), named, folder)
    return (commands_of(found, plan) if found is not None else []), passed


def _passed_on(command: list[str], passed: list[str]) -> list[str]:
    found: list[str] = []
    for word in command:
        found += passed if word in ("$@", "$*", "${@}", "${*}") else [word]
    return found
