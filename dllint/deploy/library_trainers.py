"""Scripts that train by a model of a library, which starts workers by itself: `YOLO("yolo11n.pt").train(...)`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.deploy.plan import Plan
    from dllint.deploy.training import Training

LIBRARY = "ultralytics"


def library_trainer(found: Training, plan: Plan) -> str:
    """The script of a workload that trains by a model of ultralytics with workers; empty where none certainly does.

    Without a GPU it has none: see `code.loaders.ultralytics`.
    """
    if not found.workload.gpus:
        return ""
    scripts = (run.module for run in found.runs if run.module is not None and run.module.has(LIBRARY.encode()))
    return next((os.path.basename(script.path) for script in scripts if _trains(script, plan)), "")


def _trains(script: Module, plan: Plan) -> bool:
    from dllint.code.language.values import Derived, Frame
    from dllint.code.loaders.ultralytics import starts_workers

    program = plan.program
    for call, scope in script.calls_of("train"):
        frame = Frame(scope)
        methods = program.evaluator.values(call.func, frame)
        if any(isinstance(each, Derived) and starts_workers(program, each, call, frame) for each in methods):
            return True
    return False
