"""Platforms with files of their own: JupyterHub, Ray's cluster launcher, dstack, Determined."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import plan_of, workloads_of

from dllint.deploy.workload import FlawKind, ShmSource, Workload

HUB = """\
singleuser:
  image: {name: quay.io/jupyter/pytorch-notebook, tag: cuda12}
  memory: {limit: 16G}
  extraResource: {limits: {nvidia.com/gpu: "1"}}
"""
STORAGE = """\
  storage:
    extraVolumes: [{name: dshm, emptyDir: {medium: Memory}}]
    extraVolumeMounts: [{name: dshm, mountPath: /dev/shm}]
"""
STORAGE_BY_NAME = """\
  storage:
    extraVolumes: {a: {name: dshm, emptyDir: {medium: Memory}}}
    extraVolumeMounts: {b: {name: dshm, mountPath: /dev/shm}}
"""
SPAWNER = """\
hub: {config: {KubeSpawner: {
  volumes: [{name: s, emptyDir: {}}],
  volume_mounts: [{name: s, mountPath: /dev/shm}]}}}
"""


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ("", ShmSource.DEFAULT),
        (STORAGE, ShmSource.MEMORY),
        (STORAGE_BY_NAME, ShmSource.MEMORY),
        ("  extraPodConfig: {hostIPC: true}\n", ShmSource.HOST),
        (SPAWNER, ShmSource.DISK),
        ("hub: {extraConfig: {shm: 'c.KubeSpawner.volumes = [shm]'}}", ShmSource.UNKNOWN),
    ],
)
def test_hub(tmp_path: Path, more: str, source: ShmSource) -> None:
    found = workloads_of(tmp_path, {"values.yaml": HUB + more})["singleuser"]

    assert found.shm.source is source
    assert found.at.row == 1
    assert found.image is not None
    assert found.image.value == "quay.io/jupyter/pytorch-notebook:cuda12"
    assert found.memory_limit is not None
    assert found.memory_limit.value == 16 << 30


def test_profiles_of_a_hub_inside_of_another_chart(tmp_path: Path) -> None:
    profiles = """\
  profileList:
    - display_name: GPU
      kubespawner_override:
        image: pytorch/pytorch
        volumes: [{name: s, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]
        volume_mounts: [{name: s, mountPath: /dev/shm}]
"""
    text = "jupyterhub:\n" + "".join(f"  {line}\n" for line in (HUB + profiles).splitlines())
    found = workloads_of(tmp_path, {"values.yaml": text})

    assert {name: workload.shm.source for name, workload in found.items()} == {
        "singleuser": ShmSource.DEFAULT,
        "GPU": ShmSource.MEMORY,
    }


RAY = """\
cluster_name: c
provider: {{type: aws}}
docker:
  image: pytorch/pytorch
  container_name: ray
  {more}
"""


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ("pull_before_run: true", ShmSource.PLATFORM),
        ("disable_shm_size_detection: true", ShmSource.DEFAULT),
        ("run_options: ['--ipc=host']", ShmSource.HOST),
        ("worker_run_options: ['--shm-size $SIZE']", ShmSource.UNKNOWN),
    ],
)
def test_ray_cluster(tmp_path: Path, more: str, source: ShmSource) -> None:
    found = workloads_of(tmp_path, {"cluster.yaml": RAY.format(more=more)})["ray"]

    assert found.shm.source is source
    assert found.at.row == 4


def test_size_among_the_options_of_a_ray_cluster(tmp_path: Path) -> None:
    found = workloads_of(tmp_path, {"cluster.yaml": RAY.format(more='run_options: ["--init --shm-size=64m"]')})["ray"]

    assert found.shm.size is not None
    assert (found.shm.size.value, found.shm.size.at.row, found.shm.size.at.column) == (64 << 20, 6, 36)


def task(tmp_path: Path, more: str) -> Workload:
    """The workload of a dstack task."""
    text = f"type: task\nname: fit\ncommands: [pip install torch, python train.py]\n{more}\n"
    return workloads_of(tmp_path, {".dstack.yml": text})["fit"]


@pytest.mark.parametrize(
    ("size", "value"), [("16GB", 16 << 30), ("64 mb", 64 << 20), ("8", 8 << 30), ("0.5TB", 512 << 30)]
)
def test_dstack_sizes(tmp_path: Path, size: str, value: int) -> None:
    shm = task(tmp_path, f"resources: {{gpu: 1, shm_size: {size}}}").shm

    assert shm.source is ShmSource.SIZE
    assert shm.size is not None
    assert (shm.size.value, shm.size.at.row, shm.size.at.column) == (value, 4, 31)


def test_dstack_refuses(tmp_path: Path) -> None:
    (flaw,) = task(tmp_path, "resources: {shm_size: 8Gi}").flaws

    assert (flaw.kind, flaw.at.row, flaw.at.column) == (FlawKind.REFUSED, 4, 23)


@pytest.mark.parametrize(("more", "row"), [("resources: {gpu: 24GB}", 4), ("python: '3.12'", 1)])
def test_dstack_without_a_size(tmp_path: Path, more: str, row: int) -> None:
    found = task(tmp_path, more)

    assert found.shm.source is ShmSource.DEFAULT
    assert found.at.row == row
    assert found.start.words == ("sh", "-c", "pip install torch\npython train.py")


def test_dstack_with_the_machines_memory(tmp_path: Path) -> None:
    assert task(tmp_path, "volumes: ['/dev/shm:/dev/shm']").shm.source is ShmSource.HOST


EXPERIMENT = "name: e\nentrypoint: python3 -m determined.launch.torch_distributed train.py\nsearcher: {name: single}\n"


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ("", ShmSource.PLATFORM),
        ("resources: {shm_size: 67108864}\n", ShmSource.SIZE),
        ("resources: {shm_size: [1]}\n", ShmSource.UNKNOWN),
    ],
)
def test_determined(tmp_path: Path, more: str, source: ShmSource) -> None:
    found = workloads_of(tmp_path, {"const.yaml": EXPERIMENT + more})["e"]

    assert found.shm.source is source
    assert found.is_training


@pytest.mark.parametrize(
    "text",
    [
        "type: task\nlabel: image\n",
        "docker: {image: x}\nprovider: y\n",
        "entrypoint: x\nhyperparam: 1\n",
        "singleuser: image\n",
        "name: sky\nresources: {accelerators: A100:8}\nrun: torchrun train.py\n",
    ],
)
def test_files_of_other_tools(tmp_path: Path, text: str) -> None:
    assert not plan_of(tmp_path, {"some.yaml": text}).workloads
