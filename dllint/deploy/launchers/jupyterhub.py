"""JupyterHub on Kubernetes: the pods that the values of its Helm chart make for users, and the profiles they choose."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers.kubernetes.containers import has_gpus
from dllint.deploy.launchers.kubernetes.pods import Container, Pod
from dllint.deploy.launchers.kubernetes.shm import shared_memory
from dllint.deploy.launchers.kubernetes.values import known_text, number, setting
from dllint.deploy.sizes import docker_bytes
from dllint.deploy.workload import Launcher, Setting, Workload
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

JUPYTERHUB = Launcher(
    "JupyterHub",
    "give `singleuser.storage` `extraVolumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: {size}}}]` and "
    "`extraVolumeMounts: [{name: dshm, mountPath: /dev/shm}]`",
    "{gib}Gi",
)


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The users' containers that a file of values describes, and those of profiles with images of their own."""
    for document in file.documents.trees:
        if "apiVersion" in document:
            continue
        # In the values of a chart that has JupyterHub inside, they stand below its name.
        for values in (document, *(value for _, value in document.pairs())):
            user = values.get("singleuser")
            if user is not None and user.is_mapping:
                yield from _Hub(file, values, user).workloads()


class _Hub:
    def __init__(self, file: DeployFile, values: Tree, user: Tree) -> None:
        self.file = file
        self.user = user
        self.spawner = values.get("hub", "config", "KubeSpawner")
        scripts = values.get("hub", "extraConfig")
        self.is_scripted = scripts is not None and any("shm" in (part.text or "") for part in scripts.walk())

    def workloads(self) -> Iterator[Workload]:
        """The container of `singleuser`, and one for each profile that brings an image."""
        image = self.user.get("image")
        if image is not None and image.is_mapping and "name" in image:
            yield self._workload(Container(self.user, self.user.key_at, "singleuser"), _image(image), ())
        profiles = self.user.get("profileList")
        for part in profiles.walk() if profiles is not None else ():
            override = part.get("kubespawner_override")
            if override is not None and (own := override.get("image")) is not None:
                name = part.text_of("display_name") or "singleuser"
                yield self._workload(Container(self.user, override.key_at, name), _text(own), (override,))

    def _workload(self, container: Container, image: Setting[str] | None, overrides: tuple[Tree, ...]) -> Workload:
        spawners = [*overrides, *([self.spawner] if self.spawner is not None else [])]
        storage = self.user.get("storage") or self.user
        container.mounts = _listed(storage, "extraVolumeMounts")
        volumes = _listed(storage, "extraVolumes")
        for spawner in spawners:
            container.mounts += _listed(spawner, "volume_mounts")
            volumes += _listed(spawner, "volumes")
        notes = self.user.get("extraAnnotations")
        pod = Pod([container], volumes, self.user.get("extraPodConfig"), is_uncertain=self.is_scripted)
        pod.annotations = [Tree(notes.node)] if notes is not None else []
        shm, flaws = shared_memory(container, pod)
        limits = [self.user.get("extraResource", "limits"), *(part.get("extra_resource_limits") for part in overrides)]
        memory = next((found for part in overrides if (found := part.get("mem_limit"))), None)
        return Workload(
            JUPYTERHUB,
            self.file.path,
            container.at,
            name=container.name,
            folder=os.path.dirname(self.file.absolute),
            image=image,
            shm=shm,
            flaws=flaws,
            memory_limit=setting(memory or self.user.get("memory", "limit"), docker_bytes),
            cpu_limit=setting(self.user.get("cpu", "limit"), number),
            gpus=any(has_gpus(limit) for limit in limits),
        )


def _image(image: Tree) -> Setting[str] | None:
    name, tag = image.get("name"), image.get("tag")
    if name is None or known_text(name) is None:
        return None
    known = known_text(tag) if tag is not None else None
    return Setting(f"{name.text}:{known}" if known else name.text, name.at, name.text or "")


def _text(tree: Tree) -> Setting[str] | None:
    return setting(tree, lambda text: text or None)


def _listed(tree: Tree, key: str) -> list[Tree]:
    """The items of a list; newer charts take a mapping from names of one's own to items, too."""
    found = tree.get(key)
    if found is None:
        return []
    return found.items() or [value for _, value in found.pairs() if value.is_mapping]
