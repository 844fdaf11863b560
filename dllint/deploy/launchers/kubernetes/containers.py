"""A container of a pod as a workload: its image, command, limits and shared memory."""

from __future__ import annotations

import os
import re
from typing import Any

from dllint.deploy.docker_options import mounts_filesystems
from dllint.deploy.launchers.kubernetes.pods import Container, Pod
from dllint.deploy.launchers.kubernetes.shm import shared_memory
from dllint.deploy.launchers.kubernetes.values import (
    has_unseen_keys,
    is_conditional,
    is_known,
    known_text,
    number,
    setting,
    whole,
)
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Launcher, Setting, Start, Workload
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

KUBERNETES = Launcher(
    "Kubernetes",
    "add `volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: {size}}}]` to the pod and "
    "`volumeMounts: [{name: dshm, mountPath: /dev/shm}]` to the container",
    "{gib}Gi",
    takes_all=True,
)

_REFERENCE = pattern(r"\$?\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_OPTION = pattern(r"--?\w[\w.-]*=")
_TRAINS = pattern(r"torchrun|torch\.distributed|accelerate|deepspeed|train|fine.?tune|\bfit\b", re.IGNORECASE)
_TEMPLATE = pattern(r"\{\{(?:(?!\{\{).)*?\}\}", re.DOTALL)
_GPU = pattern(r"[^/]+/(?:gpu|mig-|shared-gpu|vgpu)")


def workload(container: Container, pod: Pod, file: DeployFile) -> Workload | None:
    """A container as a workload; None for a piece of a container (a patch), and for one that only prepares others."""
    tree = container.tree
    if not tree.is_mapping or "image" not in tree:
        return None
    environment = environment_of(tree)
    start = container.start if container.start is not None else start_of(tree, environment)
    if container.is_init and not _TRAINS.search(" ".join(start.words)):
        return None
    shm, flaws = shared_memory(container, pod)
    host = pod.spec.get("hostIPC") if pod.spec is not None else None
    limits = tree.get("resources", "limits")
    return Workload(
        KUBERNETES,
        file.path,
        container.at,
        name=container.name,
        folder=os.path.dirname(file.absolute),
        image=setting(tree.get("image"), lambda text: text or None),
        start=start,
        workdir=known_text(found) or "" if (found := tree.get("workingDir")) is not None else "",
        shm=shm,
        flaws=flaws,
        memory_limit=_memory_limit(tree, pod),
        cpu_limit=_limit_of_cpu(tree, pod),
        host_ipc=host.key_at if host is not None and host.is_true else None,
        privileged=_privileged(tree),
        gpus=has_gpus(limits),
        environment=environment,
        is_environment_whole="envFrom" not in tree,
        is_training=container.is_training,
    )


def environment_of(tree: Tree) -> dict[str, str | None]:
    """The variables of a container; those that come from elsewhere are not known."""
    found: dict[str, str | None] = {}
    variables = tree.get("env")
    for variable in variables.items() if variables is not None else ():
        value = variable.get("value")
        name = variable.text_of("name")
        if name:
            found[name] = known_text(value) if value is not None else None if "valueFrom" in variable else ""
    return found


def start_of(tree: Tree, environment: dict[str, str | None]) -> Start:
    """What `command` and `args` of a container say."""
    has_more = "envFrom" in tree
    command, arguments = (
        tuple(_word(word, environment, has_more=has_more) for word in part.items()) if part is not None else ()
        for part in (tree.get("command"), tree.get("args"))
    )
    return Start(command or None, arguments or None)


def _word(tree: Tree, environment: dict[str, str | None], *, has_more: bool) -> str:
    """A word with the container's own variables put in; empty where it cannot be known, behind an option's name."""
    text = _TEMPLATE.sub("${UNSEEN}", tree.text or "")
    if any(mark.isspace() for mark in text):
        # A script: what it does with a variable is the shell's business.
        return text

    def value(found: re.Match[str]) -> str:
        if found[0].startswith("$$") or (found[1] not in environment and not has_more):
            return found[0]
        known = environment.get(found[1])
        return known if known is not None else "{{"

    text = _REFERENCE.sub(value, text)
    if is_known(text):
        return text
    # The name of an option tells that its default does not count.
    option = _OPTION.match(text)
    return option[0] if option is not None else ""


def has_gpus(limits: Tree | None) -> bool:
    """Whether there is a GPU among a container's limits."""
    return limits is not None and any(_GPU.match(name) for name, _ in limits.pairs())


def _privileged(tree: Tree) -> bool | None:
    context = tree.get("securityContext")
    if context is None:
        return None if has_unseen_keys(tree) else False
    flag, added = context.get("privileged"), context.get("capabilities", "add")
    names = added.texts() if added is not None else []
    unseen = context.text or has_unseen_keys(context) or is_conditional(context) or (added is not None and added.text)
    if unseen or not all(map(is_known, names)) or (flag is not None and not flag.is_true and not flag.is_false):
        return None
    return (flag is not None and flag.is_true) or mounts_filesystems(names)


def _memory_limit(tree: Tree, pod: Pod) -> Setting[int] | None:
    """The least of what bounds the container's memory: its own limit and that of its whole pod."""
    own = _limit(tree, "memory")
    whole_pod = _limit(pod.spec, "memory") if pod.spec is not None else None
    found = [setting(limit, whole) for limit in (own, whole_pod) if limit is not None]
    known = [limit for limit in found if limit is not None and limit.value is not None]
    if known:
        return min(known, key=lambda limit: limit.value or 0)
    if found:
        return found[0]
    return _unseen_limit(tree)


def _limit_of_cpu(tree: Tree, pod: Pod) -> Setting[float] | None:
    own = setting(_limit(tree, "cpu"), number)
    return own or (setting(_limit(pod.spec, "cpu"), number) if pod.spec is not None else None) or _unseen_limit(tree)


def _limit(tree: Tree, name: str) -> Tree | None:
    found = tree.get("resources", "limits", name)
    return None if found is None or found.is_null or _is_unseen(tree) else found


def _unseen_limit(tree: Tree) -> Setting[Any] | None:
    """Limits that a template puts in where nobody can see them."""
    resources = tree.get("resources")
    return Setting(None, resources.key_at if resources is not None else tree.at) if _is_unseen(tree) else None


def _is_unseen(tree: Tree) -> bool:
    """Whether the limits of a container or pod come out of something unknown."""
    resources, limits = tree.get("resources"), tree.get("resources", "limits")
    if resources is None:
        return has_unseen_keys(tree)
    parts = [part for part in (resources, limits) if part is not None]
    return any(part.text or is_conditional(part) or has_unseen_keys(part) for part in parts)
