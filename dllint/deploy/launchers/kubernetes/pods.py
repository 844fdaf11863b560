"""Pods in the documents of any kind: whatever has a list of containers and the volumes that they can mount.

Kinds are not listed: a custom resource that embeds a pod template is found like a Job. What an operator does to the
pods it makes is said in `operators`.
"""

from __future__ import annotations

from collections.abc import Iterator

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.deploy.launchers.kubernetes.values import has_unseen_keys
from dllint.deploy.workload import Start
from dllint.finding import Location
from dllint.records import dataclass, field
from dllint.syntax.tree import Tree

_DEEPEST = 60
_NO_PODS = frozenset(("CustomResourceDefinition", "Kustomization", "Component"))
_INIT = "initContainers"

Chain = tuple[Tree, ...]
"""The mappings and lists around a pod's specification, from the document on."""


@dataclass(slots=True)
class Container:
    """One container of a pod."""

    tree: Tree
    at: Location
    name: str = ""
    is_init: bool = False
    is_training: bool = False
    """Whether the kind of the object says that it trains with torch."""
    start: Start | None = None
    """What runs in it where another part of the object says so: the entrypoint of a RayJob, the launcher's command."""
    mounts: list[Tree] = field(default_factory=list)
    """Mounts that stand outside of it, such as those of an Argo container set."""
    has_own_shm: bool = False
    """Whether the operator mounts memory at /dev/shm unless something is mounted there."""


@dataclass(slots=True)
class Pod:
    """The containers that share volumes."""

    containers: list[Container]
    volumes: list[Tree]
    spec: Tree | None = None
    """Where `hostIPC` and resources of the whole pod stand."""
    annotations: list[Tree] = field(default_factory=list)
    is_uncertain: bool = False
    """Whether volumes or mounts may come out of something unseen: a patch as text, a template's helper."""


def is_object(tree: Tree) -> bool:
    """Whether a document is a Kubernetes object."""
    return bool(tree.is_mapping and tree.text_of("apiVersion") and tree.text_of("kind"))


def specs(tree: Tree) -> Iterator[tuple[Tree, Chain]]:
    """The pod specifications in a document, each with what is around it."""
    if tree.text_of("kind") in _NO_PODS:
        return
    for nodes in _with_containers(tree.node):
        yield Tree(nodes[-1]), tuple(Tree(node) for node in nodes[:-1])


def pod_of(spec: Tree, chain: Chain) -> Pod:
    """The pod that a specification makes, as far as Kubernetes itself is concerned."""
    containers = [_container(item, is_init=False) for item in _items(spec, "containers")]
    containers += [_container(item, is_init=True) for item in _items(spec, _INIT)]
    return Pod(
        containers,
        volumes=_items(spec, "volumes") + _claims(chain),
        spec=spec,
        annotations=[found for around in chain[-3:] if (found := around.get("metadata", "annotations"))],
        is_uncertain=has_unseen_keys(spec),
    )


def _container(item: Tree, *, is_init: bool) -> Container:
    return Container(item, item.at, item.text_of("name"), is_init)


def _items(spec: Tree, key: str) -> list[Tree]:
    found = spec.get(key)
    return found.items() if found is not None else []


def _claims(chain: Chain) -> list[Tree]:
    """Claims that a StatefulSet makes for each of its pods: volumes by the names in their metadata."""
    return [claim for around in chain for claim in _items(around, "volumeClaimTemplates")]


def _with_containers(root: Node) -> Iterator[tuple[Node, ...]]:
    """The mappings with a list of containers, each behind the nodes that lead to it.

    This walks every node of every manifest, so that it looks at bare nodes.
    """
    seen: set[int] = set()
    pending: list[tuple[Node, ...]] = [(root,)]
    while pending:
        chain = pending.pop()
        node = chain[-1]
        if id(node) in seen or len(chain) > _DEEPEST:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            below = [item for item in node.value if not isinstance(item, ScalarNode)]
        elif isinstance(node, MappingNode):
            below = [value for _, value in node.value if not isinstance(value, ScalarNode)]
            if _has_containers(node):
                yield chain
        else:
            continue
        pending += [(*chain, child) for child in reversed(below)]


def _has_containers(node: MappingNode) -> bool:
    keys = {key.value for key, _ in node.value if isinstance(key, ScalarNode)}
    if "containers" not in keys and "<<" not in keys:
        return False
    items = Tree(node).get("containers")
    return items is not None and any(item.is_mapping for item in items.items())
