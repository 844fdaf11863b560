"""Fast tokenizers in forked workers: with TOKENIZERS_PARALLELISM=true a batch waits for threads that only main has.

Measured on tokenizers 0.23: it hangs once main has encoded anything as a batch (Transformers encodes one text as a
batch of one) and a worker encodes a batch of more than one. Where the variable is unset or false, the library notices
the fork and encodes on one thread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.arguments import collect
from dllint.code.language.links import scope_of
from dllint.code.language.scopes import ClassScope, Scope, dotted, last_name
from dllint.code.language.values import Const, Frame, Instance, Product

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry
    from dllint.code.program import Program
    from dllint.code.workers.reach import Step

VARIABLE = "TOKENIZERS_PARALLELISM"
_TRUE = frozenset(("1", "on", "t", "true", "y", "yes"))
_BATCHES = frozenset(("batch_encode_plus", "encode_batch", "encode_batch_fast"))
_ENCODES = frozenset(("__call__", "encode", "encode_plus", "tokenize")) | _BATCHES
_LISTS = frozenset(("list", "tolist", "to_list"))


def waits(entry: WorkerEntry) -> Iterator[tuple[Step, ast.Call, Product]]:
    """The batches that workers encode, each with the tokenizer as it was used in main."""
    if not entry.program.facts.tokenizers_are_parallel:
        return
    used = next(_used_in_main(entry), None)
    if used is None:
        return
    for step, call in entry.code.calls():
        if _encodes_batch(entry, call, step) and _tokenizer(entry.program, call, step.frame) is not None:
            yield step, call, used


def are_parallel(program: Program) -> bool:
    """Whether the program sets the variable to true, and nowhere to anything else."""
    given = [value for module in program.modules_with(VARIABLE) if module.scope for value in _given(module.scope.node)]
    return bool(given) and all(isinstance(value, str) and value.lower() in _TRUE for value in given)


def _given(tree: ast.AST) -> Iterator[object]:
    """What the variable is set to: `os.environ[NAME] = "true"`, `os.environ.setdefault(NAME, "true")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(_names_variable(target) for target in node.targets):
            yield getattr(node.value, "value", None)
        elif isinstance(node, ast.Call) and last_name(node.func) in ("setdefault", "putenv"):
            words = [getattr(argument, "value", None) for argument in node.args]
            yield from words[1:2] if words[:1] == [VARIABLE] else []


def _names_variable(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and getattr(target.slice, "value", None) == VARIABLE


def _used_in_main(entry: WorkerEntry) -> Iterator[Product]:
    """The tokenizers that main has used before the workers start: when the dataset is made, or above its loader."""
    for scope, last in _scopes_of_main(entry):
        for call in scope.index().calls:
            found = _tokenizer(entry.program, call, Frame(scope)) if call.lineno < last and _is_use(call) else None
            if found is not None:
                yield Product(found.name, call, Frame(scope))


def _scopes_of_main(entry: WorkerEntry) -> Iterator[tuple[Scope, float]]:
    """What main runs before the workers start, each with the line that they start on."""
    for loader in entry.loaders:
        yield scope_of(loader.call), loader.location.row
        datasets = (value.cls for value in loader.dataset_values() if hasattr(value, "cls"))
        for cls in (*datasets, *_collators(entry)):
            made = classes.method(entry.program.evaluator, cls, "__init__")
            if made is not None:
                yield made, float("inf")


def _collators(entry: WorkerEntry) -> list[ClassScope]:
    """The classes of the objects whose methods workers call first."""
    receivers = [step.frame.receiver for step in entry.code.steps if step.parent is None]
    return [receiver.cls for receiver in receivers if isinstance(receiver, Instance)]


def _is_use(call: ast.Call) -> bool:
    name = last_name(call.func)
    return name in _ENCODES or "tok" in name.lower()


def _encodes_batch(entry: WorkerEntry, call: ast.Call, step: Step) -> bool:
    """Whether a call hands more than one text to what it calls."""
    if last_name(call.func) in _BATCHES:
        return True
    if not _is_use(call) or not call.args:
        return False
    return _is_list(call.args[0], step.scope) or _is_batch(entry, call.args[0], step)


def _is_batch(entry: WorkerEntry, node: ast.expr, step: Step) -> bool:
    """Whether an expression is the whole batch that a collate_fn is given, of more than one sample."""
    own = [parameter.arg for parameter in step.scope.parameters if parameter.arg != step.scope.receiver_name]
    if step.parent is not None or step.label != "collate_fn" or dotted(node) not in own[:1]:
        return False
    sizes = [loader.option("batch_size").constants() for loader in entry.loaders]
    return bool(sizes) and all(found and all(isinstance(n, int) and n > 1 for n in found) for found in sizes)


def _is_list(node: ast.expr, scope: Scope) -> bool:
    if isinstance(node, ast.Name):
        bindings = scope.index().bindings.get(node.id, ())
        values = [binding.value for binding in bindings if binding.kind == "assign"]
        return len(values) == len(bindings) > 0 and all(isinstance(v, ast.expr) and _makes_list(v) for v in values)
    return _makes_list(node)


def _makes_list(node: ast.expr) -> bool:
    if isinstance(node, ast.List):
        return len(node.elts) > 1
    return isinstance(node, ast.ListComp) or (isinstance(node, ast.Call) and last_name(node.func) in _LISTS)


def _tokenizer(program: Program, call: ast.Call, frame: Frame) -> Product | None:
    """The fast tokenizer that a call is made on."""
    name = last_name(call.func)
    holder = call.func.value if isinstance(call.func, ast.Attribute) and name in _ENCODES else call.func
    if name in ("from_pretrained", "from_file") or not dotted(holder):
        return None
    for value in program.evaluator.values(holder, frame):
        # The library itself encodes one text without its threads.
        if isinstance(value, Product) and _is_fast(program, value):
            return value if name in _BATCHES or not value.name.startswith("tokenizers.") else None
    return None


def _is_fast(program: Program, made: Product) -> bool:
    """Whether a call gives a tokenizer that is written in Rust."""
    if made.name.startswith("tokenizers."):
        return True
    if not made.name.startswith("transformers."):
        return False
    if "TokenizerFast" in made.name:
        return True
    fast = collect(program.evaluator, made.node, made.frame).named.get("use_fast")
    said = fast.values(program.evaluator) if fast is not None else ()
    is_auto = made.name == "transformers.AutoTokenizer.from_pretrained"
    return is_auto and all(isinstance(value, Const) and value.value is True for value in said)
