"""Entry scripts as dllint reads them, and as bash runs them: what it says of one is never what bash denies."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dllint.finding import Severity
from harness import lint_texts

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash says what a script runs")

LIBRARY = "library_trains() { T; }\nLIBRARY=train\n"
INNER = 'if [ "$MODE" = train ]; then T; fi\n'
PYTHON = """
from torch.utils.data import DataLoader

from scans import Scans

for scan in DataLoader(Scans(), batch_size=64, num_workers=4):
    print(scan)
"""

# T trains, and U serves: the script, what the container finds in its environment, and what it is passed.

KNOWN = [
    ('shift\nif [ "$1" = train ]; then T; fi', "", "train api"),
    ('shift\nif [ "$1" = train ]; then T; fi', "", "x train"),
    ('set -- api\nif [ "$1" = train ]; then T; fi', "", "train"),
    ('mode=$1; shift; case "$mode" in train) T "$@";; *) U;; esac', "", "train --x"),
    ('mode=$1; shift; case "$mode" in train) T "$@";; *) U;; esac', "", "api"),
    ('MODE=train; unset MODE; if [ "$MODE" = train ]; then T; fi', "", ""),
    ('unset MODE; if [ "$MODE" = train ]; then T; fi', "MODE=train", ""),
    ('(MODE=train); if [ "$MODE" = train ]; then T; fi', "", ""),
    ('(MODE=train; if [ "$MODE" = train ]; then T; fi)', "", ""),
    ('if [ ! -n "$X" ]; then T; fi', "", ""),
    ('if [ ! -n "$X" ]; then T; fi', "X=1", ""),
    ('if ! [ "$X" = y ]; then T; fi', "X=y", ""),
    ('if [ "$X" ]; then T; fi', "", ""),
    ('if [ "$X" ]; then T; fi', "X=1", ""),
    ('if [ y = "$X" ]; then T; fi', "X=n", ""),
    ("if [ x$X = xy ]; then T; fi", "X=n", ""),
    ('if [ "$X" = y -a "$Z" = n ]; then T; fi', "X=y", ""),
    ('if [ "$X" = y ] && [ "$Z" = n ]; then T; fi', "X=y", ""),
    ('if [ "$X" = y ] || [ "$Z" = n ]; then T; fi', "Z=y", ""),
    ('if [[ "$X" = y && "$Z" = n ]]; then T; fi', "X=y", ""),
    ('if [ "$X" -gt 3 ]; then T; fi', "X=2", ""),
    ('if [ "$X" -gt 3 ]; then T; fi', "X=4", ""),
    ("if [[ -v X ]]; then T; fi", "", ""),
    ('if [ "$X" = "" ]; then T; fi', "X=2", ""),
    ('if [ "$X" = "" ]; then T; fi', "", ""),
    ("if false; then T; fi", "", ""),
    ("if true; then T; fi", "", ""),
    ('[ "$X" = y ] && T', "", ""),
    ('[ "$X" = y ] && T', "X=y", ""),
    ('[ "$X" = y ] || T', "X=y", ""),
    ('[ "$X" = y ] || T', "", ""),
    ('[ "$X" = y ] && U || T', "", ""),
    ('[ "$X" = y ] && exec U\nT', "X=y", ""),
    ('[ "$X" = y ] && { U; exit; }\nT', "X=y", ""),
    ('[ "$X" = y ] && { U; exit; }\nT', "", ""),
    ("{ U; exit; }\nT", "", ""),
    ('if [ "$X" = y ]; then U; elif [ "$Z" = y ]; then T; fi', "", ""),
    ('if [ "$X" = y ]; then U; elif [ "$Z" = y ]; then T; fi', "Z=y", ""),
    ('if [ "$X" != y ]; then U; elif [ "$Z" = y ]; then T; else U; fi', "X=y", ""),
    ('if [ "$X" != y ]; then U; elif [ "$Z" = y ]; then T; else U; fi', "X=y Z=y", ""),
    ('if [[ "$X" == "y*" ]]; then T; fi', "X=yes", ""),
    ('if [[ "$X" == y* ]]; then T; fi', "X=yes", ""),
    ('case "$X" in "y*") T;; esac', "X=yes", ""),
    ('case "$X" in y*) T;; esac', "X=yes", ""),
    ("while true; do U; sleep 1; break; done\nT", "", ""),
    ('a() { case "$1" in x) T;; esac; }\na x', "", ""),
    ('a() { MODE=train; }\na\nif [ "$MODE" = train ]; then T; fi', "", ""),
    ('a() { if [ "$MODE" = train ]; then T; fi; }\nMODE=train\na', "", ""),
    ('a() { if [ "$MODE" = train ]; then T; fi; }\nMODE=api\na', "MODE=train", ""),
    ('a() { local MODE=train; }\na\nif [ "$MODE" = train ]; then T; fi', "", ""),
    ('case "$1" in train) T;; *) U;; esac', "", ""),
    ('case "$2" in train) T;; *) U;; esac', "", "a train"),
    (
        'while [ $# -gt 0 ]; do case "$1" in --train) X=1;; esac; shift; done\nif [ "$X" = 1 ]; then T; else U; fi',
        "",
        "",
    ),
    ('if [ "${X,,}" = yes ]; then T; fi', "X=YES", ""),
    ('if [ "${X,,}" = yes ]; then T; fi', "X=NO", ""),
    ('X=${X:-${Z:-train}}\n[ "$X" = train ] && T', "", ""),
    ('X=${X:-${Z:-train}}\n[ "$X" = train ] && T', "Z=api", ""),
    ("T &\nwait", "", ""),
    ("U | tee log\nT", "", ""),
    ('die() { echo "$@"; exit 1; }\n[ -d / ] || die no\nT', "", ""),
    ('die() { echo "$@"; exit 1; }\n[ -n "$X" ] || die no\nT', "", ""),
    ("if [ $# -lt 1 ]; then echo usage; exit 1; fi\nT", "", ""),
    ("if [ $# -lt 1 ]; then echo usage; exit 1; fi\nT", "", "a"),
    ('if [ "$1" = api ]; then exec U; fi\nT', "", "api"),
    ('if [ "$1" = api ]; then exec U; fi\nT', "", "train"),
    ("(exit 1)\nT", "", ""),
    ("exit 0 | cat\nT", "", ""),
    ('main() { T; }\nmain "$@" 2>&1 | tee log', "", ""),
    ("main() { exit 0; }\nmain | tee log\nT", "", ""),
    ('if [ "${1:0:1}" = "-" ]; then set -- T "$@"; fi\nexec "$@"', "", "-x"),
    ('if [ "${1#-}" != "$1" ]; then set -- T "$@"; fi\nexec "$@"', "", "-x"),
    ('if [ "${1#-}" != "$1" ]; then set -- T "$@"; fi\nexec "$@"', "", "U"),
    ('X=tr; X+=ain; [ "$X" = train ] && T', "", ""),
    ('until [ "$X" = y ]; do X=y; T; done', "", ""),
    ('while [ "$X" = y ]; do T; break; done', "", ""),
    ('declare -x MODE=train; [ "$MODE" = train ] && T', "", ""),
    ('readonly MODE=api; [ "$MODE" = train ] && T', "MODE=train", ""),
    ("f() { return 0; }\nf && T", "", ""),
    ('f() { if [ "$1" = a ]; then return; fi; T; }\nf b', "", ""),
    ('f() { if [ "$1" = a ]; then return; fi; T; }\nf a', "", ""),
    ('if [ "$X" = a ]; then\n  U\n  return 2>/dev/null || exit\nfi\nT', "X=a", ""),
    ('test "$X" = y && T', "X=y", ""),
    ('test "$X" = y && T', "", ""),
    ("[[ $X ]] && T", "", ""),
    ("[[ ! $X ]] && T", "", ""),
    ("[[ -z $X || $X == train ]] && T", "", ""),
    ("[ -n $X ] && T", "", ""),
    ("[ $X = y ] && T", "", ""),
    ('trap "echo bye" EXIT\nT', "", ""),
    ("set -euo pipefail\nT", "", ""),
    ('if [ "$X" == "true" ]; then T; elif [ "$X" == "false" ]; then U; else exit 1; fi', "X=false", ""),
    ("if command -v nvidia-smi >/dev/null; then T; else T; fi", "", ""),
    ('[ "$#" -eq 0 ] && set -- T\nexec "$@"', "", ""),
    ('[ "$#" -eq 0 ] && set -- T\nexec "$@"', "", "U"),
    ('"${@:-T}"', "", ""),
    ('exec "${@:-T}"', "", "U"),
    ('CMD=${1:-T}; shift; $CMD "$@"', "", ""),
    ('CMD=${1:-T}; $CMD "$@"', "", "U"),
    ('CMD="T --x"; $CMD', "", ""),
    ("function run { T; }; run", "", ""),
    ('run() { "$@"; }\nrun T', "", ""),
    ('run() { "$@"; }\nrun U', "", ""),
    ('if [ "$1" = "U" ] ; then shift; U "$@"; elif [ "$1" = "T" ]; then shift; T "$@"; else exec "$@"; fi', "", "T 1"),
    ("A=$1\nB=$A\ncase $B in train) T;; esac", "", "train"),
    ('[ "$X" = y ] &&\n  T', "", ""),
    ('[ "$X" = y ] \\\n  && T', "X=y", ""),
    ('if [ "$X" = y ] # note\nthen T; fi', "X=y", ""),
    ("case $1 in\n  (train) T ;;\n  (*) U ;;\nesac", "", "train"),
    ("case $1 in\n  train|fit) T ;;\n  *) U ;;\nesac", "", "fit"),
    ('if [ "$X" ] && [ ! "$Z" ]; then T; fi', "X=1", ""),
    ("exec >log 2>&1\nT", "", ""),
    ("exec 3>&1; T", "", ""),
    ("cat <<EOF\nexit 0\nEOF\nT", "", ""),
    ('bash -c "exit 0"\nT', "", ""),
    ("bash -c 'if [ \"$X\" = y ]; then T; fi'", "", ""),
    ("X=y bash -c 'if [ \"$X\" = y ]; then T; fi'", "", ""),
    (". ./library.sh\nlibrary_trains", "", ""),
    ('source library.sh; if [ "$LIBRARY" = train ]; then T; fi', "", ""),
    ("./inner.sh", "MODE=train", ""),
    ("MODE=train; ./inner.sh", "", ""),
    ("MODE=train ./inner.sh", "", ""),
    ("export MODE=train; ./inner.sh", "", ""),
    ("MODE=api; ./inner.sh", "MODE=train", ""),
    ("MODE=api; bash inner.sh", "MODE=train", ""),
    ('check() { [ "$1" = api ]; }\nif check "$1"; then T; fi', "", "train"),
    ("f() { return 1; }\nf || T", "", ""),
    ('is_true() { case "$1" in 1|yes) return 0;; *) return 1;; esac; }\nis_true "$GO" && exec T\nexec U', "GO=no", ""),
    ('is_true() { case "$1" in 1|yes) return 0;; *) return 1;; esac; }\nis_true "$GO" && exec T\nexec U', "GO=1", ""),
    ('f() { [ "$1" = train ]; }\nif f "$1"; then T; else U; fi', "", "train"),
    ("f() { true; }\nf && T", "", ""),
    ('f() { if [ -n "$1" ]; then return 1; fi; }\nf a || T', "", ""),
    ("T > >(tee log) 2>&1", "", ""),
    ("T 2> >(cat >&2)\nU", "", ""),
    ("cat <(T)", "", ""),
    ('if [ -n "${GO+x}" ]; then T; fi', "GO=", ""),
    ('[ "${MODE+set}" = set ] && exec T', "MODE=", ""),
    ('M=${MODE-train}\n[ "$M" = train ] && T', "MODE=", ""),
    ('M=${MODE:-train}\n[ "$M" = train ] && T', "MODE=", ""),
    ('ARGS="train --x"\nset -- $ARGS\n[ "$1" = train ] && T', "", ""),
    ('P="tr*"\ncase "$1" in $P) T;; esac', "", "train"),
    ('P="tr*"\ncase "$1" in "$P") T;; esac', "", "train"),
    ('case "$1" in [^a-z]*) T;; esac', "", "train"),
    ("f() { exit 0; }\n(f)\nT", "", ""),
    ("go() { T; }\ngo() { U; }\ngo", "", ""),
    ("go() { U; }\ngo() { T; }\ngo", "", ""),
    ("for s in $STEPS; do T; done", "", ""),
    ("for s in $STEPS; do T; done", "STEPS=fit", ""),
    ('for s in "$@"; do T; done', "", ""),
    ("for s; do T; done", "", "fit"),
    (': "${MODE:?which}"\nT', "", ""),
    (': "${MODE:?which}"\nT', "MODE=x", ""),
    ('shift 3\nexec "$@"', "", "T x"),
    ("return 0 2>/dev/null\nT", "", ""),
    ('[ "$A" = 1 ] && U || T', "A=1", ""),
]

UNSEEN = [
    ('while [ -n "$1" ]; do [ "$1" = fit ] && T; shift; done', "", "x fit"),
    ('while [ $# -gt 0 ]; do case "$1" in -u) U; exit 0;; -t) T; exit 0;; esac; shift; done', "", "-v -t"),
    ("while [ $# -gt 0 ]; do case $1 in fit) T; break;; -v) shift;; *) exit 2;; esac; done", "", "-v fit"),
    ('for f in 1 2; do if [ "$X" = y ]; then T; fi; X=y; done', "", ""),
    ('[ -n "$1" ] && [ -f nowhere ] || T', "", "fit"),
    ('[ -n "$1" ] && ./inner.sh || T', "", "fit"),
    ('[ "$MODE" = train ]\nRC=$?\n(( RC == 0 )) && T', "MODE=x", ""),
    ("grep -q never /etc/hostname && T", "", ""),
    ("declare -l M=TRAIN\n[ $M = train ] && T", "", ""),
    ("if [ ${#MODE} -eq 5 ]; then T; fi", "MODE=serve", ""),
    ("if (( $# > 1 )); then T; fi", "", "a"),
    ("false; if [ $? -eq 0 ]; then T; fi", "", ""),
    ("if [ -f x ]; then T; fi", "", ""),
    ('if [[ "$X" =~ ^y ]]; then T; fi', "X=n", ""),
    (
        'while [ $# -gt 0 ]; do case "$1" in --train) X=1;; esac; shift; done\nif [ "$X" = 1 ]; then T; else U; fi',
        "",
        "--train",
    ),
    ('while getopts "t" o; do case $o in t) X=1;; esac; done\nif [ "$X" = 1 ]; then T; fi', "", "-t"),
    ('for a in "$@"; do if [ "$a" = train ]; then T; fi; done', "", "x train"),
    ('case "$X" in a) U;;& *) T;; esac', "X=a", ""),
    ('case "$X" in a) U;& b) T;; esac', "X=a", ""),
    ("if [ -f x ]; then exec U; fi\nT", "", ""),
    ("X=1; X=$((X+1)); if [ $X -eq 2 ]; then T; fi", "", ""),
    ('let X=2; if [ "$X" = 2 ]; then T; fi', "", ""),
    ('printf -v X train; [ "$X" = train ] && T', "", ""),
    ('read -r X <<< train; [ "$X" = train ] && T', "", ""),
    ('X=(train); [ "$X" = train ] && T', "", ""),
    ('eval "MODE=train"; [ "$MODE" = train ] && T', "", ""),
    ('MODE=$(echo train)\nif [ "$MODE" = train ]; then T; fi', "", ""),
    ("set -a; MODE=train; set +a; ./inner.sh", "", ""),
]


def is_trained(folder: Path, script: str, environment: str, passed: str) -> bool:
    """Whether bash comes to T."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("T", "U"):
        executable(programs / name, f"echo {name} >>{folder}/ran")
    for name, text in (("library.sh", LIBRARY), ("inner.sh", INNER), ("entry.sh", script)):
        executable(folder / name, text)
    given = dict(each.split("=", 1) for each in environment.split())
    command = ["bash", "./entry.sh", *passed.split()]
    path = f"{programs}{os.pathsep}{os.defpath}"
    subprocess.run(command, cwd=folder, env={"PATH": path, **given}, capture_output=True, timeout=20, check=False)
    ran = folder / "ran"
    return ran.exists() and "T" in ran.read_text(encoding="utf-8").split()


