"""One trial: lint a broken file beside sound ones, against the clock."""

from __future__ import annotations

from pathlib import Path

from clock import LIMIT, limit
from dllint.linter import Report
from harness import Case, run, workspace

SENTINEL = "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=0, prefetch_factor=2)\n"
PREAMBLE = b"import torch\nfrom torch.utils.data import DataLoader, Dataset\n"

_IMAGE = "pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel"
SOUND = {
    "own_loader.py": "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=-1)\n",
    "pod.yaml": f"""apiVersion: v1
kind: Pod
metadata: {{name: own}}
spec:
  containers:
    - name: own
      image: {_IMAGE}
      command: [torchrun, elsewhere.py]
      volumeMounts: [{{name: shm, mountPath: /dev/shm}}]
  volumes:
    - name: shm
      emptyDir: {{medium: memory}}
""",
    "docker-compose.yml": f"""services:
  own:
    image: {_IMAGE}
    command: torchrun elsewhere.py
    shm_size: 8Gi
""",
    "own.sh": f"docker run --gpus all --shm-size=8Gi {_IMAGE} torchrun elsewhere.py\n",
    "Dockerfile": f"FROM {_IMAGE}\nRUN mount -o remount,size=8G /dev/shm\n" + 'CMD ["torchrun", "elsewhere.py"]\n',
}
"""Files with one fault each, which shows whatever else is in the project."""
FAULTS = {
    ("own_loader.py", 3, "DLL405"),
    ("pod.yaml", 12, "DLL707"),
    ("docker-compose.yml", 5, "DLL707"),
    ("own.sh", 1, "DLL707"),
    ("Dockerfile", 2, "DLL703"),
}


def survives(broken: bytes, name: str = "data.py", around: Case | None = None) -> set[str]:
    """Lint `broken` beside sound files; `around` is the project that it stands in. Returns the codes reported on it.

    Raises AssertionError for an internal error or a lost finding, and TooSlowError for a run that does not end.
    """
    with workspace() as folder:
        if around is not None:
            around.unpack(folder)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(broken)
        own = folder / "zz_own"
        own.mkdir()
        for sound, text in SOUND.items():
            (own / sound).write_text(text)
        with limit(max(LIMIT, len(broken) / 1e6 * LIMIT)):
            report = run(folder, ["ALL"])
        assert not report.errors, report.errors[0].summary + "\n" + report.errors[0].traceback
        lost = FAULTS - faults(report, own)
        assert not lost, f"findings in other files are lost: {sorted(lost)}"
        return {finding.code for finding in report.findings if Path(finding.location.path) == path}


def faults(report: Report, folder: Path) -> set[tuple[str, int, str]]:
    """What is reported in the files of a folder: name, line and code."""
    found = [(Path(finding.location.path), finding) for finding in report.findings]
    return {(path.name, finding.location.row, finding.code) for path, finding in found if path.parent == folder}
