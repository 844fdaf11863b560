"""Kubernetes: pods in manifests of any kind, as they are or as kustomize and Helm make them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers.kubernetes.containers import workload
from dllint.deploy.launchers.kubernetes.helm.charts import chart_of, templates
from dllint.deploy.launchers.kubernetes.kustomize import Builds, Rendered, builds
from dllint.deploy.launchers.kubernetes.objects import here_documents, objects
from dllint.deploy.launchers.kubernetes.operators import pods
from dllint.deploy.launchers.kubernetes.trainjob import train_job
from dllint.deploy.workload import ShmSource, Workload
from dllint.files import Kind
from dllint.finding import Location, Related
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers of the pods that a file describes. Raises CannotParseError for a broken manifest."""
    made = plan.shared(builds)
    if file.absolute in made.patches:
        return
    found = [item for tree, related in _rendered(file, plan, made) for item in _workloads(tree, file, plan, related)]
    yield from most_concerning(found)
    if file.kind is Kind.YAML and file.documents.error is not None and _is_manifest(file):
        raise file.documents.error


def _is_manifest(file: DeployFile) -> bool:
    """Whether a file is meant as YAML for Kubernetes, by its lines, and no template that becomes one."""
    error = file.documents.error
    if any(file.has(opening) for opening in _TEMPLATE) or (error is not None and error.reason == _TAKEN):
        return False
    return any("apiVersion" in tree for tree in file.documents.trees) or all(words.search(file.data) for words in _KEYS)


def _rendered(file: DeployFile, plan: Plan, made: Builds) -> Iterator[Rendered]:
    """The objects of a file: as each overlay makes them where there are overlays, else as they are."""
    if file.absolute in made.objects:
        yield from made.objects[file.absolute]
        return
    for tree in _objects(file, plan):
        yield Rendered(tree, ())


def _objects(file: DeployFile, plan: Plan) -> Iterator[Tree]:
    if file.kind is not Kind.SHELL:
        for tree in _documents(file, plan):
            yield from objects(tree, file)
    if file.has(b"<<", b"apiVersion:"):
        yield from here_documents(file)


def _documents(file: DeployFile, plan: Plan) -> Iterable[Tree]:
    """The documents of a file; those of a template as its chart's values render them."""
    if file.defines_types_alone or not file.has(b"{{"):
        return file.documents.trees
    chart = chart_of(file, plan)
    if chart is None and file.documents.error is None:
        return file.documents.trees
    return templates(file, plan, chart)


def _workloads(tree: Tree, file: DeployFile, plan: Plan, related: tuple[Related, ...]) -> Iterator[Workload]:
    if tree.text_of("kind") == "TrainJob":
        yield from train_job(tree, file, plan)
        return
    for pod in pods(tree, plan):
        for container in pod.containers:
            found = workload(container, pod, file)
            if found is not None:
                found.related = related
                yield found


def most_concerning(workloads: Iterable[Workload]) -> Iterator[Workload]:
    """One workload for each place: where several are made out of one text, the one with the least shared memory."""
    groups: dict[Location, list[Workload]] = {}
    for found in workloads:
        groups.setdefault(found.at, []).append(found)
    for group in groups.values():
        yield min(group, key=_shared)


def _shared(workload: Workload) -> tuple[int, int]:
    if workload.flaws:
        return 0, 0
    size = workload.shm.size.value if workload.shm.size is not None else None
    return _ORDER.get(workload.shm.source, 4), size if size is not None else 1 << 62


_TEMPLATE = (b"{{", b"{%", b"<%")
"""What the languages of templates open an expression or a statement with."""
_TAKEN = "second occurrence"
"""What PyYAML says of an anchor that is set anew; YAML 1.2, and Kubernetes, take it."""
_KEYS = (pattern(rb"(?m)^(?:\xef\xbb\xbf)?apiVersion[ \t]*:"), pattern(rb"(?m)^(?:\xef\xbb\xbf)?kind[ \t]*:"))
_ORDER = {ShmSource.DEFAULT: 1, ShmSource.DISK: 2, ShmSource.SIZE: 3, ShmSource.MEMORY: 3}
