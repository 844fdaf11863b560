"""The containers that Kubernetes manifests describe, as workloads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plans import plan_of, workloads_of

from dllint.deploy.workload import FlawKind, ShmSource, Workload

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
{more}
  containers:
    - name: t
      image: pytorch/pytorch:2.4.0
      command: [python, train.py]
      volumeMounts: [{{name: s, mountPath: {path}}}]
  volumes:
    - name: s
      {volume}
"""


def pod(tmp_path: Path, volume: str, path: str = "/dev/shm", more: str = "  restartPolicy: Never") -> Workload:
    """The workload of a pod with one volume and one mount."""
    text = POD.format(volume=volume, path=path, more=more)
    return workloads_of(tmp_path, {"pod.yaml": text})["t"]


@pytest.mark.parametrize(
    ("volume", "source"),
    [
        ("emptyDir: {medium: Memory, sizeLimit: 8Gi}", ShmSource.MEMORY),
        ("emptyDir: {medium: Memory, sizeLimit: 0}", ShmSource.MEMORY),
        ("emptyDir: {}", ShmSource.DISK),
        ("emptyDir: {medium: ''}", ShmSource.DISK),
        ("emptyDir: {medium: HugePages-2Mi}", ShmSource.UNKNOWN),
        ("emptyDir: {medium: '${MEDIUM}'}", ShmSource.UNKNOWN),
        ("hostPath: {path: /dev/shm/}", ShmSource.HOST),
        ("hostPath: {path: /scratch}", ShmSource.DISK),
        ("persistentVolumeClaim: {claimName: c}", ShmSource.DISK),
        ("csi: {driver: example.com/ram}", ShmSource.UNKNOWN),
    ],
)
def test_volume_at_dev_shm(tmp_path: Path, volume: str, source: ShmSource) -> None:
    found = pod(tmp_path, volume, "/dev/shm/")

    assert found.shm.source is source
    assert not found.flaws


@pytest.mark.parametrize(
    ("volume", "instead"),
    [
        ("emptyDir: {medium: memory}", "medium: Memory"),
        ("emptyDir: {medium: Memory, sizeLimit: 8gb}", "sizeLimit: 8Gi"),
        ("emptyDir: {medium: Memory, sizeLimit: 8GiB}", "sizeLimit: 8Gi"),
        ("emptyDir: {medium: Memory, sizeLimit: 512m}", "sizeLimit: 512Mi"),
        ("emptyDir: {medium: Memory, sizeLimit: -1}", "sizeLimit: 8Gi"),
    ],
)
def test_refused(tmp_path: Path, volume: str, instead: str) -> None:
    (flaw,) = pod(tmp_path, volume).flaws

    assert flaw.kind is FlawKind.REFUSED
    assert flaw.at.row == 14
    assert flaw.instead == instead


def test_size_stands_where_it_is_written(tmp_path: Path) -> None:
    size = pod(tmp_path, "emptyDir: {medium: Memory, sizeLimit: 64Mi}").shm.size

    assert size is not None
    assert (size.value, size.at.row, size.at.column, size.at.end_column) == (64 << 20, 14, 45, 49)


@pytest.mark.parametrize("path", ["/dev/shm/store", "/shm", "/dev"])
def test_shm_volume_mounted_elsewhere(tmp_path: Path, path: str) -> None:
    text = POD.format(volume="emptyDir: {medium: Memory}", path=path, more="  dnsPolicy: Default")
    found = workloads_of(tmp_path, {"pod.yaml": text.replace("name: s", "name: dshm")})["t"]

    assert found.shm.source is ShmSource.DEFAULT
    assert [(flaw.kind, flaw.at) for flaw in found.flaws] == [(FlawKind.NOT_EFFECTIVE, found.at)]


def test_memory_for_something_else_is_no_flaw(tmp_path: Path) -> None:
    found = pod(tmp_path, "emptyDir: {medium: Memory}", "/cache")

    assert found.shm.source is ShmSource.DEFAULT
    assert not found.flaws


def test_host_ipc(tmp_path: Path) -> None:
    found = pod(tmp_path, "emptyDir: {}", "/data", "  hostIPC: true")

    assert found.shm.source is ShmSource.HOST
    assert found.host_ipc is not None
    assert found.host_ipc.row == 6


def test_annotation_for_crio(tmp_path: Path) -> None:
    text = POD.format(volume="emptyDir: {}", path="/data", more="  hostIPC: false")
    text = text.replace("  name: p\n", "  annotations: {io.kubernetes.cri-o.ShmSize: 8Gi}\n")

    assert workloads_of(tmp_path, {"pod.yaml": text})["t"].shm.source is ShmSource.PLATFORM


