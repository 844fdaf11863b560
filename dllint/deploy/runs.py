"""What a container runs: the scripts of the project that its command starts, and what it passes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language.modules import Module
from dllint.deploy.checked_out import is_another_version
from dllint.deploy.command_words import PYTHON, called_modules, shell_text, started_text, without_prefix
from dllint.deploy.entry_points import entry_point
from dllint.deploy.environment import Environment
from dllint.deploy.followed import InnerCommand, inner_of, inner_of_text
from dllint.deploy.nearest import closest, parts_of
from dllint.deploy.script_flow import Choices
from dllint.deploy.tools import installs
from dllint.records import dataclass, replace

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_ELSEWHERE = frozenset({"docker", "podman", "nvidia-docker", "nerdctl", "docker-compose", "kubectl", "helm", "ssh"})
"""Programs whose words run in another container, or on another machine."""
_RUNNERS = frozenset(
    """torchrun torch.utils.bottleneck cProfile profile pdb ipdb pudb trace debugpy coverage memray pyinstrument
    scalene viztracer kernprof line_profiler memory_profiler
    """.split()  # noqa: SIM905 - one word a module reads better than a list of quotes
)
"""Modules that run a script which is named behind them: debuggers, profilers, and launchers as those below."""
_LAUNCHING = ("torch.distributed.", "torchelastic.distributed.", "accelerate.", "deepspeed.", "determined.launch.")
_SETUP = "setup.py"
"""Builds or installs a project; what it may import of it does not run."""
_DEEPEST = 6
"""Scripts that start one another are followed so far."""


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
    function: str = ""
    """What of the module runs alone; empty for the whole of it."""

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


class Started(NamedTuple):
    """One simple command that runs."""

    command: list[str]
    """Its words, without those that only run it."""
    run: ScriptRun | None
    """The Python script that it starts, if it does."""
    choices: Choices = ()
    """What decides whether it runs, as far as nobody sees how that ends: it may be left out."""
    is_inner: bool = False
    """Whether it stands in a script of the project, or another text, and not in the container's own words."""


def started(
    words: Sequence[str],
    folder: str,
    plan: Plan,
    environment: Environment,
    choices: Choices = (),
    depth: int = 0,
) -> Iterator[Started]:
    """What a container's words start, also by scripts and Makefiles of the project, which are gone into."""
    found = None if depth >= _DEEPEST else shell_text(words) if depth else started_text(words)
    if found is not None:
        # At first, some of its variables may be those of whoever starts the container.
        around = environment if depth else environment.opened()
        inner = [*inner_of_text(found, folder, plan, around), InnerCommand(found.before, environment)]
        yield from _in_order(inner, folder, plan, choices, depth)
    elif words:
        yield from _started(words, folder, plan, environment, choices, depth)


def _started(
    words: Sequence[str], folder: str, plan: Plan, environment: Environment, choices: Choices, depth: int
) -> Iterator[Started]:
    """What one command starts."""
    command = without_prefix(words)
    if depth:  # else the shell of whoever starts the container, or its launcher, puts them in
        command = environment.put_into(command)
    around = environment.plus(words[: len(words) - len(command)])
    run = _python_run(command, folder, plan)
    is_followed = run is None and depth < _DEEPEST and not (command and installs(command))
    inner = inner_of(command, folder, plan, around) if is_followed else None
    if inner is None:
        yield Started(command, run, choices, is_inner=depth > 0)
        return
    if not inner.is_all:
        yield Started(command, None, choices, is_inner=depth > 0)
    yield from _in_order(inner.commands, folder, plan, choices, depth)


def _in_order(
    commands: Sequence[InnerCommand], folder: str, plan: Plan, choices: Choices, depth: int
) -> Iterator[Started]:
    """What commands start one after another; scripts of another version of the code are none that anybody sees."""
    is_other = False
    for each in commands:
        for found in started(each.words, folder, plan, each.environment, (*choices, *each.choices), depth + 1):
            run = replace(found.run, module=None) if is_other and found.run is not None else found.run
            yield found._replace(run=run)
        is_other = is_other or is_another_version(each.words)


def _python_run(command: Sequence[str], folder: str, plan: Plan) -> ScriptRun | None:
    if not command or os.path.basename(command[0]) in _ELSEWHERE:
        return None
    entry = entry_point(command[0], folder, plan)
    if entry is not None:
        module = _module_named(entry.module, folder, plan)
        return ScriptRun(tuple(command), os.path.basename(command[0]), module, tuple(command[1:]), entry.function)
    if command[1:2] == ["-c"] and PYTHON.match(os.path.basename(command[0])):
        return _code_run(command, folder, plan)
    is_program = not command[0].endswith((".sh", ".bash"))  # those have options of their own
    for number, word in enumerate(command):
        if word.endswith(_SETUP):
            return None
        if word.endswith(".py") and not word.startswith("-") and "=" not in word:
            module = _module_at(word, folder, plan)
            return ScriptRun(tuple(command), word, module, tuple(command[number + 1 :]))
        if (
            word in ("-m", "--module")
            and is_program
            and number + 1 < len(command)
            and not _is_runner(command[number + 1])
        ):
            name = command[number + 1]
            return ScriptRun(tuple(command), name, _module_named(name, folder, plan), tuple(command[number + 2 :]))
    return None


def _code_run(command: Sequence[str], folder: str, plan: Plan) -> ScriptRun | None:
    """What `python -c "import train; train.main()"` starts: the module of the project that it calls."""
    for name in called_modules(command[2]) if len(command) > 2 else ():
        module = _module_named(name, folder, plan)
        if module is not None:
            return ScriptRun((command[0], "-m", name), name, module, tuple(command[3:]))
    return None


def _is_runner(name: str) -> bool:
    """Whether a module is one that runs a script that is named behind it."""
    return name in _RUNNERS or name.startswith(_LAUNCHING)


def _module_at(written: str, folder: str, plan: Plan) -> Module | None:
    """The Python file of the project that a path in a container most likely is."""
    parts = parts_of(written)
    if not parts:
        return None
    modules = plan.program.modules.by_file
    own = modules.get(os.path.normpath(os.path.join(folder, *parts)).replace(os.sep, "/"))
    if own is not None:
        return own
    return closest(parts, modules.values(), folder)


def _module_named(name: str, folder: str, plan: Plan) -> Module | None:
    parts = name.split(".")
    modules = plan.program.modules.by_file.values()
    found = closest([*parts[:-1], parts[-1] + ".py"], modules, folder)
    # Every package may have a `__main__.py`: only that of the very package counts.
    mains = [module for module in modules if module.absolute.endswith(f"/{parts[-1]}/__main__.py")]
    return found or closest([*parts, "__main__.py"], mains, folder)
