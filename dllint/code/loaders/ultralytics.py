"""Models of ultralytics: `train` and `val` build loaders of their own, with 8 workers unless told otherwise.

Source: ultralytics 8.3, `engine/trainer.py`, `engine/validator.py` and `cfg/default.yaml`: on the CPU and on MPS there
are no workers, and several GPUs are trained on by other processes, which run a file of their own.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.arguments import Argument, collect
from dllint.code.language.values import Const, Derived, Frame, Product, Value, bounds

if TYPE_CHECKING:
    from dllint.code.program import Program

_MODELS = frozenset(f"ultralytics.{name}" for name in ("YOLO", "RTDETR", "YOLOWorld", "YOLOE"))
_LOADS = frozenset({".train", ".val"})


def starts_workers(program: Program, method: Derived, call: ast.Call, frame: Frame) -> bool:
    """Whether a call such as `YOLO("yolo11n.pt").train(data=..., workers=8)` surely starts workers on a GPU."""
    if not isinstance(method.base, Product) or method.base.name not in _MODELS or method.via not in _LOADS:
        return False
    given = collect(program.evaluator, call, frame)
    if given.open or "cfg" in given.named:
        return False
    device, workers = given.named.get("device"), given.named.get("workers")
    return _is_one_gpu(program, device) and (workers is None or _is_some(program, workers))


def _is_one_gpu(program: Program, device: Argument | None) -> bool:
    """Whether a device is left out, or certainly one GPU."""
    found = device.values(program.evaluator) if device is not None else ()
    return all(isinstance(value, Const) and str(value.value) in ("None", "0", "cuda", "cuda:0") for value in found)


def _is_some(program: Program, workers: Argument) -> bool:
    return workers.certain and all(_is_positive(value) for value in workers.values(program.evaluator))


def _is_positive(value: Value) -> bool:
    span = bounds(value)
    return span is not None and span[0] is not None and span[0] > 0
