"""How sure a finding of DLL701 is, by what is seen of a container: a shell in an image is less than a training."""

from pathlib import Path

import pytest

from dllint.finding import Finding, Severity
from harness import lint_texts

IMAGE = "pytorch/pytorch:2.8.0-cuda12.9-cudnn9-devel"
LOADS = """
from torch.utils.data import DataLoader

from scans import Scans

for scan in DataLoader(Scans(), batch_size=64, num_workers={workers}):
    print(scan)
"""
GIVEN = f"docker run --gpus all --shm-size=8g {IMAGE} python train.py\n"
ASKED = f"import sys\n{LOADS.format(workers='int(sys.argv[1])')}"


def found_in(files: dict[str, str]) -> Finding:
    (finding,) = (each for each in lint_texts(files, "DLL701") if each.code == "DLL701")
    return finding


@pytest.mark.parametrize(
    ("command", "code", "severity", "says"),
    [
        ("bash", {}, Severity.WARNING, "may train"),
        ("bash", {"train.py": LOADS.format(workers="4")}, Severity.ERROR, "train.py starts DataLoader workers"),
        ("bash", {"examples/mnist/main.py": LOADS.format(workers="4")}, Severity.WARNING, "may train"),
        ("bash", {"benchmarks/speed.py": LOADS.format(workers="4")}, Severity.WARNING, "may train"),
        ("bash", {"train.py": ASKED}, Severity.WARNING, "may train"),
        ("bash", {"train.py": LOADS.format(workers="4"), "train.sh": GIVEN}, Severity.WARNING, "may train"),
        ("python train.py", {}, Severity.ERROR, "trains with PyTorch"),
        ("torchrun main.py", {}, Severity.ERROR, "trains with PyTorch"),
        ("torchrun --nproc_per_node=1 main.py", {}, Severity.ERROR, "trains with PyTorch"),
        ("torchrun --nproc_per_node=1 train.py 4", {"train.py": ASKED}, Severity.WARNING, "nobody sees whether"),
        ("torchrun --nproc_per_node=8 train.py 4", {"train.py": ASKED}, Severity.ERROR, "trains with PyTorch"),
    ],
)
def test_a_container_of_which_only_the_image_speaks_may_train(
    command: str, code: dict[str, str], severity: Severity, says: str
) -> None:
    files = {"run.sh": f"docker run --rm -it --gpus all -v $PWD:/work {IMAGE} {command}\n", **code}
    finding = found_in(files)
    assert finding.severity is severity
    assert says in finding.message


def test_the_loader_that_lies_next_to_the_image_is_told() -> None:
    near = {f"{folder}/train.py": LOADS.format(workers="4") for folder in ("audio", "vision", "words")}
    finding = found_in({"vision/docker/run.sh": f"docker run -it -v $PWD:/work {IMAGE} bash\n", **near})
    assert [Path(related.location.path).parts[-2:] for related in finding.related] == [("vision", "train.py")]


@pytest.mark.parametrize(
    ("dockerfile", "options", "says"),
    [
        ("COPY . /work", "", "trains with PyTorch"),
        ("RUN git clone https://github.com/someone/scans /work", "", "trains with PyTorch"),
        ("COPY $FROM /work", "", "trains with PyTorch"),
        ("COPY package /work/package", "-v $PWD:/work", "trains with PyTorch"),
        ("COPY package /work/package", "", "may train with PyTorch"),
        ("COPY package /work/package", "-v /tmp/.X11-unix:/tmp/.X11-unix -v ~/.cache:/root/.cache", "may train"),
        ("COPY package /work/package", "-v /tmp/.X11-unix:/tmp/.X11-unix -v /srv/scans:/work", "trains with PyTorch"),
    ],
)
def test_a_loader_counts_in_a_shell_where_it_may_lie_in_the_container(dockerfile: str, options: str, says: str) -> None:
    files = {
        "run.sh": f"docker build -t scans .\ndocker run --rm -it --gpus all {options} scans bash\n",
        "Dockerfile": f"FROM {IMAGE}\n{dockerfile}\n",
        "package/model.py": "import torch\n",
        "scripts/train.py": LOADS.format(workers="4"),
    }
    assert says in found_in(files).message


def test_a_container_beside_one_that_is_given_memory_may_train() -> None:
    files = {
        "compose.yaml": "services:\n  dev:\n    build: .\n    volumes: [.:/work]\n    command: bash\n"
        "  train:\n    build: .\n    ipc: host\n    command: python train.py\n",
        "Dockerfile": f"FROM {IMAGE}\n",
        "train.py": LOADS.format(workers="4"),
    }
    assert found_in(files).severity is Severity.WARNING


def test_the_script_is_told_and_the_file_of_its_loader() -> None:
    files = {
        "run.sh": f"docker run --gpus all -v $PWD:/work {IMAGE} python train.py\n",
        "train.py": "import batches\n\nbatches.load()\n",
        "batches.py": "from torch.utils.data import DataLoader\nfrom scans import Scans\n\n\n"
        "def load():\n    for scan in DataLoader(Scans(), batch_size=64, num_workers=4):\n        print(scan)\n",
    }
    assert "train.py, which it runs, starts DataLoader workers in batches.py" in found_in(files).message
