"""Azure Machine Learning: command jobs, alone or as steps of a pipeline. The platform itself gives each job 2 GB."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.docker_cli import run_options
from dllint.deploy.docker_options import Shm, shared_memory
from dllint.deploy.option_words import words_of
from dllint.deploy.sizes import docker_bytes
from dllint.deploy.workload import Flaw, FlawKind, Launcher, Setting, SharedMemory, ShmSource, Start, Workload
from dllint.files import Kind
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

AZURE_ML = Launcher("Azure ML", "give the job `resources: {shm_size: {size}}`", "{gib}g")
_EXPRESSION = pattern(r"\$\{\{(?:(?!\$\{\{).)*?\}\}", re.DOTALL)


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The command jobs of a file: the document itself, the trial of a sweep, or the steps below `jobs`."""
    for document in file.documents.trees:
        if not document.is_mapping or "apiVersion" in document:
            continue
        if _is_job(document):
            yield _workload(_Step(document), document, file)
        if not _is_azure(document):
            continue
        jobs, trial = document.get("jobs"), document.get("trial")
        parts = [*_pairs(jobs), *([("", trial)] if trial is not None else [])]
        for step in (_Step(part, _component(part, file, plan)) for _, part in parts):
            if step.text_of("command"):
                yield _workload(step, document, file)


class _Step(NamedTuple):
    """A job, and the component that it runs where that stands somewhere else."""

    job: Tree
    component: Tree | None = None

    def get(self, *keys: str) -> Tree | None:
        """What the job says itself, else its component."""
        found = self.job.get(*keys)
        return found if found is not None or self.component is None else self.component.get(*keys)

    def text_of(self, *keys: str) -> str:
        """The text of a scalar; empty where there is none."""
        found = self.get(*keys)
        return (found.text or "") if found is not None else ""


def _component(step: Tree, file: DeployFile, plan: Plan) -> Tree | None:
    """The component of a step: it stands there, or in a file of the project."""
    component = step.get("component")
    if component is None or component.is_mapping:
        return component
    found = plan.file_at((component.text or "").removeprefix("file:"), file.folder)
    return next(iter(found.documents.trees), None) if found is not None and found.kind is Kind.YAML else None


def _is_azure(tree: Tree) -> bool:
    return "azureml" in tree.text_of("$schema")


def _is_job(tree: Tree) -> bool:
    """Whether it is a command job, by its schema or by the references that only Azure has."""
    if not tree.text_of("command"):
        return False
    references = f"{tree.text_of('environment')} {tree.text_of('compute')}"
    return _is_azure(tree) or "azureml:" in references


def _workload(step: _Step, document: Tree, file: DeployFile) -> Workload:
    command, environment = step.get("command"), step.get("environment")
    assert command is not None
    code, where = step.get("code") or document.get("code"), file.absolute
    if code is not None and step.component is not None and code.path != file.path:
        where = os.path.join(file.folder, step.job.text_of("component").removeprefix("file:"))
    path = _EXPRESSION.sub("", (code.text or "") if code is not None else "")
    image = environment.get("image") if environment is not None and environment.is_mapping else environment
    shm = _shared_memory(step, file)
    folder = os.path.dirname(where)
    anchor = command if command.path == file.path else step.get("component") or command
    return Workload(
        AZURE_ML,
        file.path,
        anchor.key_at,
        name=step.text_of("name") or step.text_of("display_name"),
        folder=os.path.normpath(os.path.join(folder, path)) if ":" not in path else folder,
        image=Setting(_environment_name(image.text or ""), image.at, image.text or "") if image is not None else None,
        start=Start(("sh", "-c", _EXPRESSION.sub("$X", command.text or ""))),
        shm=shm.memory,
        flaws=shm.flaws,
        host_ipc=shm.host_ipc,
        ignored_size=shm.ignored_size,
        environment={key: value.text for key, value in _pairs(step.get("environment_variables"))},
        is_training=step.text_of("distribution", "type").lower() == "pytorch",
    )


def _pairs(tree: Tree | None) -> list[tuple[str, Tree]]:
    return tree.pairs() if tree is not None else []


def _environment_name(text: str) -> str:
    """The name of an environment out of a reference such as `azureml://registries/azureml/environments/NAME/...`."""
    found = re.search(r"/environments/([^/@:]+)", text)
    return found[1] if found else re.sub(r"^azureml:", "", text).partition("@")[0]


def _shared_memory(step: _Step, file: DeployFile) -> Shm:
    size = step.get("resources", "shm_size")
    if size is None or size.is_null:
        return _of_docker_arguments(step.get("resources", "docker_args"), file)
    text = size.text or ""
    if "$" in text:
        return Shm(SharedMemory(ShmSource.UNKNOWN))
    setting = Setting(docker_bytes(text), size.at, text)
    what = f"Azure ML reads a number and one of b, k, m and g as a size, not `{text}`"
    flaws = [Flaw(FlawKind.REFUSED, size.at, what)] if setting.value is None else []
    return Shm(SharedMemory(ShmSource.SIZE, setting, size.at), flaws)


def _of_docker_arguments(options: Tree | None, file: DeployFile) -> Shm:
    if options is None:
        return Shm(SharedMemory(ShmSource.PLATFORM))
    found = shared_memory(run_options("docker", words_of(options, file)))
    if found.memory.source is ShmSource.DEFAULT:
        found.memory = SharedMemory(ShmSource.PLATFORM)
    return found
