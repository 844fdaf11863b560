"""Images that Python builds through the docker SDK: `client.images.build(path=".", tag="train")`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language.arguments import collect, name_positional
from dllint.code.language.modules import Module
from dllint.code.language.scopes import Scope, dotted
from dllint.code.language.values import Const, Derived, External, Frame, Product
from dllint.deploy.workload import Build
from dllint.finding import Location

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_BUILD = "build"
_PLACES = ("path", "tag")


class SdkBuild(NamedTuple):
    """One call whose folder and tag are known."""

    tag: str
    build: Build
    module: Module
    at: Location


def sdk_builds(plan: Plan) -> Iterator[SdkBuild]:
    """The calls of all modules that build images; a test's are no use of the project."""
    for module in plan.program.modules_with("docker", _BUILD):
        for call, scope in () if module.is_test else module.calls_of(_BUILD):
            if is_client_of_docker(call, "images", scope, plan):
                yield from _of(call, scope, module, plan)


def is_client_of_docker(call: ast.Call, group: str, scope: Scope, plan: Plan) -> bool:
    """Whether a call is a method of a client's `images` or `containers`, or of the API beneath; a client that nobody
    sees counts where docker is imported."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    if holder is None:
        return False
    is_grouped = isinstance(holder, ast.Attribute) and holder.attr == group
    client = holder.value if is_grouped and isinstance(holder, ast.Attribute) else holder
    clients = plan.program.evaluator.values(client, Frame(scope))
    made = {_origin(value) for value in clients if isinstance(value, (Product, External, Derived))}
    if made and any(made):
        is_api = dotted(client).endswith(".api") or all(name.endswith("APIClient") for name in made)
        return any(name.startswith("docker.") for name in made) and (is_grouped or is_api)
    imported = scope.module.scope.index().bindings.get("docker", [])
    return is_grouped and any(binding.kind == "import" for binding in imported)


def _origin(value: Product | External | Derived) -> str:
    first = value.origin if isinstance(value, Derived) else value
    return first.name if isinstance(first, (Product, External)) else ""


def _of(call: ast.Call, scope: Scope, module: Module, plan: Plan) -> Iterator[SdkBuild]:
    given = name_positional(collect(plan.program.evaluator, call, Frame(scope)), _PLACES)
    texts = {}
    for name, argument in given.items():
        values = argument.values(plan.program.evaluator)
        only = values[0] if len(values) == 1 else None
        texts[name] = only.value if isinstance(only, Const) and isinstance(only.value, str) else ""
    folder, tag = texts.get("path", ""), texts.get("tag", "")
    if not folder or not tag:
        return
    dockerfile, target = texts.get("dockerfile", "Dockerfile"), texts.get("target", "")
    for place in dict.fromkeys((plan.root, os.path.dirname(module.absolute))):
        context = os.path.normpath(os.path.join(place, folder))
        found = plan.file_at(os.path.join(context, dockerfile), context) if dockerfile else None
        if found is not None:
            yield SdkBuild(tag, Build(context, found.absolute, target), module, module.location(call))
            return
