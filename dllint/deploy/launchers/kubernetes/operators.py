"""What operators make of the objects they own: pods that stand in other places, and what they add to them.

KubeRay mounts memory at /dev/shm of the first container of each group, unless something is mounted there or Ray's
store was moved (`plasma-directory`): ray-operator/controllers/ray/common/pod.go. The other operators add nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from yaml.nodes import MappingNode

from dllint.deploy.launchers.kubernetes.containers import has_gpus
from dllint.deploy.launchers.kubernetes.pods import Chain, Container, Pod, pod_of, specs
from dllint.deploy.launchers.kubernetes.trainjob import RUNTIMES, runtime
from dllint.deploy.launchers.kubernetes.values import has_unseen_keys
from dllint.deploy.workload import Start
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_ARGO = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
_KATIB = "Experiment"
_SERVING = ("InferenceService", "RayService", "SeldonDeployment", "ServingRuntime", "ClusterServingRuntime")
_MAIN = "pytorch"
"""The container of a PyTorchJob's pod that the training operator looks for."""


def pods(tree: Tree, plan: Plan) -> Iterator[Pod]:
    """The pods that an object makes."""
    kind, group = tree.text_of("kind"), tree.text_of("apiVersion").partition("/")[0]
    if kind in _SERVING:
        return
    if _is_workflow(tree):
        yield from _argo(tree)
        return
    if group == "argoproj.io":
        # What a sensor creates are objects within it.
        yield from (pod for part in tree.walk() if _is_workflow(part) for pod in _argo(part))
    trial = tree.get("spec", "trialTemplate", "trialSpec") if kind == _KATIB else None
    if trial is not None and _is_workflow(trial):
        yield from _argo(trial)
    for spec, chain in specs(tree):
        pod = pod_of(spec, chain)
        # The trials of a Katib experiment are objects within it.
        maker = next((around for around in reversed(chain) if around.text_of("kind") in _SHAPES), tree)
        shaped = _SHAPES.get(maker.text_of("kind"), _plain)
        yield from runtime(tree, pod, plan) if kind in RUNTIMES else shaped(maker, pod, chain)


def _plain(tree: Tree, pod: Pod, chain: Chain) -> Iterable[Pod]:
    return (pod,)


# --- training operators ---


def _pytorch_job(tree: Tree, pod: Pod, chain: Chain) -> Iterable[Pod]:
    """With a GPU in one of its pods it trains; without, it runs what its program says: a test of the cluster."""
    main = [container for container in pod.containers if not container.is_init]
    for container in main:
        container.is_training = (container.name == _MAIN or len(main) == 1) and _uses_gpus(tree)
    return (pod,)


def _uses_gpus(job: Tree) -> bool:
    """Whether a replica of a PyTorchJob has GPUs: its replicas run one program."""
    replicas = job.get("spec", "pytorchReplicaSpecs")
    for _, replica in replicas.pairs() if replicas is not None else []:
        containers = replica.get("template", "spec", "containers")
        for container in containers.items() if containers is not None else []:
            if has_gpus(container.get("resources", "limits")):
                return True
    return False


def _mpi_job(tree: Tree, pod: Pod, chain: Chain) -> Iterable[Pod]:
    """The launcher starts `mpirun` and does no more, unless it is a worker, too; workers run what it says."""
    replicas = tree.get("spec", "mpiReplicaSpecs")
    workers = replicas.get("Worker") if replicas is not None else None
    if replicas is None or workers is None:
        return (pod,)
    # Both may be one text, by an alias.
    spec = workers.get("template", "spec")
    is_shared = spec is not None and pod.spec is not None and spec.node is pod.spec.node
    if is_shared or any(around.node is workers.node for around in chain):
        launched = _launched(replicas)
        # What mpirun starts over ssh or kubectl runs in the first container.
        for container in pod.containers[:1]:
            container.start = launched
        return (pod,)
    also = tree.get("spec", "runLauncherAsWorker") or tree.get("spec", "runLauncherAsNode")
    return (pod,) if also is not None and also.is_true else ()


def _launched(replicas: Tree) -> Start | None:
    containers = replicas.get("Launcher", "template", "spec", "containers")
    for launcher in containers.items() if containers is not None else ():
        words = [word.text or "" for key in ("command", "args") if (part := launcher.get(key)) for word in part.items()]
        if words:
            return Start(tuple(words))
    return None


# --- Volcano ---


def _volcano(tree: Tree, pod: Pod, chain: Chain) -> Iterable[Pod]:
    """A job's own volumes, each with the path of its mount, are mounted in all containers."""
    if tree.text_of("apiVersion").startswith("batch.volcano.sh/"):
        volumes = [volume for around in chain if "tasks" in around for volume in _items(around, "volumes")]
        for container in pod.containers:
            container.mounts += volumes
    return (pod,)


# --- Ray ---