def executable(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def verdict(script: str, environment: str, passed: str) -> Severity | None:
    options = " ".join(f"-e {each}" for each in environment.split())
    files = {
        "Dockerfile": 'FROM pytorch/pytorch:2.8.0-cuda12.9-cudnn9-runtime\nCOPY . /work\nENTRYPOINT ["./entry.sh"]\n',
        "run.sh": f"docker build -t scans .\ndocker run --gpus all {options} scans {with_programs(passed)}\n",
        "entry.sh": f"#!/bin/bash\n{with_programs(script)}\n",
        "library.sh": with_programs(LIBRARY),
        "inner.sh": with_programs(INNER),
        "train.py": PYTHON,
    }
    found = [each.severity for each in lint_texts(files, "DLL701") if each.code == "DLL701"]
    return found[0] if found else None


def with_programs(text: str) -> str:
    return re.sub(r"\bT\b", "python train.py", re.sub(r"\bU\b", "uvicorn api:app", text))


@pytest.mark.parametrize(("script", "environment", "passed"), KNOWN)
def test_what_can_be_known_is_what_bash_does(tmp_path: Path, script: str, environment: str, passed: str) -> None:
    trains = is_trained(tmp_path, script, environment, passed)
    assert verdict(script, environment, passed) == (Severity.ERROR if trains else None)


@pytest.mark.parametrize(("script", "environment", "passed"), UNSEEN)
def test_what_nobody_sees_may_train(script: str, environment: str, passed: str) -> None:
    assert verdict(script, environment, passed) == Severity.WARNING
