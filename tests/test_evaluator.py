"""What a value is does not hang on what was asked before."""

from __future__ import annotations

import ast
from pathlib import Path

from dllint.code.language.values import Frame, Product
from dllint.code.program import Program
from dllint.files import discover
from dllint.settings import Settings

SOURCE = """
from torch.utils.data import DataLoader

def loaders(rows):
    return DataLoader(rows, num_workers=2), None

def one(held):
    return held["newest"]

def two(held):
    return one(held)

def three(held):
    return two(held)

train, _ = loaders([1, 2, 3])
deep = three({"newest": train})
train
"""


def test_what_is_cut_off_within_calls_is_no_last_word(tmp_path: Path) -> None:
    """The value of `train` is asked for deep within calls first, where its own call is one too many to follow."""
    (tmp_path / ".git").mkdir()
    script = tmp_path / "train.py"
    script.write_text(SOURCE)
    (project,) = discover([str(script)], Settings(), None)
    program = Program(project, Settings())
    (module,) = program.parsed_seeds
    called, asked = list(ast.iter_child_nodes(module.scope.node))[-2:]
    assert isinstance(called, ast.Assign) and isinstance(asked, ast.Expr)
    frame = Frame(module.scope)
    program.evaluator.values(called.value, frame)
    (found,) = program.evaluator.values(asked.value, frame)
    assert isinstance(found, Product) and found.name == "torch.utils.data.DataLoader"
