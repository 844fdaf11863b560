"""Who makes the files that `torch.load` reads, where the project tells: a script it names, or its own `torch.save`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.links import scope_of
from dllint.code.language.modules import Module
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import FunctionScope, Scope, dotted, last_name

if TYPE_CHECKING:
    from dllint.code.program import Program

_HOLE = "\0"
"""Stands for what is not known of a file's name."""
_DEEPEST = 5
_KEEP_DEVICE = frozenset(
    ("detach", "clone", "contiguous", "float", "half", "double", "long", "int", "squeeze", "unsqueeze", "transpose")
)
_JOINS = frozenset({"torch.stack", "torch.cat"})


def are_of_cpu(program: Program, load: ast.Call) -> bool:
    """Whether the project has the files of a load from the CPU, or from a script of its own that is not at hand.

    What such a script saves is not known, and so no evidence.
    """
    scripts = list(_scripts(scope_of(load)))
    if scripts:
        makers = [module for module in program.modules_with("torch", "save") if _is_named(module, scripts)]
        return all(_is_of_cpu(save, scope) for module in makers for save, scope in _saves(module))
    form = _form(load.args[0], scope_of(load)) if load.args else _HOLE
    if not _is_telling(form):
        return False
    saved = [
        (save, scope)
        for module in program.modules_with("torch", "save")
        for save, scope in _saves(module)
        if _form(save.args[1], scope) == form
    ]
    return bool(saved) and all(_is_of_cpu(save, scope) for save, scope in saved)


def _scripts(scope: Scope) -> Iterator[str]:
    """The scripts that texts of a function name: `run tools/make_features.py before training`."""
    if not isinstance(scope, FunctionScope) or b".py" not in scope.module.data:
        return
    for node in ast.walk(scope.node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ".py" in node.value:
            words = [word.strip("`'\".,:;()!?") for word in node.value.split()]
            yield from (word for word in words if word.endswith(".py") and len(word) > len(".py"))


def _is_named(module: Module, scripts: list[str]) -> bool:
    return any(f"/{module.path}".endswith(f"/{script.lstrip('./')}") for script in scripts)


def _saves(module: Module) -> Iterator[tuple[ast.Call, Scope]]:
    for call, scope in module.calls_of("save"):
        if dotted(call.func) == "torch.save" and len(call.args) >= 2:
            yield call, scope


# Names of files


def _form(node: ast.expr, scope: Scope, depth: int = 0) -> str:
    """The name of a file, without its folder, with a hole for each part that is not written out."""
    text = _text(node, scope, depth).rpartition("/")[2]
    while _HOLE * 2 in text:
        text = text.replace(_HOLE * 2, _HOLE)
    return text


def _text(node: ast.expr, scope: Scope, depth: int) -> str:
    if depth > _DEEPEST:
        return _HOLE
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else _HOLE for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, scope, depth + 1) + _text(node.right, scope, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return "/" + _text(node.right, scope, depth + 1)
    if isinstance(node, ast.Call) and node.args and last_name(node) in ("join", "joinpath", "str", "Path"):
        return "/" + _text(node.args[-1], scope, depth + 1)
    given = _assigned(node, scope)
    return _text(given, scope, depth + 1) if given is not None else _HOLE


def _is_telling(form: str) -> bool:
    """Whether a name says more than its suffix: `pitch_?.pt`, `?.soft.pt`."""
    return any(letter.isalpha() for letter in form.rpartition(".")[0])


def _assigned(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What a variable holds, where one assignment alone reaches its use."""
    bindings = scope.index().bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    found = reaching(list(bindings), node) if bindings else []
    value = found[0].value if len(found) == 1 and found[0].kind == "assign" else None
    return value if isinstance(value, ast.expr) else None


# Devices


def _is_of_cpu(save: ast.Call, scope: Scope) -> bool:
    return _on_cpu(save.args[0], scope, 0)


def _on_cpu(node: ast.expr, scope: Scope, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_on_cpu(part, scope, depth + 1) for part in node.elts)
    if isinstance(node, ast.Dict):
        return all(_on_cpu(part, scope, depth + 1) for part in node.values)
    if isinstance(node, ast.Subscript):
        return _on_cpu(node.value, scope, depth + 1)
    if isinstance(node, ast.Call):
        return _brings_to_cpu(node, scope, depth)
    given = _assigned(node, scope)
    return given is not None and _on_cpu(given, scope, depth + 1)


def _brings_to_cpu(call: ast.Call, scope: Scope, depth: int) -> bool:
    name = dotted(call.func)
    if name in apis.FACTORIES and not name.endswith("_like"):
        return not any(keyword.arg in ("device", None) for keyword in call.keywords)
    if name in _JOINS:
        return all(_on_cpu(part, scope, depth + 1) for part in call.args[:1])
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in ("cpu", "tolist", "item", "numpy"):
        return True
    if call.func.attr == "to":
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return any(isinstance(part, ast.Constant) and part.value == "cpu" for part in given)
    return call.func.attr in _KEEP_DEVICE and _on_cpu(call.func.value, scope, depth + 1)
