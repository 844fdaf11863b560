"""The versions of torch that a project pins are read from whatever file says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dllint.code.loaders.pins import Pins

OLD_POETRY = """\
[[package]]
category = "main"
name = "torch"
optional = false
python-versions = "*"
version = "0.4.0"
"""
Bounds = tuple[tuple[int, int] | None, tuple[int, int] | None]


def read(folder: Path, **files: str) -> Bounds:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    pins = Pins.read(str(folder))
    return pins.oldest, pins.newest


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("requirements.txt", "numpy\ntorch==1.8.1\ntorchvision==0.9\n", ((1, 8), (1, 8))),
        ("requirements-dev.txt", "torch>=1.7,<1.9  # old\n", ((1, 7), (1, 8))),
        ("requirements.txt", "torch==1.10.0+cu113\n", ((1, 10), (1, 10))),
        (
            "requirements.txt",
            "torch @ https://download.pytorch.org/whl/cu113/torch-1.11.0%2Bcu113-cp39.whl",
            ((1, 11),) * 2,
        ),
        ("requirements.txt", "torch[opt-einsum] ~= 2.1\n", ((2, 1), (2, 99))),
        ("requirements.txt", "torch~=2.1.0\n", ((2, 1), (2, 1))),
        ("requirements.txt", "torch<2\n", (None, (1, 99))),
        ("requirements.txt", "torch<2.0.1\n", (None, (2, 0))),
        ("requirements.txt", "torch != 1.12\n", (None, None)),
        ("requirements.txt", "# torch==1.4\ntorch\npytorch-lightning==1.5\ntorch-scatter==2.0\n", (None, None)),
        (
            "requirements.txt",
            "torch==1.13; python_version < '3.8'\ntorch==2.1; python_version >= '3.8'\n",
            ((1, 13), (2, 1)),
        ),
        ("constraints.txt", "torch<=1.13.1\n", (None, (1, 13))),
        ("requirements/base.txt", "torch==1.7.1\n", ((1, 7), (1, 7))),
        ("requirements.in", "torch>2.2\n", ((2, 2), None)),
        ("pyproject.toml", '[project]\ndependencies = ["torch>=1.9,<2.0", "torchdata"]\n', ((1, 9), (1, 99))),
        ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["torch==1.8.*"]\n', ((1, 8), (1, 8))),
        ("pyproject.toml", '[dependency-groups]\ntrain = ["torch>=2.4"]\n', ((2, 4), None)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^1.13"\n', ((1, 13), (1, 99))),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\ntorch = {version = "~1.13", source = "cpu"}\n',
            ((1, 13), (1, 13)),
        ),
        ("pyproject.toml", '[tool.poetry.group.gpu.dependencies]\ntorch = "1.8.1"\n', ((1, 8), (1, 8))),
        ("pyproject.toml", '[tool.pdm.dev-dependencies]\ntest = ["torch<1.9"]\n', (None, (1, 8))),
        ("pyproject.toml", "[project\ntorch==1.8", (None, None)),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch >=1.6, <1.9\n    numpy\n", ((1, 6), (1, 8))),
        ("setup.py", "setup(install_requires=['numpy', 'torch>=1.4,<=1.7'])\n", ((1, 4), (1, 7))),
        ("environment.yml", "dependencies:\n  - pytorch=1.7.1=py3.8_cuda11\n  - torchvision=0.8\n", ((1, 7), (1, 7))),
        ("environment-gpu.yaml", "dependencies:\n  - pip:\n    - torch==1.12.1\n", ((1, 12), (1, 12))),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.3.1"\n', ((2, 3), (2, 3))),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "1.13.1"\ndescription = ""\n', ((1, 13), (1, 13))),
        ("Pipfile", '[packages]\ntorch = "==1.9.0"\n', ((1, 9), (1, 9))),
        ("Pipfile.lock", '{"default": {"torch": {"hashes": [], "version": "==1.9.0"}}}', ((1, 9), (1, 9))),
        ("notes.txt", "torch==1.4\n", (None, None)),
        ("poetry.lock", OLD_POETRY, ((0, 4), (0, 4))),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.6.0"\n', ((2, 6), (2, 6))),
        ("pixi.toml", '[dependencies]\npytorch = {version = ">=2.2.0,<2.3", channel="pytorch"}\n', ((2, 2), (2, 2))),
        ("pixi.toml", '[feature.gpu.pypi-dependencies]\ntorch = { version = "==2.8.0" }\n', ((2, 8), (2, 8))),
        ("pyproject.toml", '[tool.pixi.dependencies]\npytorch-gpu = "1.8.*"\n', ((1, 8), (1, 8))),
        ("pixi.lock", "- conda: https://a/linux-64/pytorch-1.7.1-py3.8_cuda11.tar.bz2\n", ((1, 7), (1, 7))),
        ("pixi.lock", "- pypi: https://a/whl/torch-2.8.0%2Bcu128-cp311-linux.whl\n", ((2, 8), (2, 8))),
        ("pixi.lock", "- conda: https://a/linux-64/pytorch-cuda-12.4-hc786d27_7.tar.bz2\n", (None, None)),
        ("conda-lock.yml", "  url: https://a/linux-64/pytorch-2.0.1-py3.9_cuda11.8.conda\n", ((2, 0), (2, 0))),
        ("mae_env.yml", "dependencies:\n  - pytorch=1.7.1=py3.8_cuda10\n", ((1, 7), (1, 7))),
        ("env/env.yaml", "dependencies:\n  - pytorch-gpu=1.8\n", ((1, 8), (1, 8))),
        ("pyproject.toml", '[tool.uv]\nexclude-newer-package = { torch = "2099-01-01" }\n', (None, None)),
        (
            "pyproject.toml",
            '[project.optional-dependencies]\ntorch = ["torch==2.6.*", "lightning>=2", "torchmetrics<1.6"]\n',
            ((2, 6), (2, 6)),
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    torch>=1.8\n[options.extras_require]\ntests =\n    torch==1.11.0\n",
            ((1, 8), None),
        ),
    ],
)
def test_one_file(tmp_path: Path, name: str, text: str, expected: Bounds) -> None:
    assert read(tmp_path, **{name: text}) == expected


def test_files_are_alternatives(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch==1.7.1\n", "environment.yml": "- pytorch=1.8\n", "setup.py": '"torch>=1.6"\n'}
    assert read(tmp_path, **files) == ((1, 6), (1, 8))


def test_files_that_exclude_each_other_bound_nothing(tmp_path: Path) -> None:
    files = {"requirements-old.txt": "torch<1.9\n", "requirements.txt": "torch>=2.0\n"}
    assert read(tmp_path, **files) == (None, None)


def test_lists_for_tests_do_not_bound_what_a_package_leaves_open(tmp_path: Path) -> None:
    files = {"setup.py": '"torch>=1.6"\n', "requirements-min.txt": "torch==1.7.1\n"}
    assert read(tmp_path, **files) == ((1, 6), None)


def test_a_list_that_is_open_bounds_nothing(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch>=1.4.0\n", "environment.yml": "- pip:\n  - torch==1.4.0\n"}
    assert read(tmp_path, **files) == ((1, 4), None)


def test_lists_that_are_read_by_others(tmp_path: Path) -> None:
    files = {"requirements.txt": "-r docker/base.txt\nnumpy\n", "docker/base.txt": "torch==1.7.1\n"}
    assert read(tmp_path, **files) == ((1, 7), (1, 7))


@pytest.mark.parametrize(
    ("name", "text", "below", "at_least"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.10,<3.14"\n', True, False),
        ("pyproject.toml", '[project]\nrequires-python = ">=3.10"\n', False, False),
        ("pyproject.toml", '[project]\nrequires-python = ">=3.14"\n', False, True),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "~3.12"\n', True, False),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.9"\n', False, False),
        ("pixi.toml", '[dependencies]\npython = "3.12"\n', True, False),
        ("Pipfile", '[requires]\npython_version = "3.7"\n', True, False),
        ("uv.lock", 'version = 1\nrequires-python = "==3.10.*"\n', True, False),
        ("setup.cfg", "[options]\npython_requires = >=3.6,<3.10\n", True, False),
        ("setup.py", 'setup(python_requires=">=3.6")\n', False, False),
        ("environment.yml", "dependencies:\n  - ipython=8\n  - python=3.8.16=h7a1cb2a_3\n", True, False),
        ("environment.yml", "dependencies:\n  - opencv-python==4.1\n", False, False),
        (".python-version", "3.14.0\n", False, True),
        ("requirements.txt", "torch<2.9\n", True, False),
        ("requirements.txt", "torch==2.9.0\n", False, False),
    ],
)
def test_python(tmp_path: Path, name: str, text: str, below: bool, at_least: bool) -> None:
    read(tmp_path, **{name: text})
    pins = Pins.read(str(tmp_path))
    assert (pins.python_is_below((3, 14)), pins.python_is_at_least((3, 14))) == (below, at_least)


def test_a_package_that_is_open_runs_with_newer_pythons_than_its_developers(tmp_path: Path) -> None:
    read(tmp_path, **{"pyproject.toml": '[project]\nrequires-python = ">=3.9"\n', ".python-version": "3.11\n"})
    pins = Pins.read(str(tmp_path))
    assert not pins.python_is_below((3, 14))


def test_questions(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.9,<2.0\n")
    pins = Pins.read(str(tmp_path))
    assert pins.torch_is_below((2, 0))
    assert not pins.torch_is_below((1, 99))
    assert pins.torch_is_at_least((1, 9))
    assert not pins.torch_is_at_least((1, 10))


def test_a_project_without_pins(tmp_path: Path) -> None:
    pins = Pins.read(str(tmp_path / "absent"))
    assert (pins.oldest, pins.newest) == (None, None)
    assert not pins.torch_is_below((2, 0))
    assert not pins.torch_is_at_least((0, 0))


def test_no_number_is_too_long(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"torch>=1.8,<{'9' * 5000}\n")
    assert Pins.read(str(tmp_path)).ranges


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_no_list(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "requirements.txt")
    assert not Pins.read(str(tmp_path)).ranges
