"""Commands that train nothing, whatever image they run in: tools, servers, questions to an interpreter."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise

from dllint.deploy.command_words import PYTHON
from dllint.deploy.makefiles import goals_of
from dllint.deploy.wrappers import SHELLS
from dllint.patterns import pattern

SERVES = pattern(
    r"(?:^|[/_.-])(?:tritonserver|torchserve|uvicorn|gunicorn|hypercorn|flask|streamlit|gradio|vllm|sglang|tgi"
    r"|text-generation-launcher|tensorboard|celery|nginx|redis-server|fastapi|bentoml|serve|server|serving"
    r"|api|app|webui|infer|inference|predict|predictor|demo|export|convert|onnx|client|download|preprocess|prepare)"
    r"(?:\.py|\.sh)?$",
    re.IGNORECASE,
)
"""What a program or script is called that serves a model, or makes something of it."""
_LISTENS = pattern(
    r"--(?:listen|(?:gradio|server|web|http)[-_](?:name|host|port|addr(?:ess)?))(?:=|$)"
    r"|--(?:host|ip|bind|addr(?:ess)?)=(?:0\.0\.0\.0|::|\*)(?::\d+)?$"
)
"""Options by which a script is told where it listens to people or programs: not where ranks meet (`--port` alone)."""
_INSTALLS = pattern(
    r"(?!.*(?:train|run|start|launch))(?:install|build|compile)(?:[-_.][\w.-]*)?\.(?:sh|bash)", re.IGNORECASE
)
"""What a shell script is called that installs or builds something, and leaves it at that."""
_TOOLS = frozenset(
    """ls cat echo true false env printenv id whoami pwd cd mkdir touch ln rm cp mv chmod chown date df du find tree
    file stat wc diff less awk sed grep sort head tee xargs test [ which whereis type command export source . set
    ulimit unset shift exit return trap wait shopt :
    tar zip unzip gzip gunzip zstd 7z md5sum sha256sum ldd ps top htop free uname hostname lscpu lspci lsb_release
    ldconfig update-alternatives service vim nano clear
    curl wget git git-lfs ssh scp rsync rclone aria2c gdown kaggle aws gsutil gcloud az azcopy s3cmd s5cmd gh
    huggingface-cli hf nvidia-smi nvtop rocm-smi rocminfo amd-smi nvcc nvidia-ctk trtexec polygraphy onnxsim
    torch-model-archiver optimum-cli ffmpeg ffprobe
    pip pip3 pipx conda mamba micromamba poetry uv pdm pipenv hatch rye pixi npm node yarn virtualenv
    pip-compile pipdeptree
    apt apt-get apt-key apt-cache add-apt-repository dpkg yum dnf apk
    ruff black flake8 mypy pyright pylint isort yapf bandit pre-commit mkdocs sphinx-build coverage codecov twine
    hadolint shellcheck cmake ctest ninja meson bazel gcc g++ clang cargo rustc go java
    """.split()  # noqa: SIM905 - one word a tool reads better than a list of quotes
)
_MAY_TRAIN: dict[str, str] = {
    # Programs of many commands -> the words by which they run something that may train.
    "accelerate": "launch",
    "axolotl": "train",
    "coverage": "run",
    "dvc": "repro exp",
    "jupyter": "lab notebook nbclassic server hub labhub execute run console --execute",
    "llamafactory-cli": "train webui",
    "memray": "run",
    "mlflow": "run",
    "spacy": "train pretrain",
    "tune": "run",
    "wandb": "agent launch",
    "yolo": "train val mode=train mode=val",
}
_MAKERS = frozenset({"make", "gmake", "just"})
_CHORES = pattern(
    r"(?:^|[-_.])(?:all|default|build|install|compile|tests?|check|ci|lint|format|fmt|style|quality|typecheck|docs?|html"
    r"|clean|distclean|dist|wheel|sdist|package|release|publish|deploy|image|setup|deps|requirements|env|venv|data|datasets?"
    r"|download|prepare|preprocess|serve|server|api|app|demo|export|infer|inference|predict|coverage|help|version|develop)"
    r"(?:[-_.]|$)",
    re.IGNORECASE,
)
"""Targets of a Makefile that nobody sees under which nothing trains."""
_MODULES = frozenset(
    """build venv ensurepip compileall py_compile site sysconfig platform json.tool zipfile tarfile http.server
    torch.utils.collect_env nltk.downloader ipykernel gdown
    """.split()  # noqa: SIM905 - one word a module reads better than a list of quotes
)
"""Python's modules, and those of libraries, that are tools."""
_ASKS = frozenset({"--help", "--version"})
_SETUP = "setup.py"
_MOMENTS = 600
"""Seconds: a container that sleeps for longer is kept for people who work in it."""


def listens(arguments: Sequence[str]) -> bool:
    """Whether a script is told to listen to everybody: web UIs and APIs are, whatever they are called."""
    pairs = (f"{word}={after}" for word, after in pairwise(arguments))
    return any(map(_LISTENS.match, (*arguments, *pairs)))


def installs(command: Sequence[str]) -> bool:
    """Whether a command is a shell script that only installs or builds something, by its name."""
    words = [word for word in command[:3] if not word.startswith("-")]
    script = next((os.path.basename(word) for word in words if os.path.basename(word) not in SHELLS), "")
    return _INSTALLS.fullmatch(script) is not None


def is_tool(command: Sequence[str]) -> bool:
    """Whether a command, without the words that only run it, trains nothing."""
    head, rest = os.path.basename(command[0]), command[1:]
    if rest and rest[-1] in _ASKS:
        return True
    if head in _MAY_TRAIN:
        return not any(word in _MAY_TRAIN[head].split() for word in rest)
    if head in _TOOLS or SERVES.search(head) or installs(command):
        return True
    if head in _MAKERS:
        return all(map(_CHORES.search, goals_of(rest).targets))
    if head == "sleep":
        return any(word.isdecimal() and int(word[:9]) <= _MOMENTS for word in rest)
    if PYTHON.match(head) is None:
        return False
    if rest[:1] == ["-m"] and len(rest) > 1:
        return is_tool(rest[1:]) if rest[1] in _TOOLS or rest[1] in _MAY_TRAIN else rest[1] in _MODULES
    return rest[:1] in (["-c"], ["-V"], [_SETUP]) or rest[-1:] == ["-h"]
