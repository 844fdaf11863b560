"""Containers that mount at /dev/shm themselves: who may, and what comes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plans import plan_of

from dllint.deploy.workload import ShmSource, Workload

IMAGE = "pytorch/pytorch"
GIB = 1 << 30


def trained(folder: Path, files: dict[str, str]) -> Workload:
    """The only workload of a project that trains, once its own mounts are taken in."""
    (training,) = plan_of(folder, {"train.py": "from torch.utils.data import DataLoader\n", **files}).trainings
    return training.workload


def compose(*lines: str) -> dict[str, str]:
    return {"compose.yaml": "\n".join(("services:", "  t:", f"    image: {IMAGE}", *(f"    {line}" for line in lines)))}


def pod(context: str) -> dict[str, str]:
    container = {"name": "t", "image": IMAGE, "command": ["python", "train.py"]}
    if context:
        container["securityContext"] = json.loads(context)
    spec = {"containers": [container]}
    return {"pod.json": json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"run.sh": f"docker run {IMAGE} python train.py"}, False),
        ({"run.sh": f"docker run --privileged {IMAGE} python train.py"}, True),
        ({"run.sh": f"docker run --privileged=false {IMAGE} python train.py"}, False),
        ({"run.sh": f"docker run --cap-add=SYS_ADMIN {IMAGE} python train.py"}, True),
        ({"run.sh": f"docker run --cap-add ALL {IMAGE} python train.py"}, True),
        ({"run.sh": f"docker run --cap-add SYS_PTRACE {IMAGE} python train.py"}, False),
        ({"run.sh": f"docker run --cap-add $CAPS {IMAGE} python train.py"}, None),
        ({"run.sh": f"docker run $OPTIONS {IMAGE} python train.py"}, None),
        (compose(), False),
        (compose("privileged: true"), True),
        (compose("privileged: ${PRIVILEGED}"), None),
        (compose("cap_add: [CAP_SYS_ADMIN]"), True),
        (compose("cap_add:", "  - ${CAP}"), None),
        (pod(""), False),
        (pod('{"privileged": true}'), True),
        (pod('{"privileged": false, "capabilities": {"add": ["IPC_LOCK"]}}'), False),
        (pod('{"capabilities": {"add": ["SYS_ADMIN"]}}'), True),
        ({".devcontainer/devcontainer.json": json.dumps({"image": IMAGE, "privileged": True})}, True),
        ({".devcontainer/devcontainer.json": json.dumps({"image": IMAGE, "capAdd": ["SYS_ADMIN"]})}, True),
        ({".devcontainer/devcontainer.json": json.dumps({"image": IMAGE, "runArgs": ["--rm"]})}, False),
        ({"run.py": f"import docker\ndocker.from_env().containers.run('{IMAGE}', privileged=True)\n"}, True),
        ({"run.py": f"import docker\ndocker.from_env().containers.run('{IMAGE}', cap_add=['SYS_ADMIN'])\n"}, True),
        ({"run.py": f"import docker\ndocker.from_env().containers.run('{IMAGE}', detach=True)\n"}, False),
        (
            {"task.json": json.dumps({"containerDefinitions": [{"name": "t", "image": IMAGE, "privileged": True}]})},
            True,
        ),
        ({"task.json": json.dumps({"containerDefinitions": [{"name": "t", "image": IMAGE}]})}, False),
    ],
)
def test_who_may_mount(files: dict[str, str], expected: bool | None, tmp_path: Path) -> None:
    (workload,) = plan_of(tmp_path, files).workloads
    assert workload.privileged is expected


@pytest.mark.parametrize(
    ("mount", "size"),
    [
        ("mount -o remount,size=8g /dev/shm", 8 * GIB),
        ("sudo mount -o size=8192m -t tmpfs none /dev/shm/ || true", 8 * GIB),
        ("mount -o remount,size=$SHM_SIZE /dev/shm", None),
        ("mount -t tmpfs tmpfs /dev/shm", None),
    ],
)
@pytest.mark.parametrize("inline", [True, False])
def test_what_comes_of_it(mount: str, size: int | None, *, inline: bool, tmp_path: Path) -> None:
    command = f"bash -c '{mount}\n python train.py'" if inline else "./start.sh python train.py"
    files = {"start.sh": f'#!/bin/sh\nset -e\n{mount}\nexec "$@"\n'}
    for options in ("--privileged", "", "$OPTIONS"):
        found = trained(tmp_path, {**files, "run.sh": f"docker run {options} {IMAGE} {command}\n"})
        if options == "--privileged":
            assert found.shm.source is ShmSource.MEMORY and not found.flaws
            assert (found.shm.size.value if found.shm.size is not None else None) == size
        elif options:
            assert found.shm.source is ShmSource.UNKNOWN and not found.flaws
        else:
            assert found.shm.source is ShmSource.DEFAULT and "not privileged" in found.flaws[0].what
            assert (Path(found.flaws[0].at.path).name, found.flaws[0].at.row) == (
                ("run.sh", 1) if inline else ("start.sh", 3)
            )


@pytest.mark.parametrize(
    "script", ["mount /dev/sdb /data", "mount --bind /dev/shm /cache/shm", "echo mount /dev/shm", "df -h /dev/shm"]
)
def test_other_commands_are_none(script: str, tmp_path: Path) -> None:
    found = trained(tmp_path, {"run.sh": f"docker run {IMAGE} sh -c '{script}; python train.py'\n"})
    assert found.shm.source is ShmSource.DEFAULT and not found.flaws
