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
        ("emptyDir: {medium: Memory, sizeLimit: -1}", "sizeLimit: {size}"),
        ("emptyDir: {medium: Memory, sizeLimit: 64m}", "sizeLimit: {size}"),
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

    assert found.start.words == ("python", "train.py", "--workers=4", "--lr=")
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
    assert found["head"].start.words == ("python train.py",)


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

    assert {name: workload.start.words for name, workload in found.items()} == {"w": ("mpirun", "python", "train.py")}


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


BROKEN = {
    "an indent too small": ("- name: a\n   image: torch\n", 6),
    "a tab": ("\t- name: a\n", 5),
    "a bracket": ("[\n  - name: a\n", 6),
    "a NUL byte": ("- name: a\0\n", 1),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_manifest_that_is_broken_from_the_start_is_unreadable(tmp_path: Path, fault: str) -> None:
    rest, row = BROKEN[fault]
    plan = plan_of(tmp_path, {"pod.yaml": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  " + rest})

    assert [error.row for error in plan.unreadable()] == [row]


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Pod\nspec:\n{% if gpu %}\n  containers: []\n",
        "apiVersion: v1\nkind: Pod\nspec:\n  a: &x 1\n  b: &x 2\n  containers: []\n",
        "of: [\n  apiVersion: v1\n  kind: Pod\n  containers: [\n",
    ],
)
def test_what_is_no_broken_manifest_is_silent(tmp_path: Path, text: str) -> None:
    assert not list(plan_of(tmp_path, {"pod.yaml": text}).unreadable())


ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec:
  MORE
  templates:
    - name: fit
      metadata: {labels: {app: fit}}
      container: {image: x, command: [python, train.py]}
    - name: group
      containerSet:
        volumeMounts: [{name: s, mountPath: /dev/shm}]
        containers: [{name: a, image: x}]
      volumes: [{name: s, emptyDir: {medium: Memory}}]
"""


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ("entrypoint: fit", ShmSource.DEFAULT),
        ("hostIPC: true", ShmSource.HOST),
        ("templateDefaults: {timeout: 30m}", ShmSource.DEFAULT),
        ("templateDefaults: {container: {volumeMounts: [{name: s, mountPath: /dev/shm}]}}", ShmSource.UNKNOWN),
        ('podSpecPatch: \'{"containers": [{"name": "main"}]}\'', ShmSource.DEFAULT),
        ('podSpecPatch: \'{"volumes": [{"name": "dshm"}]}\'', ShmSource.UNKNOWN),
        ("podSpecPatch: '{{workflow.parameters.patch}}'", ShmSource.UNKNOWN),
    ],
)
def test_argo_templates(tmp_path: Path, more: str, source: ShmSource) -> None:
    found = workloads_of(tmp_path, {"w.yaml": ARGO.replace("MORE", more)})

    assert found["fit"].shm.source is source
    assert found["fit"].at.row == 8
    assert found["a"].shm.source is ShmSource.MEMORY


def test_memory_below_dev_shm_has_no_effect(tmp_path: Path) -> None:
    (flaw,) = pod(tmp_path, "emptyDir: {medium: Memory}", "/dev/shm/store").flaws

    assert flaw.kind is FlawKind.NOT_EFFECTIVE


@pytest.mark.parametrize(("limits", "is_training"), [("{nvidia.com/gpu: 1}", True), ("{cpu: 1}", False)])
def test_pytorch_jobs_with_gpus_train(tmp_path: Path, limits: str, is_training: bool) -> None:
    text = f"""\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
spec: {{pytorchReplicaSpecs: {{Master: {{template: {{spec: {{containers: [
  {{name: pytorch, image: x, resources: {{limits: {limits}}}}}]}}}}}}}}}}
"""
    assert workloads_of(tmp_path, {"job.yaml": text})["pytorch"].is_training is is_training


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: ours}
spec:
  mlPolicy: {torch: {}}
  template: {spec: {replicatedJobs: [{template: {spec: {template: {spec: {containers: [{name: node, image: x}]}}}}}]}}
"""
TRAIN_JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: j}
spec:
  runtimeRef: {name: REF}
  trainer: {command: [torchrun, train.py]}
  podTemplateOverrides: PATCH
"""
PATCH = """[{spec: {volumes: [{name: s, emptyDir: {medium: Memory}}],
    containers: [{name: node, volumeMounts: [{name: s, mountPath: /dev/shm}]}]}}]"""


@pytest.mark.parametrize(
    ("name", "patch", "expected"),
    [
        ("torch-distributed", "[]", {"node": ShmSource.DEFAULT, "j": ShmSource.DEFAULT}),
        ("torch-distributed", PATCH, {"node": ShmSource.DEFAULT, "j": ShmSource.MEMORY}),
        ("ours", "[]", {"node": ShmSource.DEFAULT}),
        ("ours", PATCH, {}),
        ("theirs", "[]", {"node": ShmSource.DEFAULT}),
    ],
)
def test_train_jobs_and_runtimes(tmp_path: Path, name: str, patch: str, expected: dict[str, ShmSource]) -> None:
    job = TRAIN_JOB.replace("REF", name).replace("PATCH", patch)
    found = workloads_of(tmp_path, {"runtime.yaml": RUNTIME, "job.yaml": job})

    assert {key: workload.shm.source for key, workload in found.items()} == expected
    assert all(workload.is_training for workload in found.values())


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: List\nitems: &l [{apiVersion: v1, kind: List, items: *l}]\n# containers\n",
        "apiVersion: v1\nkind: Pod\nspec: &s {<<: *s, containers: [*s], volumes: [*s], template: *s}\n",
        "apiVersion: v1\nkind: Pod\nspec: {containers: {image: x}, volumes: 3}\n",
        "apiVersion: [v1]\nkind: {containers: [{image: x}]}\n",
        "apiVersion: v1\nkind: Pod\nspec: " + "{a: " * 900 + "{containers: [{image: x}]}" + "}" * 900 + "\n",
        "apiVersion: v1\ncontainers: " + "[" * 5000,
    ],
)
def test_odd_documents_are_no_workloads(tmp_path: Path, text: str) -> None:
    assert not plan_of(tmp_path, {"odd.yaml": text}).workloads


def test_other_encodings(tmp_path: Path) -> None:
    text = POD.format(volume="emptyDir: {}", path="/data", more="  hostIPC: false")
    (tmp_path / "wide.yaml").write_bytes(text.encode("utf-16"))
    (tmp_path / "marked.yaml").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())

    assert [workload.at.row for workload in plan_of(tmp_path, {}).workloads] == [8, 8]
