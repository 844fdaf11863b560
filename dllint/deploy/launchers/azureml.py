"""Azure Machine Learning: command jobs, alone or as steps of a pipeline. The platform itself gives each job 2 GB."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.docker_cli import run_options
from dllint.deploy.docker_options import Shm, shared_memory
from dllint.deploy.option_words import words_of
from dllint.deploy.sizes import docker_bytes
from dllint.deploy.workload import Flaw, FlawKind, Launcher, Setting, SharedMemory, ShmSource, Workload
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

AZURE_ML = Launcher("Azure ML", "give the job `resources: {shm_size: {size}}`", "{gib}g")
_EXPRESSION = re.compile(r"\$\{\{(?:(?!\$\{\{).)*?\}\}", re.DOTALL)


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The command jobs of a file: the document itself, the trial of a sweep, or the steps below `jobs`."""
    for document in file.documents.trees:
        if not document.is_mapping or "apiVersion" in document:
            continue
        if _is_job(document):
            yield _workload(document, document, file)
        trial = document.get("trial")
        if trial is not None and _is_azure(document) and _is_job(trial, is_step=True):
            yield _workload(trial, document, file)
        jobs = document.get("jobs")
        if jobs is not None and _is_azure(document):
            yield from (_workload(job, document, file) for _, job in jobs.pairs() if _is_job(job, is_step=True))


def _is_azure(tree: Tree) -> bool:
    return "azureml" in tree.text_of("$schema")


def _is_job(tree: Tree, *, is_step: bool = False) -> bool:
    """Whether it is a command job, by its schema or by the references that only Azure has."""
    if not tree.text_of("command"):
        return False
    references = f"{tree.text_of('environment')} {tree.text_of('compute')}"
    return is_step or _is_azure(tree) or "azureml:" in references


def _workload(job: Tree, document: Tree, file: DeployFile) -> Workload:
    command, environment = job.get("command"), job.get("environment")
    assert command is not None
    code = _EXPRESSION.sub("", job.text_of("code") or document.text_of("code"))
    image = environment.get("image") if environment is not None and environment.is_mapping else environment
    shm = _shared_memory(job, file)
    folder = os.path.dirname(file.absolute)
    return Workload(
        AZURE_ML,
        file.path,
        command.key_at,
        name=job.text_of("name") or job.text_of("display_name"),
        folder=os.path.normpath(os.path.join(folder, code)) if ":" not in code else folder,
        image=Setting(_environment_name(image.text or ""), image.at, image.text or "") if image is not None else None,
        command=("sh", "-c", _EXPRESSION.sub("$X", command.text or "")),
        shm=shm.memory,
        flaws=shm.flaws,
        host_ipc=shm.host_ipc,
        ignored_size=shm.ignored_size,
        environment={key: value.text for key, value in _pairs(job.get("environment_variables"))},
        is_training=job.text_of("distribution", "type").lower() == "pytorch",
    )


def _pairs(tree: Tree | None) -> list[tuple[str, Tree]]:
    return tree.pairs() if tree is not None else []


def _environment_name(text: str) -> str:
    """The name of an environment out of a reference such as `azureml://registries/azureml/environments/NAME/...`."""
    found = re.search(r"/environments/([^/@:]+)", text)
    return found[1] if found else re.sub(r"^azureml:", "", text).partition("@")[0]


def _shared_memory(job: Tree, file: DeployFile) -> Shm:
    size = job.get("resources", "shm_size")
    if size is None or size.is_null:
        return _of_docker_arguments(job.get("resources", "docker_args"), file)
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
