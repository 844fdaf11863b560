"""The front ends: one module for each launcher, each with a function `find` that turns a file into workloads.

A module is imported only when a file has its words, so that a project without containers pays for none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from dllint.files import Kind

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile
    from dllint.deploy.workload import Workload

Find = Callable[["DeployFile", "Plan"], Iterator["Workload"]]


class FrontEnd(NamedTuple):
    """One launcher: which files it reads, and the module that does."""

    module: str
    """The name of the module in this package; its `find(file, plan)` yields the workloads of a file."""
    kinds: frozenset[Kind]
    words: tuple[tuple[bytes, ...], ...]
    """A file can matter only if it holds all the bytes of one of these."""
    name: str = ""
    """A part of the file's name, where only files of such names can matter."""

    def may_read(self, file: DeployFile) -> bool:
        """Whether a file can hold what this front end looks for, by its kind and bytes."""
        return file.kind in self.kinds and self.name in file.name and any(file.has(*words) for words in self.words)

    def find(self, file: DeployFile, plan: Plan) -> Iterator[Workload]:
        """The workloads that a file starts."""
        find: Find = import_module(f"{__name__}.{self.module}").find
        return find(file, plan)


class CodeFrontEnd(NamedTuple):
    """A launcher that Python code calls."""

    module: str
    """The name of the module in this package; its `find(module, plan)` yields the workloads of a Python module."""
    word: str
    """A Python module can matter only if it holds this, in more than comments."""

    def may_read(self, module: Module) -> bool:
        """Whether a module can hold what this front end looks for, by its bytes."""
        word = self.word.encode()
        return module.has(word) and _in_code(word).search(module.data) is not None

    def find(self, plan: Plan) -> Iterator[Workload]:
        """The workloads that the project's code starts."""
        modules = [module for module in plan.program.modules_with(self.word) if self.may_read(module)]
        if modules:
            find: Callable[[Module, Plan], Iterator[Workload]] = import_module(f"{__name__}.{self.module}").find
            for module in modules:
                yield from find(module, plan)


def starts_in_a_cell(module: Module) -> bool:
    """Whether a notebook's shell commands may start a container."""
    return module.is_notebook and ("docker" in module.shell or "podman" in module.shell)


def find_in_cells(plan: Plan) -> Iterator[Workload]:
    """The workloads that the shell commands in notebooks start."""
    modules = list(filter(starts_in_a_cell, plan.program.modules.by_file.values()))
    if modules:
        from dllint.deploy.launchers import notebooks

        for module in modules:
            yield from notebooks.find(module, plan)


@cache
def _in_code(word: bytes) -> re.Pattern[bytes]:
    """Finds a word on a line that is not all comment."""
    return re.compile(rb"(?m)^(?![ \t]*#).*" + word)


_WITH_COMMANDS = frozenset((Kind.SHELL, Kind.MAKEFILE, Kind.MARKDOWN, Kind.POWERSHELL, Kind.BATCH, Kind.YAML))
_WITH_COMMANDS |= {Kind.RESTRUCTURED, Kind.QUADLET, Kind.TASKS}
FRONT_ENDS: tuple[FrontEnd, ...] = (
    FrontEnd("dockerfile", frozenset({Kind.DOCKERFILE}), ((),)),
    FrontEnd("docker_run", _WITH_COMMANDS, ((b"docker",), (b"podman",), (b"nerdctl",), (b"DOCKER",))),
    FrontEnd(
        "ci_jobs",
        frozenset({Kind.YAML}),
        ((b"container", b"jobs"), (b"image", b"script"), (b"docker", b"image", b"jobs")),
    ),
    FrontEnd("ci_jobs", frozenset({Kind.YAML}), ((b"script",), (b"include",)), name=".gitlab-ci.yml"),
    FrontEnd("build_action", frozenset({Kind.YAML}), ((b"docker/build-push-action", b"shm-size"),)),
    FrontEnd("devcontainer", frozenset({Kind.JSON}), ((b"image",), (b"ockerfile",), (b"ocker",))),
    FrontEnd("compose", frozenset({Kind.YAML}), ((b"services",),)),
    FrontEnd("compose", frozenset({Kind.YAML}), ((b"image",),), name="compose"),
    FrontEnd("compose", frozenset({Kind.JSON}), ((b'"services"',),), name="compose"),
    FrontEnd("gcp_batch", frozenset((Kind.YAML, Kind.JSON)), ((b"taskGroups", b"imageUri"),)),
    FrontEnd("quadlet", frozenset({Kind.QUADLET}), ((b"Image",),)),
    FrontEnd("nomad", frozenset({Kind.HCL}), ((b"task", b"driver"),)),
    FrontEnd("terraform", frozenset({Kind.HCL}), ((b"aws_ecs_task_definition",), (b"aws_batch_job_definition",))),
    FrontEnd("bake", frozenset((Kind.HCL, Kind.JSON)), ((b"target", b"shm-size"),)),
    FrontEnd("azureml", frozenset({Kind.YAML}), ((b"azureml", b"command"),)),
    FrontEnd(
        "aws",
        frozenset((Kind.YAML, Kind.JSON)),
        tuple(
            (word,)
            for word in (
                b"ontainerDefinitions",
                b"ontainerProperties",
                b"odeProperties",
                b"csProperties",
                b"ksProperties",
            )
        ),
    ),
    FrontEnd(
        "kubernetes",
        frozenset((Kind.YAML, Kind.JSON, Kind.SHELL)),
        ((b"apiVersion", b"containers"), (b"apiVersion", b"TrainJob"), (b"argoproj.io", b"image")),
    ),
    FrontEnd("jupyterhub", frozenset({Kind.YAML}), ((b"singleuser", b"image"),)),
    FrontEnd("ray_cluster", frozenset({Kind.YAML}), ((b"docker:", b"provider"),)),
    FrontEnd("dstack", frozenset({Kind.YAML}), ((b"type: task",), (b"type: dev-environment",))),
    FrontEnd("determined", frozenset({Kind.YAML}), ((b"entrypoint:", b"searcher"), (b"entrypoint:", b"hyperparam"))),
)
CODE_FRONT_ENDS: tuple[CodeFrontEnd, ...] = (
    CodeFrontEnd("metaflow", "metaflow"),
    CodeFrontEnd("kfp", "kfp"),
    CodeFrontEnd("kubernetes_client", "kubernetes"),
    CodeFrontEnd("docker_argv", "docker"),
    CodeFrontEnd("docker_argv", "podman"),
    CodeFrontEnd("docker_sdk", "docker"),
)
