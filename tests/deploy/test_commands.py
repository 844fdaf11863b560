"""The commands in scripts, Makefiles, pages and CI files: their words, their places, the folders that they run in."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from plans import plan_of

from dllint.deploy.commands import Command, commands_of, may_start


def commands(folder: Path, text: str, name: str = "run.sh") -> list[Command]:
    """The commands of one file."""
    plan = plan_of(folder, {name: text})
    file = plan.file_at(name, str(folder))
    assert file is not None
    return commands_of(file, plan)


def shown(folder: Path, text: str, name: str = "run.sh") -> list[str]:
    return [" ".join(command.texts) for command in commands(folder, text, name)]


SCRIPTS = {
    "continued": ("a b\\\n  --c 'd e' \\\n\tf\n", ["a b --c d e f"]),
    "a comment ends a continued command": ("a \\\n  b \\\n  # --shm-size=8g\nc\n", ["a b", "c"]),
    "operators": ("a && b || c; d | e & f\n", ["a", "b", "c", "d", "e", "f"]),
    "control structures": (
        "if [[ $x > 3 ]]; then\n  a\nelif b; then c; else d; fi\nfor i in 1 2; do e $i; done\n"
        "case $1 in\n  x|y) g ;;\n  (z) h\nesac\nf() { k; }\nwhile read l; do m; done <q\n",
        ["a", "b", "c", "d", "e $i", "g", "h", "k", "m"],
    ),
    "echo and comments are no commands": ("echo docker run x\n# docker run y\n", ["echo docker run x"]),
    "substitutions": ('x=$(a $(b)) && c `d` "$(e)"\n', ["b", "a $(b)", "d", "e", "c `d` $(e)"]),
    "variables": ('A=1 B="x y"\nc $A "$B" $B ${A}z $UNKNOWN\n', ["c 1 x y x y 1z $UNKNOWN"]),
    "defaults": ("c ${A:-1} ${B-2} ${C:+3}\nD=4; c ${D:-5} ${D:+6}\n", ["c 1 2 ${C:+3}", "c 4 6"]),
    "arrays": ('A=(--x 1\n  # no\n  "y z")\nA+=(w)\nc "${A[@]}"\n', ["c --x 1 y z w"]),
    "what is added in a branch": ('A="--rm"\nif q; then A+=" --gpus all"; fi\nc $A\n', ["q", "c --rm --gpus all"]),
    "one of two values is none": ("if q; then A=1; else A=2; fi\nc $A\n", ["q", "c $A"]),
    "read from elsewhere": ("A=1\nread A\nc $A\n", ["c $A"]),
    "a command in a variable": ('RUN="docker run"\n$RUN x\n', ["docker run x"]),
    "before the program": (
        "sudo -u me env A=1 nohup a\ntimeout 10 b\nsrun -N 1 --gres=x c\nE=1 d\n",
        ["a", "b", "c", "d"],
    ),
    "strings for shells": (
        "bash -lc 'a; b'\nssh -p 1 h \"c && d $X\"\neval 'e'\n",
        ["bash -lc a; b", "a", "b", "ssh -p 1 h c && d $X", "c", "d $X", "eval e", "e"],
    ),
    "here-documents are data": ("cat <<EOF\ndocker run x\nEOF\na\n", ["cat", "a"]),
    "unless they are run": (
        "ssh h <<'E'\na\nE\nbash <<-X\n\tb\n\tX\ncat <<Y | sh\nc\nY\n",
        ["ssh h", "a", "bash", "b", "cat", "sh", "c"],
    ),
    "or written to a script": ("cat >run.sh <<E\na\nE\ntee x.sh <<E\nb\nE\n", ["cat", "a", "tee x.sh", "b"]),
    "apostrophes": ("echo it's\na\n", ["echo it's", "a"]),
    "placeholders": ("a <your image> {{ x }} ${{ y.z }}\n", ["a <your image> {{ x }} ${{ y.z }}"]),
    "CRLF": ("a \\\r\n  b\r\nc\r\n", ["a b", "c"]),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_words_of_scripts(tmp_path: Path, name: str) -> None:
    text, expected = SCRIPTS[name]
    assert shown(tmp_path, text) == expected


def test_words_know_where_they_are_written(tmp_path: Path) -> None:
    first, second = commands(tmp_path, "S=--size=8g\nx run \\\n  'a b' $S\nbash -c \"docker  pull\"\n")[0:3:2]
    places = [(word.at.row, word.at.column, word.at.end_column) for word in first.words]
    assert places == [(2, 1, 2), (2, 3, 6), (3, 4, 7), (1, 3, 12)]
    size = first.words[-1].part(len("--size="))
    assert (size.row, size.column, size.end_column) == (1, 10, 12)
    assert (second.at.row, second.at.column, second.at.end_column) == (4, 10, 22)


def test_unknown_words_say_so(tmp_path: Path) -> None:
    (command,) = commands(tmp_path, 'x $A "$B" "$@" $C/d 1\n')
    assert [(word.known, word.many) for word in command.words[1:]] == [
        (False, True),
        (False, False),
        (False, True),
        (False, False),
        (True, False),
    ]


def test_folders_follow_cd(tmp_path: Path) -> None:
    text = 'a\ncd sub && b\n(cd deeper; c)\nd\ncd "$(dirname "$0")/.."\ne\n'
    found = commands(tmp_path, text, "scripts/run.sh")
    folders = {command.name: str(Path(command.folder).relative_to(tmp_path)) for command in found}
    folders.pop("dirname")
    sub = "scripts/sub"
    assert folders == {"a": "scripts", "b": sub, "c": f"{sub}/deeper", "d": sub, "e": "."}


FILES = {
    "Makefile": (
        "IMAGE ?= x:1\nOPTS := --rm \\\n  -it\nifdef GPU\nOPTS += --gpus all\nendif\n"
        "run: build\n\t@docker run $(OPTS) $(IMAGE) $$HOME \\\n\t  $(shell id)\n\t-b\n",
        ["shell id", "docker run --rm -it --gpus all x:1 $HOME $(shell id)", "b"],
    ),
    "justfile": ('image := "x:1"\nrun:\n    docker run {{image}} {{other}}\n', ["docker run x:1 {{other}}"]),
    "README.md": (
        "docker run no\n\n```sh\n$ docker run a \\\n    b\nout put\n```\n\n```text\ndocker run no\n```\n"
        "~~~\nmkdir x\ndocker run c\n~~~\n\n    docker run -it d\n\n`docker run no`\n\n"
        "```powershell\ndocker run `\n  e\n```\n",
        ["docker run a b", "mkdir x", "docker run c", "docker run -it d", "docker run e"],
    ),
    "run.ps1": ('$Image = "x:1"\ndocker run `\n  -v C:\\data:/data $Image\n', ["docker run -v C:/data:/data x:1"]),
    "run.bat": ("@echo off\nREM docker run no\ndocker run ^\n  --rm ^\n  x\n", ["echo off", "docker run --rm x"]),
    ".github/workflows/a.yml": (
        "on: push\nenv: {IMAGE: x}\njobs:\n  a:\n    steps:\n      - run: |\n          docker run $IMAGE\n"
        "          b\n      - run: >-\n          docker run\n          c\n      - run: docker run ${{ env.IMAGE }}\n",
        ["docker run x", "b", "docker run c", "docker run x"],
    ),
    ".gitlab-ci.yml": (
        "variables: {TAG: x}\ntrain:\n  before_script: docker pull $TAG\n  script:\n    - docker run $TAG\n    - 'b'\n",
        ["docker pull x", "docker run x", "b"],
    ),
    ".circleci/config.yml": (
        "jobs:\n  a:\n    steps:\n      - checkout\n      - run: docker run a\n"
        "      - run:\n          command: docker run b\n",
        ["docker run a", "docker run b"],
    ),
    "deployment.yaml": ("apiVersion: v1\nkind: Pod\nspec:\n  steps:\n    - run: docker run x\n", []),
    "tool.sh": ("#!/usr/bin/env python3\nprint('docker run x')\n", []),
}


@pytest.mark.parametrize("name", FILES)
def test_commands_of_files(tmp_path: Path, name: str) -> None:
    text, expected = FILES[name]
    assert shown(tmp_path, text, name) == expected


def test_rows_of_block_scalars_are_those_of_the_file(tmp_path: Path) -> None:
    text = "jobs:\n  a:\n    steps:\n      - run: >-\n          docker run\n          --rm x\n"
    (command,) = commands(tmp_path, text, ".github/workflows/a.yml")
    assert [(word.at.row, word.at.column) for word in command.words] == [(5, 11), (5, 18), (6, 11), (6, 16)]


@pytest.mark.parametrize(
    "text",
    [
        '"$(' * 2000,
        'a "$(b `c` ' * 500,
        "${a:-" * 2000,
        "{{" * 5000,
        "A=x\n" + "A=$A$A\n" * 500,
        "cat <<E\n" * 2000,
        "`" * 2001,
        "case x in\n" * 2000,
    ],
    ids=["substitutions", "open quotes", "defaults", "braces", "doubling", "here-documents", "backticks", "cases"],
)
def test_odd_text_takes_no_time(tmp_path: Path, text: str) -> None:
    start = time.monotonic()
    commands(tmp_path, text + "\ndocker run x\n")
    assert time.monotonic() - start < 10


def test_makefile_variables_that_grow_take_no_time(tmp_path: Path) -> None:
    text = "A = x\n" + "A += $(A)\n" * 500 + "a:\n\tdocker run $(A)\n"
    start = time.monotonic()
    commands(tmp_path, text, "Makefile")
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docker run x", True),
        ("docker \\\n    run x", True),
        ("sudo docker --context far --tls container run x", True),
        ("DOCKER = docker\nrun:\n\t$(DOCKER) run x", True),
        ('ENGINE="${ENGINE:-podman}"  # or docker\n$ENGINE run x', True),
        ("ENGINE=podman\n$ENGINE run x", True),
        ("docker-compose up", True),
        ("docker stack deploy -c a.yml b", True),
        ("docker login ghcr.io\ndocker push x", False),
        ("apt-get install docker.io", False),
        ("kubectl apply -f run.yaml", False),
    ],
)
def test_files_that_may_start_containers(text: str, *, expected: bool, tmp_path: Path) -> None:
    (file,) = plan_of(tmp_path, {"run.sh": text}).files.values()
    assert may_start(file) is expected


@pytest.mark.parametrize("text", ["docker", "docker ", "docker=#", "docker\\\n", "docker a "])
def test_the_question_takes_linear_time(text: str, tmp_path: Path) -> None:
    (file,) = plan_of(tmp_path, {"run.sh": text * 20_000}).files.values()
    start = time.process_time()
    may_start(file)
    assert time.process_time() - start < 2
