"""HCL, and the launchers whose files are written in it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from plans import plan_of, workloads_of

from dllint.deploy.workload import FlawKind, ShmSource, Workload
from dllint.syntax.hcl import parse

GIB = 1 << 30


def test_values_have_their_places() -> None:
    text = '# c\na = "x\\"y"\nb = [1, "two", f(3),]\nc = { d = true, "e": 5 }\n'
    text += 'f "g" h {\n  i = var.x ? [1] : 2\n  /* j */ k = -1.5\n}\n'
    body = parse(text, "a.hcl")
    assert body.text("a") == 'x"y'
    assert body.texts("b") == ["1", "two", None]
    pairs = body.attributes["c"].pairs or {}
    assert {name: value.text for name, value in pairs.items()} == {"d": "true", "e": "5"}
    (block,) = body.of("f")
    assert (block.labels, block.at.row, block.at.end_column) == (("g", "h"), 5, 8)
    value = block.body.attributes["i"]
    assert (value.text, value.source, value.at.row, value.at.column) == (None, "var.x ? [1] : 2", 6, 7)
    assert block.body.text("k") == "-1.5"


def test_templates_are_not_known() -> None:
    body = parse('a = "x${b["c"]}y"\nd = "$${e}"\nf = <<-EOT\n  g\n  EOT\nh = <<X\n${i}\nX\n', "a.hcl")
    assert body.text("a") is None
    assert body.text("d") == "${e}"
    assert body.text("f") == "  g\n"
    assert "h" in body.attributes and body.text("h") is None


@pytest.mark.parametrize(
    "text",
    [
        "a {",
        "a = [",
        'a = "',
        "a = {b",
        "}",
        "= 1",
        "a {" * 5000,
        "a = " + "[" * 5000,
        "a = <<X",
        "a = f(" * 999,
        "é = 1",
    ],
)
def test_broken_files_end(text: str) -> None:
    start = time.perf_counter()
    parse(text, "a.hcl")
    assert time.perf_counter() - start < 1


def nomad(folder: Path, config: str, rest: str = "", driver: str = "docker") -> Workload:
    """A task with these lines in its configuration."""
    text = (
        'variable "size" {\n  default = 134217728\n}\njob "j" {\n  group "g" {\n    task "train" {\n'
        f'      driver = "{driver}"\n      config {{\n        image = "pytorch/pytorch"\n'
        f"{config}\n      }}\n{rest}    }}\n  }}\n}}\n"
    )
    return workloads_of(folder, {"job.nomad": text})["train"]


def test_a_nomad_task(tmp_path: Path) -> None:
    found = nomad(
        tmp_path,
        'command = "python"\nargs = ["train.py", "${meta.x}"]\nulimit { nofile = "1024:2048" }',
        'resources {\n memory = 2048\n device "nvidia/gpu" {}\n}\nenv { A = "1" }\n',
    )
    assert (found.at.row, found.at.end_row, found.shm.source) == (6, 9, ShmSource.DEFAULT)
    assert found.start.words == ("python", "train.py", "")
    assert found.memory_limit is not None and found.memory_limit.value == 2 * GIB
    assert found.nofile is not None and found.nofile.value == 1024
    assert found.environment == {"A": "1"}
    assert found.gpus


@pytest.mark.parametrize(
    ("config", "source", "size"),
    [
        ("shm_size = 8589934592", ShmSource.SIZE, 8 * GIB),
        ("shm_size = var.size", ShmSource.SIZE, 134217728),
        ("shm_size = local.size", ShmSource.UNKNOWN, None),
        ('ipc_mode = "host"', ShmSource.HOST, None),
        ('volumes = ["/dev/shm:/dev/shm"]', ShmSource.HOST, None),
        ('volumes = ["shm:/dev/shm"]', ShmSource.DISK, None),
        (
            'mount {\n type = "tmpfs"\n target = "/dev/shm"\n tmpfs_options { size = 1073741824 }\n}',
            ShmSource.MEMORY,
            GIB,
        ),
        ('mounts = [{ type = "tmpfs", target = "/dev/shm", tmpfs_options = { size = 1024 } }]', ShmSource.MEMORY, 1024),
    ],
)
def test_shared_memory_of_a_nomad_task(tmp_path: Path, config: str, source: ShmSource, size: int | None) -> None:
    found = nomad(tmp_path, config)
    assert found.shm.source is source
    assert (found.shm.size.value if found.shm.size else None) == size
    assert not found.flaws


def test_refused_sizes_of_nomad(tmp_path: Path) -> None:
    assert [flaw.kind for flaw in nomad(tmp_path, 'shm_size = "8g"').flaws] == [FlawKind.REFUSED]
    assert not nomad(tmp_path, 'shm_size = "8g"', driver="podman").flaws


def test_a_bake_target_sizes_its_build_alone(tmp_path: Path) -> None:
    hcl = 'target "base" {\n  shm-size = "16g"\n}\n'
    hcl += 'target "train" {\n  inherits = ["base"]\n  dockerfile = "gpu.Dockerfile"\n}\n'
    (found,) = plan_of(tmp_path, {"docker-bake.hcl": hcl}).workloads
    assert [(flaw.kind, flaw.at.row) for flaw in found.flaws] == [(FlawKind.NOT_EFFECTIVE, 2)]
    assert found.build is not None and found.build.dockerfile == str(tmp_path / "gpu.Dockerfile")
    text = '{"target": {"train": {"shm-size": "16g", "dockerfile": "gpu.Dockerfile", "tags": ["t:1"]}, "other": {}}}'
    (found,) = plan_of(tmp_path, {"docker-bake.hcl": "", "docker-bake.json": text}).workloads
    assert found.build is not None and found.build.dockerfile == str(tmp_path / "gpu.Dockerfile")
    assert found.image is not None and found.image.value == "t:1"


def test_a_container_of_a_bake_target_has_the_default(tmp_path: Path) -> None:
    hcl = 'target "train" {\n  tags = ["trainer:${TAG}"]\n  shm-size = "16g"\n}\n'
    files = {"docker-bake.hcl": hcl, "Dockerfile": "FROM pytorch/pytorch\n", "run.sh": "docker run --rm trainer:$TAG\n"}
    found = {workload.launcher.name: workload for workload in plan_of(tmp_path, files).workloads}
    flaws = found["docker run"].flaws
    assert [(flaw.kind, flaw.at.row) for flaw in flaws] == [(FlawKind.NOT_EFFECTIVE, 3)]
