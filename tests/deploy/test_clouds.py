"""Jobs of clouds (AWS, Azure, Google), and podman's units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plans import plan_of, workloads_of

from dllint.deploy.workload import FlawKind, ShmSource, Workload

MIB = 1 << 20


def batch(folder: Path, container: dict[str, Any], **job: Any) -> Workload:
    """A Batch job with one container."""
    properties = {"image": "me/pytorch", "command": ["python", "train.py"], **container}
    text = json.dumps({"jobDefinitionName": "job", "containerProperties": properties, **job}, indent=2)
    return workloads_of(folder, {"job.json": text})["job"]


def task(folder: Path, container: dict[str, Any], **rest: Any) -> Workload:
    """An ECS task with one container."""
    definition = {"containerDefinitions": [{"name": "train", "image": "me/pytorch", **container}], **rest}
    return workloads_of(folder, {"task.json": json.dumps(definition, indent=2)})["train"]


def test_a_batch_job(tmp_path: Path) -> None:
    requirements = [{"type": "MEMORY", "value": "2048"}, {"type": "GPU", "value": "1"}]
    ulimits = [{"name": "nofile", "softLimit": 1024, "hardLimit": 2048}]
    found = batch(tmp_path, {"resourceRequirements": requirements, "ulimits": ulimits})
    assert (found.launcher.name, found.at.row, found.shm.source) == ("AWS Batch", 4, ShmSource.DEFAULT)
    assert found.launcher.says(8 << 30).endswith('{"sharedMemorySize": 8192}` (MiB)')
    assert found.start.words == ("python", "train.py")
    assert found.memory_limit is not None and found.memory_limit.value == 2048 * MIB
    assert found.nofile is not None and found.nofile.value == 1024
    assert found.gpus


@pytest.mark.parametrize("make", [batch, task])
def test_shared_memory_of_a_container(tmp_path: Path, make: Any) -> None:
    sized = make(tmp_path, {"linuxParameters": {"sharedMemorySize": 8192}})
    assert sized.shm.source is ShmSource.SIZE and sized.shm.size.value == 8192 * MIB
    refused = make(tmp_path, {"linuxParameters": {"sharedMemorySize": "8g"}})
    assert [flaw.kind for flaw in refused.flaws] == [FlawKind.REFUSED]
    unseen = make(tmp_path, {"linuxParameters": {"sharedMemorySize": "${shm}"}})
    assert unseen.shm.source is ShmSource.UNKNOWN
    reference = make(tmp_path, {"linuxParameters": {"Ref": "Linux"}})
    assert reference.shm.source is ShmSource.UNKNOWN
    tmpfs = make(tmp_path, {"linuxParameters": {"tmpfs": [{"containerPath": "/dev/shm", "size": 64}]}})
    assert tmpfs.shm.source is ShmSource.MEMORY and tmpfs.shm.size.value == 64 * MIB


def test_volumes_and_modes_of_a_task(tmp_path: Path) -> None:
    mounts = {"mountPoints": [{"sourceVolume": "shm", "containerPath": "/dev/shm"}]}
    assert task(tmp_path, mounts, volumes=[{"name": "shm", "host": {}}]).shm.source is ShmSource.DISK
    host = [{"name": "shm", "host": {"sourcePath": "/dev/shm"}}]
    assert task(tmp_path, mounts, volumes=host).shm.source is ShmSource.HOST
    shared = task(tmp_path, {}, ipcMode="host")
    assert shared.shm.source is ShmSource.HOST and shared.host_ipc is not None
    assert task(tmp_path, {}, ipcMode="task").shm.source is ShmSource.OTHER_CONTAINER


def test_fargate_takes_no_size(tmp_path: Path) -> None:
    size = {"linuxParameters": {"sharedMemorySize": 8192}}
    for found in (
        task(tmp_path, size, requiresCompatibilities=["FARGATE"]),
        batch(tmp_path, size, platformCapabilities=["FARGATE"]),
    ):
        assert [flaw.kind for flaw in found.flaws] == [FlawKind.NOT_EFFECTIVE]
        assert found.shm.source is ShmSource.DEFAULT
    assert not task(tmp_path, size, requiresCompatibilities=["EC2", "FARGATE"]).flaws


def test_cloudformation_and_multi_node_jobs(tmp_path: Path) -> None:
    files = {
        "stack.yaml": "Resources:\n  Task:\n    Type: AWS::ECS::TaskDefinition\n    Properties:\n"
        "      ContainerDefinitions:\n        - Name: train\n          Image: !Sub '${Repo}:latest'\n"
        "          LinuxParameters: {SharedMemorySize: !Ref Shm}\n",
        "nodes.json": '{"jobDefinitionName": "n", "nodeProperties": {"nodeRangeProperties": [{"container":\n'
        '{"image": "x"}}]}}',
        "pods.json": '{"eksProperties": {"podProperties": {"containers": [{"name": "pod", "image": "x"}],'
        '"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}}}',
    }
    found = workloads_of(tmp_path, files)
    assert found["train"].shm.source is ShmSource.UNKNOWN
    assert (found["train"].at.row, found["train"].at.end_row) == (6, 7)
    assert found["n"].shm.source is ShmSource.DEFAULT
    assert [flaw.kind for flaw in found["pod"].flaws] == [FlawKind.NOT_EFFECTIVE]


def azure(folder: Path, lines: str) -> Workload:
    """An Azure ML command job."""
    text = f"command: torchrun train.py --lr ${{{{inputs.lr}}}}\ncode: ../src\nenvironment: azureml:pt@latest\n{lines}"
    (found,) = plan_of(folder, {"jobs/job.yml": text}).workloads
    return found


def test_azure_jobs(tmp_path: Path) -> None:
    plain = azure(tmp_path, "distribution: {type: pytorch}\n")
    assert (plain.shm.source, plain.at.row, plain.is_training) == (ShmSource.PLATFORM, 1, True)
    assert plain.folder == str(tmp_path / "src")
    assert plain.start.words == ("sh", "-c", "torchrun train.py --lr $X")
    sized = azure(tmp_path, "resources: {shm_size: 64m}\n")
    assert sized.shm.size is not None and sized.shm.size.value == 64 * MIB and sized.shm.size.at.row == 4
    refused = azure(tmp_path, "resources: {shm_size: 16Gi}\n")
    assert [flaw.kind for flaw in refused.flaws] == [FlawKind.REFUSED]
    option = azure(tmp_path, "resources: {docker_args: --gpus all --shm-size=4g}\n")
    assert option.shm.size is not None and option.shm.size.value == 4096 * MIB
    assert azure(tmp_path, "resources: {docker_args: --ipc=host}\n").shm.source is ShmSource.HOST
    assert azure(tmp_path, "resources: {docker_args: --gpus all}\n").shm.source is ShmSource.PLATFORM


def test_steps_of_an_azure_pipeline(tmp_path: Path) -> None:
    text = (
        "$schema: https://azuremlschemas.azureedge.net/latest/pipelineJob.schema.json\njobs:\n"
        "  prep: {component: azureml:prep@latest}\n  train:\n    command: python train.py\n"
        "    resources:\n      shm_size: ${{parent.inputs.shm}}\n"
    )
    (found,) = plan_of(tmp_path, {"pipeline.yml": text}).workloads
    assert (found.at.row, found.shm.source) == (5, ShmSource.UNKNOWN)


def google(folder: Path, container: dict[str, Any]) -> Workload:
    """A Google Batch job with one container."""
    runnable = {"container": {"imageUri": "me/pytorch", "commands": ["python", "train.py"], **container}}
    text = json.dumps({"taskGroups": [{"taskSpec": {"runnables": [runnable]}}]}, indent=1)
    (found,) = plan_of(folder, {"job.json": text}).workloads
    return found


def test_google_jobs(tmp_path: Path) -> None:
    plain = google(tmp_path, {})
    assert (plain.shm.source, plain.at.row, plain.at.end_row) == (ShmSource.DEFAULT, 7, 8)
    assert plain.start.words == ("python", "train.py")
    options = google(tmp_path, {"options": "--gpus all --ulimit nofile=1024:1024 --shm-size 64m"})
    assert options.at.row == 13 and options.gpus
    assert options.shm.size is not None and options.shm.size.value == 64 * MIB
    assert options.shm.size.at.column == options.at.column + len(
        '"options": "--gpus all --ulimit nofile=1024:1024 --shm-size '
    )
    assert options.nofile is not None and options.nofile.value == 1024
    assert google(tmp_path, {"options": "${options}"}).shm.source is ShmSource.UNKNOWN
    assert google(tmp_path, {"volumes": ["/dev/shm:/dev/shm"]}).shm.source is ShmSource.HOST


def quadlet(folder: Path, lines: str) -> Workload:
    """A unit with these lines."""
    text = f"# c\n[Unit]\nImage=none\n[Container]\nImage=docker.io/pytorch/pytorch\n{lines}\n[Install]\nShmSize=1g\n"
    return workloads_of(folder, {"train.container": text})["train"]


@pytest.mark.parametrize(
    ("lines", "source", "size"),
    [
        ("Exec=python train.py", ShmSource.DEFAULT, None),
        ("ShmSize=64m", ShmSource.SIZE, 64),
        ("ShmSize=0", ShmSource.MEMORY, None),
        ("ShmSize=%i", ShmSource.UNKNOWN, None),
        ("PodmanArgs=--gpus all \\\n  --shm-size=2g", ShmSource.SIZE, 2048),
        ("PodmanArgs=--ipc=host", ShmSource.HOST, None),
        ("Tmpfs=/dev/shm:size=1g", ShmSource.MEMORY, 1024),
        ("Volume=shm.volume:/dev/shm", ShmSource.DISK, None),
        ("Pod=x.pod", ShmSource.OTHER_CONTAINER, None),
    ],
)
def test_quadlets(tmp_path: Path, lines: str, source: ShmSource, size: int | None) -> None:
    found = quadlet(tmp_path, lines)
    assert found.shm.source is source
    assert (found.shm.size.value if found.shm.size else None) == (size and size * MIB)
    assert found.image is not None and found.image.value == "docker.io/pytorch/pytorch"
    assert found.at.row == 5


def test_the_words_of_a_quadlet(tmp_path: Path) -> None:
    found = quadlet(
        tmp_path,
        "Exec=python train.py --workers 8\nUlimit=nofile=1024:2048\nEnvironment=A=1\nAddDevice=nvidia.com/gpu=all",
    )
    assert found.start.words == ("python", "train.py", "--workers", "8")
    assert found.nofile is not None and found.nofile.value == 1024
    assert found.environment == {"A": "1"} and found.gpus


# Terraform

DEFINITION = """\
locals {{ size = 4096 }}
resource "aws_ecs_task_definition" "t" {{
  family                = "t"
  container_definitions = {containers}
  {more}
}}
"""


def terraform(folder: Path, containers: str, more: str = "") -> Workload:
    """A container of a task definition that Terraform makes."""
    return workloads_of(folder, {"main.tf": DEFINITION.format(containers=containers, more=more)})["train"]


@pytest.mark.parametrize(
    ("containers", "source", "size"),
    [
        ('jsonencode([{ name = "train", image = "me/pytorch" }])', ShmSource.DEFAULT, None),
        (
            'jsonencode([\n{ name = "train", "image" : "a", linuxParameters = { sharedMemorySize = 8192 } },\n])',
            ShmSource.SIZE,
            8192,
        ),
        (
            'jsonencode([{ name = "train", image = "a", linuxParameters = { sharedMemorySize = local.size } }])',
            ShmSource.SIZE,
            4096,
        ),
        (
            'jsonencode([{ name = "train", image = "a", linuxParameters = { sharedMemorySize = var.size } }])',
            ShmSource.UNKNOWN,
            None,
        ),
        ('jsonencode([{ name = "train", image = "a", linuxParameters = local.linux }])', ShmSource.UNKNOWN, None),
        (
            '<<EOF\n[{"name": "train", "image": "${var.image}", "linuxParameters": {"sharedMemorySize": 64}}]\nEOF',
            ShmSource.SIZE,
            64,
        ),
    ],
)
def test_a_task_of_terraform(containers: str, source: ShmSource, size: int | None, tmp_path: Path) -> None:
    found = terraform(tmp_path, containers)
    assert found.shm.source is source
    assert (found.shm.size.value if found.shm.size is not None else None) == (size * MIB if size else None)
    assert Path(found.at.path).name == "main.tf" and found.at.row >= 4


def test_volumes_and_places_of_terraform(tmp_path: Path) -> None:
    mounts = '[{ sourceVolume = "s", containerPath = "/dev/shm" }]'
    mounted = f'jsonencode([{{ name = "train", image = "a", mountPoints = {mounts} }}])'
    assert (
        terraform(tmp_path, mounted, 'volume {\n name = "s"\n host_path = "/dev/shm"\n }').shm.source is ShmSource.HOST
    )
    assert terraform(tmp_path, mounted, 'volume {\n name = "s"\n }').shm.source is ShmSource.DISK
    sized = 'jsonencode([{ name = "train", image = "a", linuxParameters = { sharedMemorySize = 1 } }])'
    flaw = terraform(tmp_path, sized, 'requires_compatibilities = ["FARGATE"]').flaws[0]
    line = (tmp_path / "main.tf").read_text().splitlines()[flaw.at.row - 1]
    assert line[flaw.at.column - 1 : flaw.at.end_column - 1] == "1"


@pytest.mark.parametrize("text", ['file("task.json")', "data.x.y.rendered", "<<EOF\n[{,\nEOF", "jsonencode([", '"["'])
def test_what_terraform_does_not_show(text: str, tmp_path: Path) -> None:
    assert workloads_of(tmp_path, {"main.tf": DEFINITION.format(containers=text, more="")}) == {}


def test_locals_that_double_each_other_cost_what_they_are_long(tmp_path: Path) -> None:
    doubled = "\n".join(f"  a{number} = [local.a{number - 1}, local.a{number - 1}]" for number in range(1, 60))
    job = 'resource "aws_ecs_task_definition" "t" {\n  container_definitions = jsonencode(local.a0)\n}\n'
    trainer = f'locals {{\n  a0 = [{{ name = "fit", image = "pytorch/pytorch:2.6.0" }}]\n{doubled}\n}}\n'
    text = trainer + job + job.replace("local.a0", "local.a59")
    assert list(workloads_of(tmp_path, {"main.tf": text})) == ["fit"]
