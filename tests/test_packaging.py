"""What is shipped: the packages of pyproject.toml are those on disk, and the wheel works away from the source tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from harness import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOPS = ("dllint", "rules")
SOURCES = (*TOPS, "pyproject.toml", "README.md", "LICENSE")
LEADS_BACK = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables that lead Python to the source tree or to the environment of the tests."""

FAULTY = "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=0, prefetch_factor=2)\n"


def packages_on_disk() -> set[str]:
    folders = [path.parent.relative_to(ROOT) for top in TOPS for path in (ROOT / top).rglob("__init__.py")]
    names = {".".join(folder.parts) for folder in folders}
    return {name if name.split(".")[0] == "dllint" else f"dllint.{name}" for name in names}


def test_the_package_list_is_complete() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert settings["packages"] == sorted(settings["packages"])
    assert set(settings["packages"]) == packages_on_disk()
    assert settings["package-dir"] == {"dllint": "dllint", "dllint.rules": "rules"}


def test_no_module_stands_outside_a_package() -> None:
    modules = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    assert [path for path in modules if not (path.parent / "__init__.py").exists()] == []


def output(*command: str | Path, cwd: Path | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in LEADS_BACK}
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that has nothing but the built wheel and what it depends on."""
    # In a copy: setuptools leaves build/ and *.egg-info in the source tree, and takes stale modules out of build/.
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        origin = ROOT / name
        shutil.copytree(origin, source / name) if origin.is_dir() else shutil.copy(origin, source)
    wheels = tmp_path_factory.mktemp("wheels")
    output(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, source)
    (wheel,) = wheels.glob("dllint-*.whl")
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    output(python, "-m", "pip", "install", "-q", wheel)
    return python


def test_the_wheel_works_from_elsewhere(python: Path, tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(FAULTY)
    found = output(python.parent / "dllint", program, "--output-format", "json", "--exit-zero", cwd=tmp_path)
    assert [finding["code"] for finding in json.loads(found)] == ["DLL402"]


def test_the_wheel_holds_all_rules(python: Path, tmp_path: Path) -> None:
    rules = json.loads(output(python.parent / "dllint", "rules", "--output-format", "json", cwd=tmp_path))
    assert len(rules) == len(list((ROOT / "rules").glob("dll*.py")))


def test_the_wheel_brings_no_top_level_package_of_its_own_but_dllint(python: Path, tmp_path: Path) -> None:
    program = "import importlib.util as u; print([u.find_spec(name) for name in ('rules', 'tests', 'fixtures')])"
    assert output(python, "-c", program, cwd=tmp_path).strip() == "[None, None, None]"


def test_the_wheel_is_typed_and_licensed(python: Path, tmp_path: Path) -> None:
    program = "import importlib.metadata as m; print(*m.files('dllint'), sep='\\n')"
    names = output(python, "-c", program, cwd=tmp_path).splitlines()
    assert "dllint/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
