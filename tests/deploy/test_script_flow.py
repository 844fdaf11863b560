"""Which commands of a script run in a container: by what it is passed, its environment, and its functions."""

from __future__ import annotations

import pytest

from dllint.finding import Severity
from harness import lint_texts

TRAIN = """
import argparse

from torch.utils.data import DataLoader

from scans import Scans

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=2)
args = parser.parse_args()
for scan in DataLoader(Scans(), batch_size=64, num_workers={workers}):
    print(scan)
"""
CASE = 'case "${MODE}" in\n  train) python train.py ;;\n  *) uvicorn api:app ;;\nesac\n'
RUNS, MAY, SILENT = Severity.ERROR, Severity.WARNING, None


def verdict(entry: str, options: str = "", passed: str = "", image: str = "", workers: str = "4") -> Severity | None:
    files = {
        "Dockerfile": "FROM pytorch/pytorch:2.8.0-cuda12.9-cudnn9-runtime\nCOPY . /work\n" + image + "\n"
        'ENTRYPOINT ["./entry.sh"]\n',
        "run.sh": f"docker build -t scans .\ndocker run --gpus all {options} scans {passed}\n",
        "entry.sh": f"#!/bin/bash\n{entry}\n",
        "train.py": TRAIN.format(workers=workers),
    }
    found = [each.severity for each in lint_texts(files, "DLL701") if each.code == "DLL701"]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("options", "image", "expected"),
    [
        ("-e MODE=train", "", RUNS),
        ("-e MODE=api", "", SILENT),
        ("", "", SILENT),
        ("", "ENV MODE=train", RUNS),
        ("-e MODE=api", "ENV MODE=train", SILENT),
        ("-e MODE", "", MAY),
        ("-e MODE=$MODE", "", MAY),
        ("--env-file .env", "", MAY),
    ],
)
def test_the_environment_chooses(options: str, image: str, expected: Severity | None) -> None:
    assert verdict(CASE, options, image=image) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('if [ "$API" = 1 ]; then uvicorn api:app; else python train.py; fi', RUNS),
        ('if [ "$API" != 1 ]; then python train.py; fi', RUNS),
        ('if [ -n "$API" ]; then uvicorn api:app; exit; fi\npython train.py', RUNS),
        ('if [ -z "$TRAIN" ]; then uvicorn api:app; exit; fi\npython train.py', SILENT),
        ('case "${MODE:-train}" in train) python train.py;; esac', RUNS),
        (': "${MODE:=train}"\ncase "$MODE" in train) python train.py;; esac', RUNS),
        ('MODE=api\ncase "$MODE" in train) python train.py;; api) uvicorn api:app;; esac', SILENT),
        ('source ./settings.sh\ncase "$MODE" in train) python train.py;; esac', MAY),
        ('if [ "$RANK" = 0 ]; then python train.py; fi', MAY),
        ('if [ "$RANK" = 0 ]; then python train.py; else python train.py --quiet; fi', RUNS),
        ('if [ "$RANK" = 0 ]; then python train.py; else sleep 9; fi', MAY),
        ('case "$RANK" in 0) python train.py;; 1) python train.py -v;; *) python train.py -q;; esac', RUNS),
        ('case "$RANK" in 0) python train.py;; 1) sleep 1;; *) python train.py -q;; esac', MAY),
        ("if [ -f done ]; then true; else python train.py; fi", MAY),
        ("if [ -f done ]; then python train.py --resume; else python train.py; fi", RUNS),
        ("if [ -d data ]; then python train.py; else exit 1; fi", RUNS),
        ("[ -d data ] || exit 1\npython train.py", RUNS),
        ("if [ -f done ]; then exec uvicorn api:app; fi\npython train.py", MAY),
        ('if [ "$API" = 1 ]; then bash -c "python train.py"; fi', SILENT),
    ],
)
def test_what_is_not_set_is_empty(entry: str, expected: Severity | None) -> None:
    assert verdict(entry) == expected


@pytest.mark.parametrize(
    ("entry", "passed", "expected"),
    [
        ("train() { python train.py; }\ntrain", "", RUNS),
        ("train() { python train.py; }\nuvicorn api:app", "", SILENT),
        ('train() { python train.py; }\ncase "$1" in train) train;; *) uvicorn api:app;; esac', "train", RUNS),
        ('train() { python train.py; }\ncase "$1" in train) train;; *) uvicorn api:app;; esac', "api", SILENT),
        ('main() { case "$1" in train) python train.py;; esac; }\nmain "$@"', "train", RUNS),
        ('main() { case "$1" in train) python train.py;; esac; }\nmain "$@"', "api", SILENT),
        ('main() { local mode=$1; case "$mode" in train) python train.py;; esac; }\nmain "$1"', "api", SILENT),
        ("run() { python train.py; }\nready() { return; run; }\nready\nrun", "", RUNS),
        ("run() { exit 0; }\nrun\npython train.py", "", SILENT),
        ('train() { python train.py; }\napi() { uvicorn api:app; }\n"$@"', "api", SILENT),
        ('train() { python train.py; }\napi() { uvicorn api:app; }\n"$@"', "train", RUNS),
        ('do_train() { python train.py; }\n"do_$MODE"', "", MAY),
        ("train() { python train.py; }\nexport -f train\nparallel train ::: 1 2", "", MAY),
        ('"$@"', "python train.py", RUNS),
        ("ready=yes", "", SILENT),
        ('set -- python train.py\nexec "$@"', "", RUNS),
        ('if [ $# -eq 0 ]; then set -- python train.py; fi\nexec "$@"', "", RUNS),
        ('if [ $# -eq 0 ]; then set -- python train.py; fi\nexec "$@"', "uvicorn api:app", SILENT),
        ('if [ $# -gt 0 ]; then exec "$@"; fi\npython train.py', "uvicorn api:app", SILENT),
        ('case "$1" in train) shift; "$@";; esac', "train python train.py", RUNS),
        ('MODE=$2\nif [ "$MODE" = train ]; then python train.py; fi', "-m train", RUNS),
        ('MODE=$2\nif [ "$MODE" = train ]; then python train.py; fi', "-m $WHAT", MAY),
        ("a() { b; }\nb() { a; }\na\npython train.py", "", RUNS),
    ],
)
def test_a_function_runs_where_it_is_called(entry: str, passed: str, expected: Severity | None) -> None:
    assert verdict(entry, passed=passed) == expected


@pytest.mark.parametrize(("options", "expected"), [("-e WORKERS=0", SILENT), ("-e WORKERS=8", RUNS)])
def test_words_out_of_the_environment(options: str, expected: Severity | None) -> None:
    assert verdict("python train.py --workers $WORKERS", options, workers="args.workers") == expected
