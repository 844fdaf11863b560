"""Containers that docker starts: options of `docker run`, Dockerfiles, Python, job containers and devcontainers."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import plan_of

from dllint.deploy import images
from dllint.deploy.environment import Environment
from dllint.deploy.images import Image
from dllint.deploy.runs import started
from dllint.deploy.workload import FlawKind, ShmSource, Workload

GIB = 1 << 30
IMAGE = "pytorch/pytorch"


def one(folder: Path, files: dict[str, str]) -> Workload:
    """The only workload of a project."""
    (workload,) = plan_of(folder, files).workloads
    return workload


def run(folder: Path, options: str, before: str = "") -> Workload:
    """What `docker run` with these options starts."""
    return one(folder, {"run.sh": f"{before}docker run {options} {IMAGE} python train.py\n"})


OPTIONS: dict[str, tuple[ShmSource, int | None]] = {
    "": (ShmSource.DEFAULT, None),
    "-itd --rm --gpus all -p 80:80 -v $PWD:/w -e A=b --name x": (ShmSource.DEFAULT, None),
    "--shm-size=8g": (ShmSource.SIZE, 8 * GIB),
    "--shm-size '8 GiB'": (ShmSource.SIZE, 8 * GIB),
    "--shm-size=0": (ShmSource.SIZE, 64 << 20),
    "--shm-size=1g --shm-size=2g": (ShmSource.SIZE, 2 * GIB),
    "--shm-size=$SIZE": (ShmSource.UNKNOWN, None),
    "--ipc=host": (ShmSource.HOST, None),
    "--ipc shareable": (ShmSource.DEFAULT, None),
    "--ipc=container:a": (ShmSource.OTHER_CONTAINER, None),
    "--ipc=$MODE": (ShmSource.UNKNOWN, None),
    "-v /dev/shm:/dev/shm": (ShmSource.HOST, None),
    "-v/dev/shm:/dev/shm:rw": (ShmSource.HOST, None),
    "-itv /dev/shm:/dev/shm/": (ShmSource.HOST, None),
    "-v cache:/dev/shm": (ShmSource.DISK, None),
    "-v $HERE:/dev/shm": (ShmSource.UNKNOWN, None),
    "-v /data:/dev/shm/cache": (ShmSource.DEFAULT, None),
    "--tmpfs /dev/shm": (ShmSource.MEMORY, None),
    "--tmpfs /dev/shm:rw,size=50%": (ShmSource.MEMORY, None),
    "--tmpfs /dev/shm:rw,size=4g": (ShmSource.MEMORY, 4 * GIB),
    "--tmpfs /tmp:size=4g": (ShmSource.DEFAULT, None),
    "--mount type=tmpfs,dst=/dev/shm,tmpfs-size=4gb": (ShmSource.MEMORY, 4 * GIB),
    "--mount type=bind,source=/dev/shm,target=/dev/shm": (ShmSource.HOST, None),
    "--mount source=x,target=/dev/shm": (ShmSource.DISK, None),
    "--tmpfs /dev/shm --shm-size=8g --ipc=host": (ShmSource.MEMORY, None),
    "$OPTIONS": (ShmSource.UNKNOWN, None),
    "-e A=$B --name $NAME": (ShmSource.DEFAULT, None),
}


@pytest.mark.parametrize("options", OPTIONS)
def test_shared_memory(tmp_path: Path, options: str) -> None:
    source, size = OPTIONS[options]
    shm = run(tmp_path, options).shm
    assert (shm.source, shm.size.value if shm.size is not None else None) == (source, size)


@pytest.mark.parametrize(
    ("options", "column", "text"),
    [
        ("--shm-size=8Gi", 23, "8Gi"),
        ("--shm-size 8Gi", 23, "8Gi"),
        ("--tmpfs /dev/shm:rw,size=8gb", 37, "8gb"),
        ("--mount type=tmpfs,target=/dev/shm,tmpfs-size=8Gi", 58, "8Gi"),
    ],
)
def test_refused_sizes(tmp_path: Path, options: str, column: int, text: str) -> None:
    workload = run(tmp_path, options)
    (flaw,) = workload.flaws
    assert flaw.kind is FlawKind.REFUSED
    assert (flaw.at.row, flaw.at.column, flaw.at.end_column) == (1, column, column + len(text))
    assert workload.shm.size is not None and workload.shm.size.value is None


def test_podman_takes_zero_for_no_limit(tmp_path: Path) -> None:
    workload = one(tmp_path, {"run.sh": f"podman run --shm-size=0 {IMAGE}\n"})
    assert workload.shm.source is ShmSource.MEMORY and workload.shm.size is None
    assert workload.launcher.name == "podman run"


def test_limits_and_words(tmp_path: Path) -> None:
    workload = run(
        tmp_path,
        "-m 4g --cpus=2.5 --ulimit nofile=1024:4096 --ulimit memlock=-1 --gpus all -e A=1 -e B -w /w --entrypoint bash",
    )
    assert workload.memory_limit is not None and workload.memory_limit.value == 4 * GIB
    assert workload.cpu_limit is not None and workload.cpu_limit.value == 2.5
    assert workload.nofile is not None and workload.nofile.value == 1024
    assert workload.gpus and workload.workdir == "/w"
    assert workload.environment == {"A": "1", "B": None}
    assert workload.start.words == ("bash", "python", "train.py")
    assert workload.image is not None and workload.image.value == IMAGE


def test_a_size_beside_host_ipc_is_ignored(tmp_path: Path) -> None:
    workload = run(tmp_path, "--ipc=host --shm-size=8g")
    assert workload.host_ipc is not None and workload.ignored_size is not None


@pytest.mark.parametrize(
    "command",
    [
        "nvidia-docker run x",
        "docker container run x",
        "docker create x",
        "docker --context gpu run x",
        "sudo -E docker run x",
        "$DOCKER run x",
        "ssh h 'docker run x'",
        "docker run $IMAGE",
        "docker run --rm ${REGISTRY}/x:$TAG",
    ],
)
def test_spellings_of_the_command(tmp_path: Path, command: str) -> None:
    assert one(tmp_path, {"run.sh": command}).shm.source is ShmSource.DEFAULT


@pytest.mark.parametrize(
    "command", ["docker exec x y", "docker build .", "docker run", "echo docker run x", "docker-compose run x"]
)
def test_other_commands_run_nothing(tmp_path: Path, command: str) -> None:
    assert plan_of(tmp_path, {"run.sh": command}).workloads == []


# Images


def image(folder: Path, text: str) -> Image:
    plan = plan_of(folder, {"Dockerfile": text})
    (file,) = plan.files.values()
    found = images.of_file(file, plan)
    assert found is not None
    return found


def test_the_final_stage_and_what_it_starts_from(tmp_path: Path) -> None:
    found = image(
        tmp_path,
        "ARG T=2.4\nARG B=pytorch/pytorch:${T}-${C:-cuda}\nFROM golang AS tools\nFROM $B AS base\nWORKDIR /app\n"
        'ENTRYPOINT ["python"]\nRUN pip install timm\nFROM base\nWORKDIR src\nCOPY train.py util/ ./\n'
        'COPY --from=tools /go/bin/x /usr/bin/\nCMD ["train.py"]\nLABEL a=b c="d e"\n',
    )
    assert found.base == "pytorch/pytorch:2.4-cuda"
    assert found.at.row == 8
    assert found.workdir == "/app/src"
    assert found.command == ("python", "train.py")
    assert found.labels == {"a": "b", "c": "d e"}
    assert [run.text for run in found.runs] == ["pip install timm"]
    assert [(copy.source, copy.target) for copy in found.copies] == [
        ("train.py", "/app/src/train.py"),
        ("util/", "/app/src"),
    ]


def test_packages_come_out_of_another_stage(tmp_path: Path) -> None:
    found = image(
        tmp_path,
        "FROM python AS build\nRUN pip install torch\nCOPY train.py /src/\n"
        "FROM debian\nCOPY --from=build /opt/venv /opt/venv\nCOPY --from=build /src /app\n",
    )
    assert found.bases == ["debian", "python"]
    assert [run.text for run in found.runs] == ["pip install torch"]
    assert [(copy.source, copy.target) for copy in found.copies] == [("train.py", "/app/train.py")]


def test_a_new_entry_point_forgets_the_command(tmp_path: Path) -> None:
    text = 'FROM a AS b\nCMD ["x"]\nFROM b\nENTRYPOINT python train.py\n'
    assert image(tmp_path, text).command == ("/bin/sh", "-c", "python train.py")


def test_what_is_not_known_of_a_base_stays_as_written(tmp_path: Path) -> None:
    assert image(tmp_path, "ARG TAG\nFROM pytorch/pytorch:${TAG}\n").base == "pytorch/pytorch:${TAG}"


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("RUN a \\\n && mount -o remount,size=8g /dev/shm", 2),
        ("RUN echo 'tmpfs /dev/shm tmpfs size=8g 0 0' >>/etc/fstab", 2),
        ("RUN --mount=type=tmpfs,target=/dev/shm,size=1 df", 2),
        ("RUN <<E\nmount -o remount,size=8g /dev/shm\nE", 2),
        ("COPY <<E /etc/fstab\ntmpfs /dev/shm tmpfs size=8g 0 0\nE", 2),
        ("ONBUILD RUN mount -o remount,size=8g /dev/shm", 2),
    ],
)
def test_builds_that_try_to_change_shared_memory(tmp_path: Path, line: str, row: int) -> None:
    (flaw,) = image(tmp_path, f"FROM a\n{line}\n").flaws
    assert (flaw.kind, flaw.at.row) == (FlawKind.NOT_EFFECTIVE, row)


@pytest.mark.parametrize(
    "line", ["RUN df /dev/shm", "RUN mount /data", "RUN echo mount /dev/shm", "COPY fstab /etc/fstab"]
)
def test_other_builds_do_not(tmp_path: Path, line: str) -> None:
    assert image(tmp_path, f"FROM a\n{line}\n").flaws == []


@pytest.mark.parametrize("line", ["VOLUME /dev/shm", 'volume ["/data", "/dev/shm/"]', "ENV S=/dev/shm\nVOLUME $S"])
def test_a_volume_over_shared_memory_is_on_disk(tmp_path: Path, line: str) -> None:
    assert image(tmp_path, f"FROM a\n{line}\n").shm.source is ShmSource.DISK


BUILDS = [
    ("docker build -t me/x .", "docker run me/x"),
    ("docker build --tag=me/x:1 -f Dockerfile .", "docker run docker.io/me/x:1"),
    ("docker buildx build --load . -t me/x:$TAG", "docker run me/x:latest"),
    ("podman build -t me/x - <Dockerfile; docker image build -t me/x ./", "docker run me/x"),
]


@pytest.mark.parametrize(("build", "command"), BUILDS)
def test_a_tag_leads_to_the_dockerfile(tmp_path: Path, build: str, command: str) -> None:
    plan = plan_of(tmp_path, {"Dockerfile": "FROM pytorch/pytorch\n", "run.sh": f"{build}\n{command}\n"})
    (workload,) = (found for found in plan.workloads if found.launcher.name == "docker run")
    found = images.built_for(workload, plan)
    assert found is not None and found.base == IMAGE


def test_a_size_for_the_build_does_not_reach_the_container(tmp_path: Path) -> None:
    files = {"Dockerfile": "FROM a\n", "Makefile": "a:\n\tdocker build --shm-size=8g -t x .\n\tdocker run x\n"}
    (workload,) = (found for found in plan_of(tmp_path, files).workloads if found.name != "Dockerfile" and found.flaws)
    (flaw,) = workload.flaws
    assert (flaw.kind, flaw.at.row, flaw.at.column) == (FlawKind.NOT_EFFECTIVE, 2, 26)


# Python

CODE = """import os
import subprocess
import docker
from docker.types import Mount, Ulimit
IMAGE = "pytorch/pytorch"

