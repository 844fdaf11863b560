"""`dllint doctor` in environments of its own making: little shared memory, few files, one processor, no loaders."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import FIXTURES

KNOWN = FIXTURES / "DLL702" / "bad_below_the_need"
"""Six workers, batches of 96 MB."""
UNKNOWN = FIXTURES / "DLL702" / "good_need_unknown"
DOCTOR = [sys.executable, "-m", "dllint", "doctor", "--isolated"]


def doctor(*words: str, before: list[str] | None = None, limits: Callable[[], None] | None = None) -> tuple[int, Any]:
    command = [*(before or []), *DOCTOR, *words, "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limits, timeout=60)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def budget(found: Any, name: str) -> Any:
    return next(item for item in found["budgets"] if item["name"] == name)


def with_shm_of(size: str) -> list[str]:
    """Words before a command that give it a /dev/shm of `size`; skips the test where that is not permitted."""
    script = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
    words = ["unshare", "-m", "sh", "-c", script, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("a mount namespace of one's own is not permitted here")
    return words


def test_a_small_shared_memory_does_not_fit() -> None:
    status, found = doctor(str(KNOWN), before=with_shm_of("64m"))
    shm = budget(found, "shared memory")
    assert status == 1
    assert (shm["verdict"], shm["have"]) == ("does not fit", 64 << 20)
    assert shm["need"] == (6 * 2 + 2) * 128 * 3 * 256 * 256 * 4
    assert "train.py:" in shm["text"]


def test_a_large_shared_memory_fits() -> None:
    _, found = doctor(str(KNOWN), before=with_shm_of("4g"))
    assert budget(found, "shared memory")["verdict"] == "fits"


def test_the_user_can_say_how_large_a_batch_is() -> None:
    before = with_shm_of("64m")
    assert budget(doctor(str(UNKNOWN), before=before)[1], "shared memory")["verdict"] == "cannot tell"
    status, found = doctor(str(UNKNOWN), "--batch-bytes", "100MB", before=before)
    assert status == 1
    assert budget(found, "shared memory")["need"] == 10 * (100 << 20)


def test_few_open_files_do_not_fit() -> None:
    status, found = doctor(str(KNOWN), limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    assert status == 1
    assert budget(found, "open files")["verdict"] == "does not fit"
    assert budget(found, "open files")["have"] == 256


def test_one_processor_is_too_few_for_six_workers() -> None:
    before = ["taskset", "-c", "0"]
    if shutil.which("taskset") is None:
        pytest.skip("taskset is not installed")
    _, found = doctor(str(KNOWN), before=before)
    assert budget(found, "processors")["have"] == 1
    assert budget(found, "processors")["verdict"] == "does not fit"


def test_a_project_without_loaders_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(1)\n")
    status, found = doctor(str(tmp_path))
    assert status == 0
    assert found["verdict"] == "fits"
    for name in ("shared memory", "memory", "processors"):
        assert budget(found, name)["text"].startswith("there are no loaders to fit")
        assert (budget(found, name)["verdict"], budget(found, name)["need"]) == ("fits", 0)


def test_loaders_without_workers_need_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "from torch.utils.data import DataLoader\n\nfor batch in DataLoader([1, 2]):\n    print(batch)\n"
    )
    status, found = doctor(str(tmp_path))
    assert status == 0
    assert budget(found, "processors")["text"].startswith("no loader has workers")


def test_a_missing_path_is_named() -> None:
    done = subprocess.run([*DOCTOR, "no/such/folder"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no/such/folder" in done.stderr


def test_a_sample_that_an_inner_function_gives_is_not_taken_for_the_datasets(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""
import torch
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        def inner():
            return torch.zeros(self.sides(index))

        return (lambda: inner())()


if __name__ == "__main__":
    for batch in DataLoader(Shapes(), batch_size=4, num_workers=2):
        print(batch)
""")
    _, found = doctor(str(tmp_path))
    assert budget(found, "shared memory")["verdict"] == "cannot tell"
