"""What is read off the machine, with files of the test's own making in place of the system's."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.machine import Files, default_start_method, look

GIB = 1 << 30


def machine_with(root: Path, files: dict[str, str]) -> Files:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Files(str(root))


def test_a_quota_and_a_limit_of_cgroups_2(tmp_path: Path) -> None:
    files = machine_with(
        tmp_path,
        {
            "proc/self/cgroup": "0::/pod/box\n",
            "sys/fs/cgroup/pod/box/cpu.max": "max 100000\n",
            "sys/fs/cgroup/pod/cpu.max": "100000 100000\n",
            "sys/fs/cgroup/pod/box/memory.max": "max\n",
            "sys/fs/cgroup/pod/memory.max": str(4 * GIB),
            "sys/fs/cgroup/pod/box/memory.current": str(GIB),
            "proc/meminfo": "MemTotal: 64000000 kB\nMemAvailable: 32000000 kB\n",
        },
    )
    found = look(files)
    assert found.processors == 1, "the quota of a group above counts, too"
    assert (found.memory_limit, found.memory_free) == (4 * GIB, 3 * GIB)


def test_a_quota_and_a_limit_of_cgroups_1(tmp_path: Path) -> None:
    files = machine_with(
        tmp_path,
        {
            "proc/self/cgroup": "4:cpu,cpuacct:/docker/1\n3:memory:/docker/1\n",
            "sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": str(GIB),
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "proc/1/cgroup": "4:cpu:/docker/1\n",
        },
    )
    found = look(files)
    assert found.processors == 1
    assert found.memory_limit == GIB
    assert found.container


def test_nothing_can_be_told_of_a_machine_without_these_files(tmp_path: Path) -> None:
    found = look(Files(str(tmp_path)))
    assert (found.shm_total, found.memory_limit, found.memory_free) == (None, None, None)
    assert found.processors >= 1


@pytest.mark.parametrize(
    ("platform", "python", "method"),
    [
        ("linux", (3, 13), "fork"),
        ("linux", (3, 14), "forkserver"),
        ("darwin", (3, 12), "spawn"),
        ("win32", (3, 14), "spawn"),
    ],
)
def test_the_default_start_method(platform: str, python: tuple[int, int], method: str) -> None:
    assert default_start_method(platform, python) == method
