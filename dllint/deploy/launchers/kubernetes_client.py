"""Pods that Python builds for Kubernetes: `client.V1PodSpec(containers=[...])`, and dicts with `containers`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import scope_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import Scope, last_name
from dllint.code.language.values import Frame
from dllint.deploy.launchers.code_values import library_name
from dllint.deploy.launchers.kubernetes.client_objects import tree_of
from dllint.deploy.launchers.kubernetes.containers import workload
from dllint.deploy.launchers.kubernetes.pods import pod_of
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Workload
from dllint.files import Kind, SourceFile

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_POD = "V1PodSpec"
_CONTAINERS = "containers"
_WORDS = (b"V1PodSpec", b'"containers"', b"'containers'")
_LATER = frozenset({"volumes", "volume_mounts", _CONTAINERS, "init_containers", "spec"})
"""Attributes of pods that may be set, or added to, after they are built."""


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The containers of the pods that a module builds."""
    if module.is_test or not any(word in module.data for word in _WORDS):
        return
    scopes: list[Scope] = [module.scope]
    for scope in scopes:
        scopes.extend(scope.index().children.values())
    nodes = [node for node in ast.walk(module.scope.node) if _is_pod(node)]
    if not nodes:
        return
    file = DeployFile(SourceFile(module.path, module.absolute, Kind.PYTHON, module.is_target), module.data)
    is_changed = any(_is_changed(node) for node in ast.walk(module.scope.node))
    for node in nodes:
        yield from _workloads(node, file, plan, is_changed=is_changed)


def _is_pod(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) == _POD
    keys = node.keys if isinstance(node, ast.Dict) else []
    return any(isinstance(key, ast.Constant) and key.value == _CONTAINERS for key in keys)


def _is_changed(node: ast.AST) -> bool:
    """Whether a pod's parts are set after it is built: `spec.volumes = ...`, `spec.volumes.append(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
        return isinstance(node, ast.Attribute) and node.attr in _LATER
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in _LATER


def _workloads(node: ast.AST, file: DeployFile, plan: Plan, *, is_changed: bool) -> Iterator[Workload]:
    assert isinstance(node, (ast.Call, ast.Dict))
    try:
        frame = Frame(scope_of(node))
    except LookupError:
        # An annotation, which is no code.
        return
    if isinstance(node, ast.Call) and not library_name(node.func, frame.scope, plan).endswith(f"client.{_POD}"):
        return
    pod = pod_of(tree_of(node, frame, plan), ())
    pod.is_uncertain |= is_changed
    for container in pod.containers:
        found = workload(container, pod, file)
        if found is not None:
            yield found
