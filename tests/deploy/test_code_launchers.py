"""Launchers that Python code calls: Metaflow and Kubeflow Pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import plan_of

from dllint.code.language.modules import Module
from dllint.code.language.watched import CONTAINERS
from dllint.deploy.launchers import CODE_FRONT_ENDS
from dllint.deploy.workload import FlawKind, ShmSource, Workload

MIB = 1 << 20
TRAIN = """
from torch.utils.data import DataLoader

def main(dataset=[1]):
    for batch in DataLoader(dataset, num_workers=4):
        pass
"""


def step(folder: Path, decorators: str, body: str = "train.main()") -> list[Workload]:
    """A flow with one step."""
    text = (
        "import train\nfrom metaflow import FlowSpec, batch, kubernetes, resources, step\n"
        f"class Flow(FlowSpec):\n{decorators}\n    @step\n    def start(self):\n        {body}\n"
    )
    return plan_of(folder, {"flow.py": text, "train.py": TRAIN}).workloads


def test_a_step_that_starts_workers_in_a_container(tmp_path: Path) -> None:
    (found,) = step(tmp_path, "    @kubernetes(image='pytorch/pytorch', memory=32000, gpu=1)")
    assert (found.at.row, found.at.column, found.name) == (4, 6, "start")
    assert found.image is not None and found.image.value == "pytorch/pytorch"
    assert found.memory_limit is not None and found.memory_limit.value == 32000 * MIB
    assert found.shm.source is ShmSource.DEFAULT and found.gpus
    assert [loader.symbol for loader in found.loaders] == ["main"]
    (bare,) = step(tmp_path, "    @batch")
    assert bare.shm.source is ShmSource.DEFAULT


@pytest.mark.parametrize(
    ("decorators", "source", "size"),
    [
        ("    @batch(shared_memory=64)", ShmSource.SIZE, 64),
        ("    @batch(shared_memory=None)", ShmSource.DEFAULT, None),
        ("    @resources(shared_memory='8192')\n    @kubernetes(shared_memory=64)", ShmSource.SIZE, 8192),
        ("    @batch(shared_memory=SIZE)", ShmSource.UNKNOWN, None),
        ("    @batch(**OPTIONS)", ShmSource.UNKNOWN, None),
        ("    @kubernetes(tmpfs_path='/dev/shm', tmpfs_size=4096)", ShmSource.MEMORY, 4096),
    ],
)
def test_shared_memory_of_a_step(tmp_path: Path, decorators: str, source: ShmSource, size: int | None) -> None:
    (found,) = step(tmp_path, decorators)
    assert found.shm.source is source
    assert (found.shm.size.value if found.shm.size else None) == (size and size * MIB)


def test_steps_without_workers_or_without_a_container_are_left_alone(tmp_path: Path) -> None:
    assert not step(tmp_path, "    @kubernetes(image='pytorch/pytorch')", "print(train)")
    assert not step(tmp_path, "    @resources(gpu=1)")


@pytest.mark.parametrize(
    ("decorators", "options", "trains"),
    [
        ("    @kubernetes", "run", False),
        ("", "run --with kubernetes:cpu=4", False),
        ("", "run --with=batch", False),
        ("", "run --with retry", True),
        ("", "run", True),
        ("", "", True),
        ("    @kubernetes", "", False),
    ],
)
def test_a_container_that_starts_a_flow_trains_where_a_step_runs_in_it(
    tmp_path: Path, decorators: str, options: str, trains: bool
) -> None:
    flow = (
        "import train\nfrom metaflow import FlowSpec, kubernetes, step\n"
        f"class Flow(FlowSpec):\n{decorators}\n    @step\n    def start(self):\n        train.main()\n"
        "if __name__ == '__main__':\n    Flow()\n"
    )
    command = f"docker run -v $PWD:/work pytorch/pytorch python flow.py {options}\n"
    plan = plan_of(tmp_path, {"flow.py": flow, "train.py": TRAIN, "run.sh": command})
    assert any(each.workload.path.endswith("run.sh") for each in plan.trainings) is trains


def tasks(folder: Path, pipeline: str, head: str = "@dsl.component(base_image='pytorch/pytorch')") -> list[Workload]:
    """A pipeline of a component that trains."""
    text = (
        "from kfp import dsl, kubernetes\nfrom torch.utils.data import DataLoader\n"
        f"{head}\ndef train(n: int):\n    for batch in DataLoader([n], num_workers=4):\n        pass\n"
        "@dsl.component\ndef other():\n    pass\n"
        f"@dsl.pipeline\ndef pipe():\n{pipeline}\n"
    )
    return plan_of(folder, {"pipe.py": text}).workloads


def test_a_task_that_starts_workers(tmp_path: Path) -> None:
    (found,) = tasks(tmp_path, "    a = train(n=1).set_memory_limit('8Gi')\n    a.set_cpu_limit('2')\n    other()")
    assert (found.at.row, found.at.column, found.name, found.shm.source) == (12, 9, "train", ShmSource.DEFAULT)
    assert found.image is not None and found.image.value == "pytorch/pytorch"
    assert found.memory_limit is not None and found.memory_limit.value == 8192 * MIB
    assert found.cpu_limit is not None and found.cpu_limit.value == 2


MOUNT = "    a = train(n=1)\n    kubernetes.empty_dir_mount(a, volume_name='s', mount_path='/dev/shm'"


@pytest.mark.parametrize(
    ("pipeline", "source", "size"),
    [
        (f"{MOUNT}, medium='Memory', size_limit='8Gi')", ShmSource.MEMORY, 8192),
        (f"{MOUNT})", ShmSource.DISK, None),
        ("    a = train(n=1)\n    add_memory(a)", ShmSource.UNKNOWN, None),
        ("    add_memory(train(n=1))", ShmSource.UNKNOWN, None),
        ("    a = train(n=1)\n    a.add_pvolumes({'/dev/shm': v})", ShmSource.UNKNOWN, None),
        ("    a = train(n=1)\n    kubernetes.use_secret_as_env(a, 's', {})", ShmSource.DEFAULT, None),
        ("    a = train(n=1)\n    other().after(a)", ShmSource.DEFAULT, None),
    ],
)
def test_shared_memory_of_a_task(tmp_path: Path, pipeline: str, source: ShmSource, size: int | None) -> None:
    (found,) = tasks(tmp_path, pipeline)
    assert found.shm.source is source
    assert (found.shm.size.value if found.shm.size else None) == (size and size * MIB)
    assert not found.flaws


def test_refused_values_of_a_mount(tmp_path: Path) -> None:
    for value in ("medium='memory'", "medium='Memory', size_limit='8gb'"):
        (found,) = tasks(tmp_path, f"{MOUNT}, {value})")
        assert [(flaw.kind, flaw.at.row) for flaw in found.flaws] == [(FlawKind.REFUSED, 13)]


def test_containers_of_components(tmp_path: Path) -> None:
    container = "dsl.ContainerSpec(image='pytorch/pytorch', command=['torchrun'], args=['train.py', n])"
    head = f"@dsl.container_component\ndef cont(n: str):\n    return {container}\n@dsl.component"
    found = tasks(tmp_path, "    cont(n='1')\n    dsl.ContainerOp('c', image='x', command=['a'])", head)
    assert [(w.image and w.image.value, w.start.words) for w in found] == [
        ("pytorch/pytorch", ("torchrun", "train.py", "1")),
        ("x", ("a",)),
    ]


def test_every_file_is_searched_for_what_starts_containers() -> None:
    """By these texts a run on one file finds out whether containers matter for it."""
    assert {front_end.word.encode() for front_end in CODE_FRONT_ENDS} == set(CONTAINERS)


def test_words_in_comments_start_nothing() -> None:
    (reader,) = (front_end for front_end in CODE_FRONT_ENDS if front_end.word == "podman")

    def may_read(text: bytes) -> bool:
        return reader.may_read(Module("m.py", "/m.py", "m", is_package=False, data=text, is_target=True))

    assert not may_read(b"# podman run x\nx = 1\n    #podman\n")
    assert may_read(b"# podman run x\nrun(['podman'])  # podman\n")
    assert may_read(b"x = '#!/bin/sh\\npodman run x'\n")