def test_limits_variables_and_words(tmp_path: Path) -> None:
    text = """\
apiVersion: example.com/v7
kind: Anything
spec:
  deep: [{podTemplate: {spec: {containers: [{
    name: t, image: "reg/x:${TAG}", command: [python, train.py], args: ["--workers=$(W)", "--lr=$(LR)"],
    env: [{name: W, value: "4"}, {name: LR, valueFrom: {secretKeyRef: {name: s, key: k}}}],
    resources: {limits: {cpu: 1500m, memory: 16Gi, nvidia.com/gpu: 1}}}]}}}]
"""
    found = workloads_of(tmp_path, {"any.yaml": text})["t"]

    assert found.command == ("python", "train.py", "--workers=4", "")
    assert found.environment == {"W": "4", "LR": None}
    assert found.image is not None
    assert found.image.value is None
    assert found.gpus
    assert found.memory_limit is not None
    assert found.memory_limit.value == 16 << 30
    assert found.cpu_limit is not None
    assert found.cpu_limit.value == 1.5


def test_limit_of_the_whole_pod_bounds_the_container(tmp_path: Path) -> None:
    found = pod(tmp_path, "emptyDir: {medium: Memory}", more="  resources: {limits: {memory: 4Gi}}")

    assert found.memory_limit is not None
    assert found.memory_limit.value == 4 << 30


RAY = """\
apiVersion: ray.io/v1
kind: RayJob
spec:
  entrypoint: python train.py
  rayClusterSpec:
    headGroupSpec:
      rayStartParams: {PARAMS}
      template: {spec: {containers: [{name: head, image: rayproject/ray}, {name: side, image: rayproject/ray}]}}
  submitterPodTemplate: {spec: {containers: [{name: submitter, image: rayproject/ray}]}}
"""


@pytest.mark.parametrize(
    ("parameters", "source"), [("", ShmSource.PLATFORM), ("plasma-directory: /tmp", ShmSource.DEFAULT)]
)
def test_kuberay_mounts_memory_in_the_first_container(tmp_path: Path, parameters: str, source: ShmSource) -> None:
    found = workloads_of(tmp_path, {"ray.yaml": RAY.replace("PARAMS", parameters)})

    assert {name: workload.shm.source for name, workload in found.items()} == {
        "head": source,
        "side": ShmSource.DEFAULT,
    }
    assert found["head"].command == ("python train.py",)


def test_mpi_workers_run_what_the_launcher_says(tmp_path: Path) -> None:
    text = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
spec:
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: l, image: x, command: [mpirun, python, train.py]}]}}}
    Worker: {template: {spec: {containers: [{name: w, image: x}]}}}
"""
    found = workloads_of(tmp_path, {"mpi.yaml": text})

    assert {name: workload.command for name, workload in found.items()} == {"w": ("mpirun", "python", "train.py")}


def test_manifests_inside_of_other_files(tmp_path: Path) -> None:
    manifest = POD.format(volume="emptyDir: {}", path="/data", more="  hostIPC: false")
    inside = "".join(f"    {line}\n" for line in manifest.splitlines())
    files = {
        "map.yaml": f"apiVersion: v1\nkind: ConfigMap\ndata:\n  pod.yaml: |\n{inside}",
        "run.sh": f"kubectl apply -f - <<EOF\n{manifest}EOF\n",
        "list.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": [{
            "apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "j", "image": "x"}]}
        }]}),
    }  # fmt: skip
    found = [(w.path.rpartition("/")[2], w.name, w.at.row, w.at.column) for w in plan_of(tmp_path, files).workloads]

    assert found == [("list.json", "j", 1, 108), ("map.yaml", "t", 12, 11), ("run.sh", "t", 9, 7)]


def test_pieces_of_containers_and_definitions_are_no_workloads(tmp_path: Path) -> None:
    files = {
        "patch.yaml": "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: [{name: t, env: []}]}}}",
        "crd.yaml": "apiVersion: a/v1\nkind: CustomResourceDefinition\nspec: {containers: [{image: x}]}",
        "other.yaml": "containers: [{image: x}]\n# apiVersion\n",
    }

    assert not plan_of(tmp_path, files).workloads


def test_what_only_prepares_is_no_workload(tmp_path: Path) -> None:
    first = (
        '  initContainers: [{name: i, image: x, command: [sh, -c, "wget data"]}, {name: k, image: x, args: [fit.py]}]'
    )

    text = POD.format(volume="emptyDir: {}", path="/data", more=first)
    assert set(workloads_of(tmp_path, {"pod.yaml": text})) == {"t", "k"}


def test_broken_manifest_is_unreadable(tmp_path: Path) -> None:
    good = POD.format(volume="emptyDir: {}", path="/data", more="  hostIPC: false")
    plan = plan_of(tmp_path, {"pod.yaml": good + "---\na: [containers\n"})

    assert [workload.name for workload in plan.workloads] == ["t"]
    assert [error.row for error in plan.unreadable()] == [17]