def _ray(tree: Tree, pod: Pod, chain: Chain) -> Iterable[Pod]:
    group = next((around for around in reversed(chain) if "template" in around and _is_group(around, tree)), None)
    if group is None:
        # The pod that submits the job trains nothing.
        return ()
    main = pod.containers[0]
    parameters = group.get("rayStartParams")
    main.has_own_shm = parameters is None or "plasma-directory" not in parameters
    if has_unseen_keys(parameters) and main.has_own_shm is False:
        pod.is_uncertain = True
    entrypoint = tree.text_of("spec", "entrypoint")
    if entrypoint and "command" not in main.tree and "args" not in main.tree:
        main.start = Start((entrypoint,))
    return (pod,)


def _is_group(around: Tree, tree: Tree) -> bool:
    """Whether a mapping is the head or a worker group of a Ray cluster."""
    cluster = tree.get("spec", "rayClusterSpec") or tree.get("spec", "clusterSpec") or tree.get("spec")
    if cluster is None:
        return False
    head, workers = cluster.get("headGroupSpec"), cluster.get("workerGroupSpecs")
    groups = [*([head] if head is not None else []), *(workers.items() if workers is not None else ())]
    return any(group.node is around.node for group in groups)


_Shape = Callable[[Tree, Pod, Chain], Iterable[Pod]]
_SHAPES: dict[str, _Shape] = {
    "PyTorchJob": _pytorch_job,
    "MPIJob": _mpi_job,
    "Job": _volcano,
    "CronJob": _volcano,
    "RayJob": _ray,
    "RayCluster": _ray,
}


# --- Argo Workflows ---


def _is_workflow(tree: Tree) -> bool:
    return tree.text_of("kind") in _ARGO and tree.text_of("apiVersion").startswith("argoproj.io/")


def _argo(tree: Tree) -> Iterator[Pod]:
    """One pod for each template: its volumes are the workflow's and its own."""
    spec = tree.get("spec", "workflowSpec") or tree.get("spec")
    if spec is None:
        return
    shared = [*_items(spec, "volumes"), *_items(spec, "volumeClaimTemplates")]
    defaults = spec.get("templateDefaults")
    shared += _items(defaults, "volumes") if defaults is not None else []
    for template in _templates(spec):
        containers = list(_argo_containers(template, defaults))
        if containers:
            volumes = [*_items(template, "volumes"), *shared]
            sources = [source for source in (spec, template, defaults) if source is not None]
            notes = [template.get("metadata", "annotations"), spec.get("podMetadata", "annotations")]
            yield Pod(
                containers,
                volumes,
                spec if "hostIPC" in spec else None,
                [note for note in notes if note is not None],
                is_uncertain=any(_may_mount(source.text_of("podSpecPatch")) for source in sources),
            )


def _templates(spec: Tree) -> Iterator[Tree]:
    """The templates of a workflow, those too that stand in the steps and tasks of others."""
    for template in _items(spec, "templates"):
        yield template
        steps = [step for group in _items(template, "steps") for step in group.items()]
        inline = (step.get("inline") for step in (*steps, *_items(template, "dag", "tasks")))
        yield from (found for found in inline if found is not None)


def _may_mount(patch: str) -> bool:
    """Whether a patch of a pod that stands there as text may bring shared memory along."""
    return "shm" in patch or patch.lstrip().startswith("{{")


def _argo_containers(template: Tree, defaults: Tree | None) -> Iterator[Container]:
    name = template.text_of("name")
    for key in ("container", "script"):
        own = template.get(key)
        if own is not None and own.is_mapping:
            default = defaults.get(key) if defaults is not None else None
            container = _over(own, default)
            source = container.get("source")
            start = Start((*_texts(container, "command"), source.text or "")) if source is not None else None
            mounts = _items(default, "volumeMounts") if default is not None else []
            yield Container(container, container.key_at, name, start=start, mounts=mounts)
    group = template.get("containerSet")
    if group is not None:
        mounts = _items(group, "volumeMounts")
        for item in _items(group, "containers"):
            yield Container(item, item.at, item.text_of("name"), mounts=mounts)
    for key, is_init in (("initContainers", True), ("sidecars", False)):
        for item in _items(template, key):
            yield Container(item, item.at, item.text_of("name"), is_init)


def _over(own: Tree, default: Tree | None) -> Tree:
    """A mapping on top of its defaults: keys that it has itself count, mappings are merged."""
    if default is None or not default.is_mapping or not own.is_mapping:
        return own
    entries = {**dict(default.pairs()), **dict(own.pairs())}
    pairs = [(found.key, _over(found, default.get(key)).node) for key, found in entries.items()]
    return Tree(MappingNode(own.tag, pairs, own.node.start_mark, own.node.end_mark), own.key)


def _items(tree: Tree, *keys: str) -> list[Tree]:
    found = tree.get(*keys)
    return found.items() if found is not None else []


def _texts(tree: Tree, key: str) -> list[str]:
    found = tree.get(key)
    return found.texts() if found is not None else []
