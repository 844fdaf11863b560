"""Runs a program as another platform, Python or machine would: `launch.py OPTIONS SCRIPT`, OPTIONS in JSON.

This runs in the Python that has torch, which need not be the one of the tests: nothing is imported that dllint has.
"""

import importlib
import json
import multiprocessing.context
import os
import resource
import sys

PROCESSORS = 2
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


def start_by_default(method: str) -> None:
    """Make `method` what multiprocessing starts processes by when nobody says how, as if the platform had it so."""
    parts = vars(multiprocessing.context)
    parts["_default_context"]._default_context = parts["_concrete_contexts"][method]


def simulate_cuda() -> None:
    """Let torch find a GPU that main has touched. A build for CUDA then checks forked processes by itself."""
    torch = importlib.import_module("torch")
    main, touched = os.getpid(), torch.cuda.is_available()
    if not touched and torch.version.cuda is None:
        torch.cuda._is_in_bad_fork = lambda: os.getpid() != main
    torch.cuda.is_available = lambda: True


def become(script: str) -> None:
    """Run a script as this process's `__main__`, the module that workers import anew."""
    names = vars(sys.modules["__main__"])
    names["__file__"] = script
    with open(script, encoding="utf-8") as file:
        code = compile(file.read(), script, "exec")
    exec(code, names)


def main() -> None:
    """Set up what the options say, and become the program."""
    options = json.loads(sys.argv[1])
    sys.argv = sys.argv[2:]
    sys.path[:1] = [os.path.dirname(sys.argv[0]), PROGRAMS]
    # Else each worker of forkserver would import torch anew, which takes seconds and is not what is looked at.
    multiprocessing.set_forkserver_preload(["torch"])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:PROCESSORS])
    if "nofile" in options:
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(options["nofile"]),) * 2)
    if "method" in options:
        start_by_default(options["method"])
    if "simulates" in options:
        simulate_cuda()
    become(sys.argv[0])


if __name__ == "__main__":
    main()
