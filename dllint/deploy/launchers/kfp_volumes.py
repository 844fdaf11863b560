"""What tasks of Kubeflow Pipelines mount, as the volumes and mounts of a pod."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from yaml.nodes import Node, SequenceNode

from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Collection, Derived, Frame, Product
from dllint.deploy.launchers.kfp_tasks import Task
from dllint.deploy.launchers.kubernetes import shm
from dllint.deploy.launchers.kubernetes.client_objects import tree_of
from dllint.deploy.launchers.kubernetes.pods import Container, Pod
from dllint.deploy.launchers.kubernetes.values import UNSEEN
from dllint.deploy.made_nodes import mapping, marks, string
from dllint.deploy.workload import Flaw, SharedMemory, ShmSource
from dllint.finding import Location
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_OPEN = ("apply", "add_pod_spec_patch", "add_sidecar", "add_init_container")
"""Methods of a task that may mount something in a way that is not followed."""
_ORDERING = ("after", "set_caching_options", "Collected", "OneOf", "print", "append")
"""Calls that take a task and leave its pod alone."""
_LIBRARIES = ("kfp.kubernetes.", "kfp_kubernetes.")
_DISKS = {
    # Functions that mount a disk, and where they take the path of the mount.
    "mount_pvc": ("mount_path", 2),
    "add_ephemeral_volume": ("mount_path", 2),
}
_EMPTY_DIR = ("task", "volume_name", "mount_path", "medium", "size_limit")


def shared_memory(task: Task) -> tuple[SharedMemory, list[Flaw]]:
    """What a task finds at /dev/shm, and what is wrong with that."""
    found = _Mounts(task)
    at = task.scope.module.location(task.call)
    tree = Tree(mapping({"volumeMounts": (at, SequenceNode("", found.mounts, *marks(at)))}, at))
    memory, flaws = shm.shared_memory(Container(tree, at), Pod([Container(tree, at)], found.volumes))
    if memory.source is ShmSource.DEFAULT and found.is_open:
        return SharedMemory(ShmSource.UNKNOWN), []
    return memory, flaws


class _Mounts:
    """The volumes and mounts of a task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._plan: Plan = task.plan
        self.mounts: list[Node] = []
        self.volumes: list[Tree] = []
        self.is_open = bool(task.scope.module.lines_with("add_op_transformer"))
        """Whether it may mount something that nobody sees."""
        for call, name in task.given_to():
            self._of_function(call, name)
        pvolumes = task.arguments(task.call).named.get("pvolumes")
        if pvolumes is not None:
            self._of_pvolumes(pvolumes)
        for call in task.calls:
            self._of_method(last_name(call.func), call)
        if task.made is not None:
            before = _Mounts(task.made)
            self.mounts, self.volumes = before.mounts + self.mounts, before.volumes + self.volumes
            self.is_open |= before.is_open

    def _of_function(self, call: ast.Call, name: str) -> None:
        """`kubernetes.empty_dir_mount(task, ...)` and its kin; a helper of the project may do anything."""
        last = last_name(call.func)
        if not name.startswith(_LIBRARIES):
            self.is_open |= last not in _ORDERING
            return
        given = self._task.arguments(call)
        if last == "empty_dir_mount":
            self._of_empty_dir(call, given)
        elif last in _DISKS:
            path, position = _DISKS[last]
            self._disk(_argument(given, path, position), call)

    def _of_empty_dir(self, call: ast.Call, given: Arguments) -> None:
        at = self._at(call)
        parts = {name: _argument(given, name, position) for position, name in enumerate(_EMPTY_DIR)}
        memory = {}
        for name, key in (("medium", "medium"), ("size_limit", "sizeLimit")):
            if (argument := parts[name]) is not None:
                memory[key] = (self._at(argument.anchor, argument.frame), self._node(argument))
        if given.open:
            memory[UNSEEN] = (at, string("", at))
        name_of_volume, path = parts["volume_name"], parts["mount_path"]
        name = (Tree(self._node(name_of_volume)).text or "") if name_of_volume is not None else ""
        volume = mapping({"emptyDir": (at, mapping(memory, at))}, at)
        if path is None or given.open:
            self.is_open = True
        else:
            self._mount(path, volume, name)

    def _of_method(self, name: str, call: ast.Call) -> None:
        given = self._task.arguments(call)
        first = next(iter([*given.positional, *given.named.values()]), None)
        if name == "add_pvolumes":
            self._of_pvolumes(first)
        elif name == "add_volume" and first is not None:
            self.volumes.append(tree_of(first.node, first.frame, self._plan))
        elif name == "add_volume_mount":
            self.mounts.append(self._node(first) if first is not None else string(UNSEEN, self._at(call)))
        elif name == "apply" and first is not None and self._applies_disk(first):
            return
        elif name in _OPEN:
            self.is_open = True

    def _applies_disk(self, modifier: Argument) -> bool:
        """`onprem.mount_pvc(...)`, which v1 of the library has."""
        for value in modifier.values(self._plan.program.evaluator):
            if isinstance(value, Product) and value.name.endswith("mount_pvc"):
                given = self._task.arguments_in(value.node, value.frame)
                self._disk(_argument(given, "volume_mount_path", 2), value.node)
                return True
        return False

    def _of_pvolumes(self, argument: Argument | None) -> None:
        values = argument.values(self._plan.program.evaluator) if argument is not None else ()
        only = values[0] if len(values) == 1 else None
        if not isinstance(only, Collection) or only.kind != "dict" or only.each is not None:
            self.is_open = True
            return
        for key, item in zip(only.keys, only.items, strict=False):
            if not isinstance(key, ast.expr):
                self.is_open = True
                continue
            volume = self._volume(item, only.frame)
            path = Argument("", key, only.frame, key)
            self._mount(path, volume.node, volume.text_of("name"))

    def _volume(self, node: ast.expr, frame: Frame) -> Tree:
        """A volume of v1: a claim, or what holds a volume of Kubernetes."""
        at = self._at(node, frame)
        for value in self._plan.program.evaluator.values(node, frame):
            if isinstance(value, Derived) and isinstance(value.base, Product) and value.base.name.endswith("VolumeOp"):
                return _claim(at)
            if isinstance(value, Product) and value.name.endswith("PipelineVolume"):
                given = self._task.arguments_in(value.node, value.frame)
                claim, inner = _argument(given, "pvc", 0), given.named.get("volume")
                if inner is not None:
                    return tree_of(inner.node, inner.frame, self._plan)
                if claim is not None:
                    return _claim(self._at(claim.anchor, claim.frame))
        return tree_of(node, frame, self._plan)

    def _disk(self, path: Argument | None, call: ast.Call) -> None:
        if path is None:
            self.is_open = True
        else:
            self._mount(path, _claim(self._at(call, path.frame)).node, "")

    def _mount(self, path: Argument, volume: Node, name: str) -> None:
        """Mount a volume at a path; the volume gets a name of its own where it has none."""
        at = self._at(path.node, path.frame)
        name = name or f"volume-{len(self.volumes)}"
        kept = Tree(volume)
        pairs = {key: (value.key_at, value.node) for key, value in kept.pairs() if key != "name"}
        self.volumes.append(Tree(mapping({**pairs, "name": (at, string(name, at))}, at)))
        self.mounts.append(mapping({"name": (at, string(name, at)), "mountPath": (at, self._node(path))}, at))

    def _node(self, argument: Argument) -> Node:
        return tree_of(argument.node, argument.frame, self._plan).node

    def _at(self, node: ast.AST, frame: Frame | None = None) -> Location:
        scope = frame.scope if frame is not None else self._task.scope
        return scope.module.location(node)


def _argument(given: Arguments, name: str, position: int) -> Argument | None:
    if name in given.named:
        return given.named[name]
    return given.positional[position] if position < len(given.positional) else None


def _claim(at: Location) -> Tree:
    return Tree(mapping({"persistentVolumeClaim": (at, mapping({}, at))}, at))
