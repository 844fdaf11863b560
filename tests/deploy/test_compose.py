"""Compose files: services after merge, with the places of what they say."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from plans import plan_of, workloads_of

from dllint.deploy.launchers.compose.interpolation import env_file, interpolated
from dllint.deploy.workload import Build, FlawKind, ShmSource, Workload

GIB = 1 << 30


def service(folder: Path, lines: str, rest: str = "") -> Workload:
    """The service `train` with these lines, each indented by four."""
    text = f"services:\n  train:\n    image: pytorch/pytorch\n{lines}{rest}"
    return workloads_of(folder, {"compose.yaml": text})["train"]


def test_a_long_size_is_told_by_its_start(tmp_path: Path) -> None:
    (flaw,) = service(tmp_path, f"    shm_size: {'9' * 5000}\n").flaws
    assert flaw.clause == f"compose refuses the size `{'9' * 40}...`"


def test_a_service_has_its_place_image_command_and_limits(tmp_path: Path) -> None:
    found = service(
        tmp_path,
        "    command: python train.py --workers 8\n    entrypoint: [tini, --]\n    working_dir: /work/src\n"
        "    volumes: ['.:/work']\n    mem_limit: 8g\n    cpus: 2.5\n    ulimits: {nofile: {soft: 1024, hard: 2048}}\n"
        "    environment: [A=1, B]\n    runtime: nvidia\n",
    )
    assert (found.at.row, found.at.column, found.at.end_column) == (2, 3, 8)
    assert found.image is not None and found.image.value == "pytorch/pytorch"
    assert found.start.words == ("tini", "--", "python", "train.py", "--workers", "8")
    assert found.folder == str(tmp_path / "src")
    assert found.memory_limit is not None and found.memory_limit.value == 8 * GIB
    assert found.cpu_limit is not None and found.cpu_limit.value == 2.5
    assert found.nofile is not None and found.nofile.value == 1024
    assert found.environment == {"A": "1", "B": None}
    assert found.gpus
    assert found.shm.source is ShmSource.DEFAULT


@pytest.mark.parametrize(
    ("lines", "source", "size"),
    [
        ("shm_size: 8gb", ShmSource.SIZE, 8 * GIB),
        ("shm_size: 8589934592", ShmSource.SIZE, 8 * GIB),
        ("shm_size: 0x10", ShmSource.SIZE, 16),
        ("shm_size: 0", ShmSource.SIZE, 64 << 20),
        ("shm_size: ${SHM}", ShmSource.UNKNOWN, None),
        ("shm_size: ${SHM:-4g}", ShmSource.SIZE, 4 * GIB),
        ("shm_size:", ShmSource.DEFAULT, None),
        ("ipc: host", ShmSource.HOST, None),
        ("ipc: shareable", ShmSource.DEFAULT, None),
        ("ipc: ${IPC}", ShmSource.UNKNOWN, None),
        ("ipc: container:other", ShmSource.OTHER_CONTAINER, None),
        ("tmpfs: /dev/shm", ShmSource.MEMORY, None),
        ("tmpfs: [/tmp, '/dev/shm:size=50%']", ShmSource.MEMORY, None),
        ("tmpfs: ['/dev/shm:size=2g,mode=1777']", ShmSource.MEMORY, 2 * GIB),
        ("tmpfs: ['/dev/shm/cache:size=2g']", ShmSource.DEFAULT, None),
        ("tmpfs: ['/dev/shm:size=${SHM}']", ShmSource.UNKNOWN, None),
        ("tmpfs: ['${MOUNT}']", ShmSource.UNKNOWN, None),
        ("volumes: ['/dev/shm:/dev/shm:rw']", ShmSource.HOST, None),
        ("volumes: ['./scratch:/dev/shm']", ShmSource.DISK, None),
        ("volumes: ['scratch:/dev/shm']", ShmSource.DISK, None),
        ("volumes: [/dev/shm]", ShmSource.DISK, None),
        ("volumes: ['${DIR:-./a}:/dev/shm']", ShmSource.DISK, None),
        ("volumes: ['${DIR}:/dev/shm']", ShmSource.UNKNOWN, None),
        ("volumes: ['${DIR}:/data']", ShmSource.DEFAULT, None),
        ("volumes: [{type: tmpfs, target: /dev/shm/, tmpfs: {size: 8gb}}]", ShmSource.MEMORY, 8 * GIB),
        ("volumes: [{type: bind, source: /dev/shm, target: /dev/shm}]", ShmSource.HOST, None),
    ],
)
def test_shared_memory(tmp_path: Path, lines: str, source: ShmSource, size: int | None) -> None:
    found = service(tmp_path, f"    {lines}\n")
    assert found.shm.source is source
    assert (found.shm.size.value if found.shm.size else None) == size
    assert not found.flaws


@pytest.mark.parametrize("value", ["8Gi", "8.0e9", "'8  GB'", "[8gb]", "''", "true", "8 gigs"])
def test_refused_sizes(tmp_path: Path, value: str) -> None:
    found = service(tmp_path, f"    shm_size: {value}\n")
    assert [(flaw.kind, flaw.at.row) for flaw in found.flaws] == [(FlawKind.REFUSED, 4)]
    assert found.shm.size is not None and found.shm.size.value is None


def test_sizes_without_effect(tmp_path: Path) -> None:
    found = service(tmp_path, "    build:\n      context: .\n      shm_size: 8gb\n")
    assert [(flaw.kind, flaw.at.row) for flaw in found.flaws] == [(FlawKind.NOT_EFFECTIVE, 6)]
    assert found.shm.source is ShmSource.DEFAULT
    assert not service(tmp_path, "    build: {context: ., shm_size: 8gb}\n    shm_size: 8gb\n").flaws
    beside_host = service(tmp_path, "    ipc: host\n    shm_size: 8gb\n")
    assert beside_host.host_ipc is not None and beside_host.host_ipc.row == 4
    assert beside_host.ignored_size is not None and beside_host.ignored_size.row == 5


def test_a_named_volume_can_be_memory(tmp_path: Path) -> None:
    options = "volumes:\n  mem: {driver_opts: {type: tmpfs, device: tmpfs, o: 'size=2g,uid=1000'}}\n"
    found = service(tmp_path, "    volumes: ['mem:/dev/shm']\n", options)
    assert found.shm.source is ShmSource.MEMORY
    assert found.shm.size is not None and found.shm.size.value == 2 * GIB
    other = service(tmp_path, "    volumes: ['mem:/dev/shm']\n", "volumes:\n  mem: {external: true}\n")
    assert other.shm.source is ShmSource.UNKNOWN


def test_overrides_merge_reset_and_replace(tmp_path: Path) -> None:
    base = (
        "services:\n  a: {image: x, shm_size: 1g}\n  b: {image: x, shm_size: 1g, tmpfs: [/dev/shm]}\n  c: {image: x}\n"
    )
    override = "services:\n  a: {shm_size: !reset null}\n  b: {tmpfs: !override [/tmp]}\n  c: {shm_size: 2g}\n"
    found = workloads_of(tmp_path, {"docker-compose.yml": base, "docker-compose.override.yml": override})
    assert found["a"].shm.source is ShmSource.DEFAULT
    assert found["b"].shm.source is ShmSource.SIZE
    assert found["c"].shm.at is not None and found["c"].shm.at.path.endswith("docker-compose.override.yml")
    assert {workload.path.rpartition("/")[2] for workload in found.values()} == {"docker-compose.yml"}


def test_extension_merge_keys_and_aliases(tmp_path: Path) -> None:
    files = {
        "common/base.yml": "services:\n  torch:\n    image: pytorch/pytorch\n    shm_size: 1g\n    build: .\n",
        "compose.yaml": "x-d: &d {image: x, shm_size: &size 2g}\nservices:\n"
        "  a: {extends: {file: common/base.yml, service: torch}}\n"
        "  b:\n    <<: *d\n    command: [python]\n"
        "  c:\n    image: y\n    shm_size: *size\n"
        "  d: {extends: a, shm_size: 3g}\n",
    }
    found = workloads_of(tmp_path, files)
    assert list(found) == ["a", "b", "c", "d"]
    sizes = {name: workload.shm.size.value for name, workload in found.items() if workload.shm.size}
    assert sizes == {"a": GIB, "b": 2 * GIB, "c": 2 * GIB, "d": 3 * GIB}
    assert found["c"].shm.at is not None and found["c"].shm.at.row == 9
    assert found["a"].build is not None and found["a"].build.context == str(tmp_path / "common")


def test_files_that_the_environment_or_an_inclusion_names(tmp_path: Path) -> None:
    one = "services:\n  a: {image: x, build: {context: .}}\n"
    files = {
        ".env": "COMPOSE_FILE=deploy/one.yml:deploy/two.yml\n",
        "deploy/one.yml": one,
        "deploy/two.yml": "services:\n  a: {shm_size: 2g}\n",
        "sub/compose.yml": "include:\n  - path: [three.yml, four.yml]\nservices:\n  c: {image: x}\n",
        "sub/three.yml": "services:\n  b: {image: x}\n",
        "sub/four.yml": "services:\n  b: {shm_size: 3g}\n",
    }
    found = workloads_of(tmp_path, files)
    assert {name: workload.shm.source for name, workload in found.items()} == {
        "a": ShmSource.SIZE,
        "b": ShmSource.SIZE,
        "c": ShmSource.DEFAULT,
    }


def test_a_service_without_a_command_is_there_to_be_extended(tmp_path: Path) -> None:
    text = "services:\n  base: {image: x}\n  a: {extends: base, command: [y]}\n  b: {extends: {service: a}}\n"
    assert list(workloads_of(tmp_path, {"compose.yaml": text})) == ["a", "b"]


def test_a_build_is_merged_key_by_key(tmp_path: Path) -> None:
    files = {
        "compose.yaml": "services:\n  a: {build: ./src, environment: {A: 1, B: 2}}\n",
        "compose.override.yaml": "services:\n  a: {build: {dockerfile: gpu.Dockerfile, target: train, args: [V=3]}, "
        "environment: [B=3]}\n",
    }
    build = Build(str(tmp_path / "src"), str(tmp_path / "src/gpu.Dockerfile"), "train", arguments=(("V", "3"),))
    found = workloads_of(tmp_path, files)["a"]
    assert found.build == build
    assert found.environment == {"A": "1", "B": "3"}
    remote = {
        "compose.yaml": "services:\n  a: {build: 'https://github.com/x/y.git#main'}\n",
        "compose.override.yaml": "",
    }
    assert workloads_of(tmp_path, remote)["a"].build is None


def test_a_file_beside_the_base_may_be_merged_or_stand_alone(tmp_path: Path) -> None:
    files = {
        "docker-compose.yml": "services:\n  a: {image: x}\n  b: {image: x}\n  c: {image: x, shm_size: 1g}\n",
        "docker-compose.gpu.yml": "services:\n  a: {shm_size: 8g}\n  b: {image: y}\n  c: {image: y}\n  d: {image: y}\n",
    }
    found = [(w.name, w.path.rpartition("/")[2], w.shm.source) for w in plan_of(tmp_path, files).workloads]
    base, variant = "docker-compose.yml", "docker-compose.gpu.yml"
    assert sorted(found) == [
        ("a", base, ShmSource.UNKNOWN),
        ("b", variant, ShmSource.DEFAULT),
        ("b", base, ShmSource.DEFAULT),
        ("c", base, ShmSource.SIZE),
        ("d", variant, ShmSource.DEFAULT),
    ]


def test_what_the_image_does_about_its_memory(tmp_path: Path) -> None:
    compose = "services:\n  a: {build: .}\n"
    mount = "FROM pytorch/pytorch\nRUN mount -o remount,size=8g /dev/shm\n"
    found = workloads_of(tmp_path, {"compose.yaml": compose, "Dockerfile": mount})["a"]
    assert [(flaw.kind, flaw.at.path.rpartition("/")[2], flaw.at.row) for flaw in found.flaws] == [
        (FlawKind.NOT_EFFECTIVE, "Dockerfile", 2)
    ]
    volume = "FROM pytorch/pytorch\nVOLUME /dev/shm\n"
    found = workloads_of(tmp_path, {"compose.yaml": compose, "Dockerfile": volume})["a"]
    assert found.shm.source is ShmSource.UNKNOWN


BASE = "services:\n  a: {image: x}\n"
LARGE = "services:\n  a: {shm_size: 8g}\n"
SMALL = "services:\n  a: {shm_size: 32m}\n"


@pytest.mark.parametrize(
    ("name", "text", "sizes"),
    [
        ("run.sh", "docker compose -f base.yml -f large.yml up -d\n", [8 * GIB]),
        ("run.sh", "F=large.yml\ndocker-compose -f base.yml --file=$F run a\n", [8 * GIB]),
        (
            "run.sh",
            "docker compose -f base.yml -f large.yml up\ndocker compose -f base.yml -f small.yml up\n",
            [32 << 20],
        ),
        ("run.sh", "docker compose -f base.yml -f large.yml up\ndocker compose -f base.yml down\n", [8 * GIB]),
        ("run.sh", "docker compose -f base.yml -f $MORE up\n", ["UNKNOWN"]),
        ("run.sh", "docker compose -f base.yml $ARGS up\n", ["UNKNOWN"]),
        ("Makefile", "up:\n\tdocker compose -f base.yml -f large.yml up\n", [8 * GIB]),
        ("README.md", "```bash\n$ docker compose -f base.yml -f large.yml up\n```\n", [8 * GIB]),
        (
            ".github/workflows/t.yml",
            "jobs: {a: {steps: [{run: docker compose -f base.yml -f large.yml up}]}}",
            [8 * GIB],
        ),
        ("docs/run.md", "```sh\ndocker compose -f base.yml -f large.yml config\n```\n", [8 * GIB]),
        ("run.sh", "docker compose -f none.yml up\n", ["DEFAULT"]),
    ],
)
def test_files_that_a_command_merges(tmp_path: Path, name: str, text: str, sizes: list[object]) -> None:
    plan = plan_of(tmp_path, {name: text, "base.yml": BASE, "large.yml": LARGE, "small.yml": SMALL})
    found = [w.shm.size.value if w.shm.size else w.shm.source.name for w in plan.workloads]
    assert found == sizes


def test_a_swarm_ignores_sizes_and_modes(tmp_path: Path) -> None:
    files = {
        "deploy.sh": "docker stack deploy -c stack.yml train\n",
        "stack.yml": "services:\n  a:\n    image: x\n    shm_size: 8g\n  b:\n    image: x\n    ipc: host\n"
        "  c:\n    image: x\n    volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 8589934592}}]\n",
    }
    found = workloads_of(tmp_path, files)
    assert [(flaw.kind, flaw.at.row) for name in "abc" for flaw in found[name].flaws] == [
        (FlawKind.NOT_EFFECTIVE, 4),
        (FlawKind.NOT_EFFECTIVE, 7),
    ]
    assert found["c"].shm.source is ShmSource.MEMORY
    assert found["a"].launcher.name == "docker stack"
    assert "size: 8589934592" in found["a"].launcher.says(8 * GIB)


def test_variables_of_another_file(tmp_path: Path) -> None:
    files = {
        "run.sh": "docker compose --env-file deploy/gpu.env -f deploy/c.yml up\n",
        "deploy/c.yml": "services:\n  a: {image: x, shm_size: '${SHM}'}\n",
        "deploy/gpu.env": "SHM=2g\n",
        "deploy/.env": "SHM=1g\n",
    }
    found = workloads_of(tmp_path, files)["a"].shm.size
    assert found is not None and found.value == 2 * GIB


def test_the_memory_of_another_service(tmp_path: Path) -> None:
    text = "services:\n  a: {image: x, ipc: 'service:b'}\n  b: {image: x, ipc: shareable%s}\n"
    found = workloads_of(tmp_path, {"compose.yaml": text % ""})
    assert found["a"].shm.source is ShmSource.DEFAULT
    found = workloads_of(tmp_path, {"compose.yaml": text % ", shm_size: 8gb"})
    assert found["a"].shm.source is ShmSource.OTHER_CONTAINER


@pytest.mark.parametrize(
    "text",
    [
        "services:\n  a: &a {image: x, extends: b}\n  b: {extends: a}\n",
        "services:\n  a: {image: x, extends: {file: compose.yaml, service: a}}\n",
        "services:\n  a: {image: x, ipc: 'service:a'}\n",
        "include: [compose.yaml]\nservices:\n  a: {image: x}\n",
        "services:\n  a: &a\n    image: x\n    deploy: *a\n    environment: *a\n    <<: *a\n",
        "x: &a [1]\n"
        + "".join(f"x{n}: &a{n} [*a{n - 1 if n else ''}, *a{n - 1 if n else ''}]\n" for n in range(40))
        + "services:\n  a: {image: x, tmpfs: *a39, volumes: *a39}\n",
    ],
)
def test_cycles_and_bombs_end(tmp_path: Path, text: str) -> None:
    start = time.perf_counter()
    assert list(workloads_of(tmp_path, {"compose.yaml": text}))[:1] == ["a"]
    assert time.perf_counter() - start < 2


def test_other_files_with_services_are_left_alone(tmp_path: Path) -> None:
    files = {
        "services.yaml": "services:\n  _defaults: {autowire: true}\n  App: {arguments: [1]}\n",
        "odd.yaml": "services: &s\n  train: *s\n",
        "list.yaml": "services: [postgres]\n",
        "docker-compose.tmpl.yml": "services:\n  {% for x in y %}\n  a: {image: x}\n  {% endfor %}\n",
        "none.yaml": "services:\n  a:\n",
        "broken.yaml": "services:\n\ta: {image: x}\n",
    }
    plan = plan_of(tmp_path, files)
    assert not plan.workloads
    assert not list(plan.unreadable())


def test_a_broken_compose_file_is_told(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, {"docker-compose.yml": "services:\n  a:\n\timage: x\n"})
    assert [(error.row, error.path.rpartition("/")[2]) for error in plan.unreadable()] == [(3, "docker-compose.yml")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$A", "one"),
        ("${A}x", "onex"),
        ("$$A", "$A"),
        ("${B-two}", "two"),
        ("${E:-two}", "two"),
        ("${E-two}", ""),
        ("${A:-two}", "one"),
        ("${A+yes}", "yes"),
        ("${E:+yes}", ""),
        ("${B:-${C:-${A}}}/x", "one/x"),
        ("${A:?needed}", "one"),
        ("${B:?needed}", None),
        ("${B:+yes}", None),
        ("$B", None),
        ("${", None),
        ("100$", "100$"),
    ],
)
def test_interpolation(text: str, value: str | None) -> None:
    found = interpolated(text, {"A": "one", "E": ""})
    assert (found.text if found.known else None) == value


def test_env_files() -> None:
    text = "# c\nexport A=1 # one\nB='x # y'\nC=\"${A}2\"\nD=\nE=${NONE}\nF\n"
    assert env_file(text) == {"A": "1", "B": "x # y", "C": "12", "D": ""}


def test_env_files_of_the_project_alone_are_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("A=1\n")
    files = {
        "pyproject.toml": "",
        "compose.yaml": "services:\n  a: {image: x, env_file: [../secret, own.env, {path: more.env}]}\n",
        "own.env": "B=2\n",
        "more.env": "C=3\n",
    }
    found = workloads_of(tmp_path / "project", files)
    assert found["a"].environment == {"B": "2", "C": "3"}
