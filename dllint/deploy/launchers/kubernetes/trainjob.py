"""Kubeflow Trainer: a TrainJob brings the program, a (Cluster)TrainingRuntime the pod.

The stock runtimes mount nothing at /dev/shm; a job can patch its runtime (`runtimePatches`, before that
`podTemplateOverrides` and `podSpecOverrides`), and a project can have runtimes of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers.kubernetes.containers import KUBERNETES, environment_of, has_gpus, start_of
from dllint.deploy.launchers.kubernetes.objects import objects
from dllint.deploy.launchers.kubernetes.pods import Container, Pod
from dllint.deploy.launchers.kubernetes.shm import shared_memory
from dllint.deploy.launchers.kubernetes.values import is_known, number, setting, whole
from dllint.deploy.workload import ShmSource, Workload
from dllint.files import Kind
from dllint.records import dataclass, field
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_KINDS = (Kind.YAML, Kind.JSON)
RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
_STOCK = ("torch-distributed", "deepspeed-distributed")
"""Stock runtimes that start torch on the job's own program; torchtune's recipes load without workers."""
_PATCHES = ("runtimePatches", "podTemplateOverrides", "podSpecOverrides")
_OTHERS = ("initializer", "launcher", "sidecar")
"""What containers of a runtime are called that do not train."""


@dataclass(slots=True)
class _Job:
    tree: Tree
    file: DeployFile
    volumes: list[Tree] = field(default_factory=list)
    mounts: list[Tree] = field(default_factory=list)


@dataclass(slots=True)
class _Project:
    """The runtimes and jobs of a project."""

    runtimes: dict[str, Tree] = field(default_factory=dict)
    jobs: dict[str, list[_Job]] = field(default_factory=dict)


def train_job(tree: Tree, file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The workload of a TrainJob on a stock runtime; on one of the project's own, that runtime is looked at."""
    reference = tree.get("spec", "runtimeRef")
    name = tree.text_of("spec", "runtimeRef", "name")
    if reference is None or name not in _STOCK or name in plan.shared(_project).runtimes:
        return
    job = _job(tree, file)
    trainer = tree.get("spec", "trainer") or tree
    container = Container(trainer, reference.key_at, tree.text_of("metadata", "name"), mounts=job.mounts)
    shm, flaws = shared_memory(container, Pod([container], job.volumes))
    limits = trainer.get("resourcesPerNode", "limits")
    yield Workload(
        KUBERNETES,
        file.path,
        reference.key_at,
        name=container.name,
        folder=os.path.dirname(file.absolute),
        image=setting(trainer.get("image"), lambda text: text or None),
        start=start_of(trainer, environment := environment_of(trainer)),
        shm=shm,
        flaws=flaws,
        memory_limit=setting(limits.get("memory"), whole) if limits is not None else None,
        cpu_limit=setting(limits.get("cpu"), number) if limits is not None else None,
        gpus=has_gpus(limits),
        environment=environment,
        is_training=True,
    )


def runtime(tree: Tree, pod: Pod, plan: Plan) -> Iterator[Pod]:
    """The pod of a project's own runtime; none if each job that uses it brings shared memory along."""
    jobs = plan.shared(_project).jobs.get(tree.text_of("metadata", "name"), [])
    if jobs and all(_brings_memory(job) for job in jobs):
        return
    for container in pod.containers:
        if container.is_init or any(word in container.name for word in _OTHERS):
            continue
        trainer = jobs[0].tree.get("spec", "trainer") if len(jobs) == 1 else None
        if trainer is not None and ("command" in trainer or "args" in trainer):
            container.start = start_of(trainer, environment_of(trainer))
        is_torch = tree.get("spec", "mlPolicy", "torch") is not None
        container.is_training = is_torch and container.tree.get("command") is None
    yield pod


def _brings_memory(job: _Job) -> bool:
    container = Container(job.tree, job.tree.at, mounts=job.mounts)
    return shared_memory(container, Pod([container], job.volumes))[0].source is not ShmSource.DEFAULT


def _job(tree: Tree, file: DeployFile) -> _Job:
    """A job with what its patches add to the pods that train."""
    job = _Job(tree, file)
    for key in _PATCHES:
        patches = tree.get("spec", key)
        for part in patches.walk(without=_is_of_others) if patches is not None else ():
            volumes, containers = part.get("volumes"), part.get("containers")
            job.volumes += volumes.items() if volumes is not None else []
            for container in containers.items() if containers is not None else ():
                added = container.get("volumeMounts")
                if added is not None and not any(word in container.text_of("name") for word in _OTHERS):
                    job.mounts += added.items()
    return job


def _is_of_others(part: Tree) -> bool:
    """Whether a part of a patch is meant for other jobs than the trainer's."""
    targets = part.get("targetJobs")
    names = [target.text_of("name") for target in targets.items()] if targets is not None else []
    names = names or ([part.text_of("name")] if "template" in part else [])
    return bool(names) and all(any(word in name for word in _OTHERS) for name in names)


def _project(plan: Plan) -> _Project:
    found = _Project()
    for file in plan.files.values():
        if file.kind not in _KINDS or not (file.has(b"TrainJob") or file.has(b"TrainingRuntime")):
            continue
        for tree in (item for document in file.documents.trees for item in objects(document, file)):
            if tree.text_of("kind") in RUNTIMES and is_known(tree.text_of("metadata", "name")):
                found.runtimes.setdefault(tree.text_of("metadata", "name"), tree)
            elif tree.text_of("kind") == "TrainJob":
                found.jobs.setdefault(tree.text_of("spec", "runtimeRef", "name"), []).append(_job(tree, file))
    return found
