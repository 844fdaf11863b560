"""A run imports only what it uses: a hook on one changed file must not be felt."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dllint import arguments, options
from harness import ROOT

HEAVY = {"libcst", "rich", "flake8", "yaml", "multiprocessing", "concurrent.futures", "asyncio"}
FAULTY = "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=0, prefetch_factor=2)\n"
PROGRAM = """
import atexit, json, sys
atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))
from dllint.cli import main
sys.exit(main())
"""


def modules_after(*arguments: str) -> set[str]:
    """The names of all modules that one run with these arguments has imported."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    assert [finding["code"] for finding in json.loads(result.stdout)] == ["DLL402"]
    return set(json.loads(result.stderr))


def test_a_plain_run_imports_nothing_heavy(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(FAULTY)
    assert modules_after(str(program), "--output-format", "json") & HEAVY == set()


def test_rules_that_have_nothing_to_look_at_are_not_imported(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(FAULTY)
    imported = {name for name in modules_after(str(program), "--output-format", "json") if name.startswith("dllint.")}
    assert "dllint.rules.dll402_prefetch_without_workers" in imported
    assert "dllint.rules.dll302_large_python_container" not in imported, "off by default"
    assert "dllint.rules.dll201_handle_in_init" not in imported, "there is no dataset"
    assert not any(name.startswith("dllint.rules.dll7") for name in imported), "nothing starts a container"
    assert not any(name.startswith("dllint.deploy") for name in imported)


@pytest.mark.parametrize("switches", [[], ["--hook", "--exit-zero", "-q"]], ids=["paths", "switches"])
def test_what_hooks_give_needs_no_parser(tmp_path: Path, switches: list[str]) -> None:
    program = tmp_path / "train.py"
    program.write_text(FAULTY)
    words = [sys.executable, "-c", PROGRAM, "check", *switches, str(program)]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "DLL402" in result.stdout
    assert "argparse" not in json.loads(result.stderr)


@pytest.mark.parametrize(
    "words", [["-q", "a"], ["--hook"], ["--exit-zero", "a", "-v", "b"], ["--no-color", "--quiet"], []]
)
def test_switches_mean_the_same_without_a_parser(words: list[str]) -> None:
    quick, read = arguments.parse(words), arguments.Arguments()
    options.read(words, read)
    switches = set(vars(quick)) - {"paths"}
    assert {name: getattr(read, name) for name in switches} == dict.fromkeys(switches, True)
    assert list(quick.paths) == (list(read.paths) or ([] if read.hook else ["."]))


MANIFEST = """apiVersion: v1
kind: Pod
metadata: {name: fit}
spec:
  containers:
    - {name: fit, image: "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime", command: [python, train.py]}
"""


def test_a_project_without_python_imports_none_of_what_python_means(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    words = [sys.executable, "-c", PROGRAM, "check", "--isolated", str(tmp_path)]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "DLL701" in result.stdout
    imported = set(json.loads(result.stderr))
    assert "dllint.deploy.evidence" in imported
    unused = ("facts", "apis", "language.evaluator", "loaders.loader")
    assert imported & {f"dllint.code.{name}" for name in unused} == set()


COMPILING = """
import importlib, pkgutil, re, sys
import dllint

compile_, compiled = re.compile, []

def spying(*arguments):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == "dllint.patterns":
        frame = frame.f_back
    name = frame.f_globals["__name__"]
    # The doctor of logs searches a log for all that it knows.
    compiled.extend([name] if name.startswith("dllint.") and not name.startswith("dllint.diagnose.") else [])
    return compile_(*arguments)

re.compile = spying
for module in pkgutil.walk_packages(dllint.__path__, "dllint."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(*compiled)
"""


def test_no_module_compiles_patterns_when_it_is_imported() -> None:
    words = [sys.executable, "-c", COMPILING]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == [], "use `dllint.patterns.pattern`"


ALONE = """
import importlib, pathlib, sys

root, room = map(pathlib.Path, sys.argv[1:])
for path in sorted((root / room).rglob("*.py")):
    for name in [name for name in sys.modules if name.partition(".")[0] in ("dllint", "rules")]:
        del sys.modules[name]
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""
ROOMS = ["rules", *(f"dllint/code/{path.name}" for path in sorted((ROOT / "dllint/code").iterdir()) if path.is_dir())]


@pytest.mark.parametrize("room", [room for room in ROOMS if not room.endswith("__")])
def test_each_module_can_be_the_first_that_is_imported(room: str) -> None:
    words = [sys.executable, "-c", ALONE, str(ROOT), room]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "", "rules are imported one by one: an import circle breaks `--select` of one of them"
