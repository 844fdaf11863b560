"""Who makes the files that `torch.load` reads, where the project tells: a script it names, or its own `torch.save`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.containers import stored_under
from dllint.code.language.elements import under_key
from dllint.code.language.libcalls import argument
from dllint.code.language.links import scope_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope, dotted
from dllint.code.language.values import Collection, External, Frame, Function
from dllint.code.tensors import devices, file_names, on_cpu
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.program import Program

_SAVE = "torch.save"
_DEVICES = pattern(rb"cuda|device|gpu|\.to\(|accelerat|[Tt]rainer", re.IGNORECASE)


def are_of_cpu(program: Program, load: ast.Call, entry: str = "") -> bool:
    """Whether the project has the files of a load, or the entry of this name in them, from the CPU, or from a script of
    its own that is not at hand.

    What such a script saves is not known, and so no evidence.
    """
    scripts = list(_scripts(scope_of(load)))
    if scripts:
        makers = [module for module in program.modules_with("torch", "save") if _is_named(module, scripts)]
        return all(
            _is_of_cpu(program, saved, scope) for module in makers for saved, _, scope in _saves(program, module)
        )
    found = list(_saves_of(program, load)) or list(_saves_like(program, load, entry))
    parts = [(_part(program, saved, scope, entry), scope) for saved, scope in found]
    return bool(parts) and all(_is_of_cpu(program, saved, scope) for saved, scope in parts)


def _part(program: Program, saved: ast.expr, scope: Scope, entry: str) -> ast.expr:
    """The entry of a dict that is saved; all of it where there is none of this name."""
    for value in program.evaluator.values(saved, Frame(scope)) if entry else ():
        if isinstance(value, Collection) and value.frame.scope is scope:
            part = under_key(value, entry) or _stored_under(value, entry)
            if part is not None:
                return part
    return saved


def _stored_under(value: Collection, entry: str) -> ast.expr | None:
    stored = (binding.value for binding in stored_under(value, entry))
    return next((one for one in stored if isinstance(one, ast.expr)), None)


def _saves_like(program: Program, load: ast.Call, entry: str) -> Iterator[tuple[ast.expr, Scope]]:
    """Of a load whose file nobody names, what the project saves in files that the option for it is called after, or
    with an entry of the same name: `options["latent_gt_path"]` for `f"latent_gt_{size}.pth"`."""
    path = argument(load, "f", 0)
    if path is None or any(char.isalpha() for char in file_names.forms(program, path, Frame(scope_of(load)))[0]):
        return
    stem = file_names.stem(program, path, Frame(scope_of(load)))
    for module in _saving_modules(program):
        for saved, to, scope in _saves(program, module) if not module.is_test else ():
            name, _ = file_names.forms(program, to, Frame(scope))
            if (stem and stem in name) or (entry and _part(program, saved, scope, entry) is not saved):
                yield saved, scope


def are_of_gpu(program: Program, load: ast.Call) -> bool:
    """Whether the project certainly saves what is on the GPU into the very files that a load reads."""
    return any(_is_of_gpu(program, saved, scope) for saved, scope in _saves_of(program, load))


def _is_of_cpu(program: Program, saved: ast.expr, scope: Scope) -> bool:
    return on_cpu.are_on_cpu(program, saved, Frame(scope)) or _knows_no_device(program, scope)


def _knows_no_device(program: Program, scope: Scope) -> bool:
    """Whether a function that saves, and the modules that name it, never speak of a device: a script of arrays."""
    modules = {scope.module}
    if isinstance(scope, FunctionScope) and scope.parameters:
        others = set(program.mentions.of(scope.name.encode())) - modules
        if not others and not any(scope.module.calls_of(scope.name)):
            return False
        modules |= others
    return not any(_DEVICES.search(module.data) for module in modules)


def _is_of_gpu(program: Program, saved: ast.expr, scope: Scope) -> bool:
    values = program.evaluator.values(saved, Frame(scope))
    return all(devices.is_on_cuda(program, value) for value in values)


def _saves_of(program: Program, load: ast.Call) -> Iterator[tuple[ast.expr, Scope]]:
    """What the project saves into the files of a load, by their name, or in the same function or class by the
    same words."""
    path, around = argument(load, "f", 0), scope_of(load)
    if path is None:
        return
    form, owner, words = file_names.forms(program, path, Frame(around)), classes.owner_of(around), ast.dump(path)
    for module in _saving_modules(program):
        for saved, to, scope in _saves(program, module):
            near = scope is around or (owner is not None and classes.owner_of(scope) is owner)
            same = near and ast.dump(to) == words
            if same or file_names.are_of_one_file(form, file_names.forms(program, to, Frame(scope))):
                yield saved, scope


def _saving_modules(program: Program) -> Iterator[Module]:
    """The modules that save something, by torch or by a function of the project that hands it on to that."""
    by_savers = (module for saver in _savers(program) for module in program.modules_with(saver.name))
    yield from dict.fromkeys([*program.modules_with("torch", "save"), *by_savers])


def _saves(program: Program, module: Module) -> Iterator[tuple[ast.expr, ast.expr, Scope]]:
    """What is saved, where, and in which scope."""
    for call, scope in module.calls_of("save"):
        saved, path = argument(call, "obj", 0), argument(call, "f", 1)
        if saved is not None and path is not None and _is_save(program, call.func, scope):
            yield saved, path, scope
    for saver, parameters in _savers(program).items():
        for call, scope in module.calls_of(saver.name):
            found = [argument(call, name, index) for name, index in parameters]
            if found[0] is not None and found[1] is not None and _calls(program, call, scope, saver):
                yield found[0], found[1], scope


def _savers(program: Program) -> dict[FunctionScope, list[tuple[str, int]]]:
    """The project's own functions that hand on what they are given to `torch.save`, each with the parameters for what
    is saved and for its file: `def save_on_master(*args, **kwargs): torch.save(*args, **kwargs)`."""
    memo = program.facts.savers_memo
    if memo is None:
        memo = program.facts.savers_memo = {}
        for module in program.modules_with("torch", "save"):
            for call, scope in module.calls_of("save"):
                handed_on = _handed_on(call, scope) if isinstance(scope, FunctionScope) else []
                if handed_on and isinstance(scope, FunctionScope) and _is_save(program, call.func, scope):
                    memo[scope] = handed_on
    return memo


def _handed_on(call: ast.Call, scope: FunctionScope) -> list[tuple[str, int]]:
    """The parameters that a function passes on as what is saved, and as its file; none where it does something else."""
    if scope.owner is not None or isinstance(scope.node, ast.Lambda):
        return []
    extra, first = scope.node.args.vararg, call.args[0] if call.args else None
    if isinstance(first, ast.Starred):
        is_all = extra is not None and dotted(first.value) == extra.arg and not scope.parameters
        return [("obj", 0), ("f", 1)] if is_all else []
    given = [argument(call, "obj", 0), argument(call, "f", 1)]
    names = [parameter.arg for parameter in scope.parameters]
    words = [dotted(one) if one is not None else "" for one in given]
    is_as_given = all(word in names for word in words) and len(scope.index().bindings[words[0]]) == 1
    return [(word, names.index(word)) for word in words] if is_as_given else []


def _calls(program: Program, call: ast.Call, scope: Scope, saver: FunctionScope) -> bool:
    found = program.evaluator.hint(call.func, Frame(scope))
    return any(isinstance(value, Function) and value.scope is saver for value in found)


def _is_save(program: Program, function: ast.expr, scope: Scope) -> bool:
    if dotted(function) == _SAVE:
        return True
    if dotted(function).count(".") > 1:
        return False
    found = program.evaluator.hint(function, Frame(scope))
    return any(isinstance(value, External) and value.name == _SAVE for value in found)


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