def start(extra, data):
    client = docker.from_env()
"""


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ('subprocess.run(["docker", "run", "--gpus", "all", IMAGE, "python", "train.py"])', ShmSource.DEFAULT),
        ('subprocess.run(["sudo", "docker", "run", "--shm-size", "8g", IMAGE])', ShmSource.SIZE),
        ('subprocess.run(["docker", "run", *extra, IMAGE])', ShmSource.UNKNOWN),
        ('subprocess.run(["docker", "run"] + extra + [IMAGE])', ShmSource.UNKNOWN),
        ('c = ["docker", "run"]\n    c += ["--ipc", "host"]\n    c.append(IMAGE)', ShmSource.HOST),
        ('subprocess.run(["docker", "run", "-v", f"{data}:/data", IMAGE])', ShmSource.DEFAULT),
        ('os.system(f"docker run -v {data}:/data {IMAGE} python train.py")', ShmSource.DEFAULT),
        ('subprocess.check_call("docker run %s pytorch/pytorch" % extra, shell=True)', ShmSource.UNKNOWN),
        ("client.containers.run(IMAGE, 'python train.py')", ShmSource.DEFAULT),
        ("client.containers.run(IMAGE, shm_size='8g')", ShmSource.SIZE),
        ("client.containers.run(IMAGE, shm_size=None)", ShmSource.DEFAULT),
        ("client.containers.create(IMAGE, ipc_mode='host')", ShmSource.HOST),
        ("client.containers.run(IMAGE, tmpfs={'/dev/shm': 'size=8g'})", ShmSource.MEMORY),
        ("client.containers.run(IMAGE, volumes={'/dev/shm': {'bind': '/dev/shm', 'mode': 'rw'}})", ShmSource.HOST),
        ("client.containers.run(IMAGE, volumes=['/dev/shm:/dev/shm'])", ShmSource.HOST),
        ("client.containers.run(IMAGE, mounts=[Mount('/dev/shm', None, type='tmpfs')])", ShmSource.MEMORY),
        ("client.containers.run(IMAGE, **extra)", ShmSource.UNKNOWN),
        ("client.containers.run(IMAGE, shm_size=extra)", ShmSource.UNKNOWN),
    ],
)
def test_python(tmp_path: Path, statement: str, source: ShmSource) -> None:
    workload = one(tmp_path, {"start.py": f"{CODE}    {statement}\n"})
    assert workload.shm.source is source
    assert workload.image is not None and workload.image.value == IMAGE


def test_the_sdk_has_a_grammar_of_its_own(tmp_path: Path) -> None:
    workload = one(tmp_path, {"start.py": f"{CODE}    client.containers.run(IMAGE, shm_size='8GiB')\n"})
    assert [flaw.kind for flaw in workload.flaws] == [FlawKind.REFUSED]


def test_what_python_does_not_give_docker(tmp_path: Path) -> None:
    code = "import subprocess\nx.containers.run('a')\nsubprocess.run(['podman', 'ps'])\nNAMES = ['docker', 'other']\n"
    assert plan_of(tmp_path, {"start.py": code}).workloads == []


# Jobs and devcontainers


@pytest.mark.parametrize(
    ("container", "source", "rows"),
    [
        ("container: pytorch/pytorch", ShmSource.DEFAULT, (4, 4)),
        ("container:\n      image: pytorch/pytorch", ShmSource.DEFAULT, (4, 5)),
        ("container:\n      image: pytorch/pytorch\n      options: --gpus all", ShmSource.DEFAULT, (6, 6)),
        ("container:\n      image: pytorch/pytorch\n      options: --ipc=host", ShmSource.HOST, (6, 6)),
        (
            "container:\n      image: pytorch/pytorch\n      options: >-\n        --gpus all\n        --shm-size 8g",
            ShmSource.SIZE,
            (6, 6),
        ),
        ("container:\n      image: pytorch/pytorch\n      options: ${{ matrix.options }}", ShmSource.UNKNOWN, (6, 6)),
        ("container:\n      image: pytorch/pytorch\n      volumes: [/dev/shm:/dev/shm]", ShmSource.HOST, (4, 5)),
    ],
)
def test_github_jobs(tmp_path: Path, container: str, source: ShmSource, rows: tuple[int, int]) -> None:
    text = f"on: push\njobs:\n  train:\n    {container}\n    steps:\n      - run: python train.py\n"
    workload = one(tmp_path, {".github/workflows/train.yml": text})
    assert workload.shm.source is source
    assert (workload.at.row, workload.at.end_row) == rows
    assert workload.start.words == ("python train.py",)


def test_gitlab_jobs(tmp_path: Path) -> None:
    text = "image: python\ntrain:\n  image: {name: pytorch/pytorch}\n  script: [a, python train.py]\n.hidden:\n  x: y\n"
    workload = one(tmp_path, {".gitlab-ci.yml": text})
    assert (workload.name, workload.at.row, workload.start.words) == ("train", 3, ("a\npython train.py",))


@pytest.mark.parametrize(
    ("text", "source", "row"),
    [
        ('{\n // x\n "image": "pytorch/pytorch",\n}', ShmSource.DEFAULT, 3),
        ('{"build": {"dockerfile": "Dockerfile"},\n "runArgs": ["--gpus", "all"]}', ShmSource.DEFAULT, 2),
        ('{"image": "pytorch/pytorch", "runArgs": ["--ipc=host"]}', ShmSource.HOST, 1),
        ('{"image": "pytorch/pytorch", "runArgs": ["--shm-size", "${localEnv:SHM}"]}', ShmSource.UNKNOWN, 1),
        ('{"image": "pytorch/pytorch", "mounts": ["type=tmpfs,target=/dev/shm"]}', ShmSource.MEMORY, 1),
    ],
)
def test_devcontainers(tmp_path: Path, text: str, source: ShmSource, row: int) -> None:
    workload = one(tmp_path, {".devcontainer/devcontainer.json": text})
    assert (workload.shm.source, workload.at.row) == (source, row)


def test_run_arguments_beside_a_compose_file_are_not_read(tmp_path: Path) -> None:
    files = {
        ".devcontainer/devcontainer.json": (
            '{"dockerComposeFile": "a.yml", "service": "dev", "runArgs": ["--shm-size=8g"]}'
        ),
        ".devcontainer/a.yml": "services:\n  dev:\n    image: pytorch/pytorch\n  other:\n    image: pytorch/pytorch\n",
    }
    found = {workload.name: workload for workload in plan_of(tmp_path, files).workloads}
    (flaw,) = found["dev"].flaws
    assert flaw.kind is FlawKind.NOT_EFFECTIVE and flaw.at.path.endswith("devcontainer.json")
    assert found["other"].flaws == []


# What it runs


def test_of_several_scripts_with_a_name_the_nearest_runs(tmp_path: Path) -> None:
    train = (
        "from torch.utils.data import DataLoader\nfor x in DataLoader(list(range(9)), num_workers=2):\n    print(x)\n"
    )
    files = {
        "a/run.sh": "python train.py\n",
        "a/train.py": train,
        "b/run.sh": "python serve.py\n",
        "b/serve.py": "print(1)\n",
        "b/README.md": f"```sh\ndocker run {IMAGE} ./run.sh\n```\n",
    }
    plan = plan_of(tmp_path, files)
    (workload,) = plan.workloads
    runs = [each.run for each in started(workload.start.words, workload.folder, plan, Environment())]
    modules = [run.module for run in runs if run is not None and run.module is not None]
    assert [module.path.rpartition("/")[2] for module in modules] == ["serve.py"]


def test_a_loader_counts_where_the_script_imports_it(tmp_path: Path) -> None:
    loader = "from torch.utils.data import DataLoader\ndef load():\n    return DataLoader([1], num_workers=2)\n"
    scripts_of = {"p/a.py": "import utils\nutils.load()\n", "q/b.py": "import utils\n"}
    files = {"p/utils.py": loader, "q/utils.py": "X = 1\n", **scripts_of}
    plan = plan_of(tmp_path, files)
    scripts = {module.path.rpartition("/")[2]: module for module in plan.program.modules.by_file.values()}
    assert len(plan.loaders_of(scripts["a.py"])) == 1
    assert plan.loaders_of(scripts["b.py"]) == []


def test_a_loader_does_not_count_where_the_script_only_imports_what_builds_it(tmp_path: Path) -> None:
    helpers = "from torch.utils.data import DataLoader\ndef scan(data):\n    return DataLoader(data, num_workers=2)\n"
    files = {
        "helpers.py": helpers + "def shown(model):\n    print(model)\n",
        "show.py": "from helpers import shown\nshown(1)\n",
        "train.py": "import helpers\nhelpers.scan([1])\n",
        "both.py": "import show, train\n",
    }
    plan = plan_of(tmp_path, files)
    scripts = {module.path.rpartition("/")[2]: module for module in plan.program.modules.by_file.values()}
    found = {name: len(plan.loaders_of(scripts[name])) for name in ("show.py", "train.py", "both.py")}
    assert found == {"show.py": 0, "train.py": 1, "both.py": 1}
