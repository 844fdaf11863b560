"""Terraform: the task and job definitions of AWS, whose containers stand in `jsonencode(...)` or in JSON.

They are put as the JSON that Terraform makes of them, for `aws` to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from yaml import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.deploy.launchers.aws import of_definition
from dllint.deploy.workload import Workload
from dllint.files import Kind
from dllint.finding import Location
from dllint.records import replace
from dllint.syntax.hcl import Block, Value, parse
from dllint.syntax.jsonc import masked
from dllint.syntax.python import CannotParseError
from dllint.syntax.tree import Tree, trees

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_RESOURCES = ("aws_ecs_task_definition", "aws_batch_job_definition")
_NAMES = {
    "container_definitions": "containerDefinitions",
    "container_properties": "containerProperties",
    "node_properties": "nodeProperties",
    "ecs_properties": "ecsProperties",
    "eks_properties": "eksProperties",
    "requires_compatibilities": "requiresCompatibilities",
    "platform_capabilities": "platformCapabilities",
    "ipc_mode": "ipcMode",
    "memory": "memory",
    "name": "jobDefinitionName",
}
_HEREDOC = re.compile(r"<<-?\w+[ \t\r]*\n")
_REFERENCE = re.compile(r"(?:local|var)\.\w+")
_DEEPEST = 40
_STRING, _EXPRESSION = "tag:yaml.org,2002:str", "!expression"
_TAGS = {"true": "tag:yaml.org,2002:bool", "false": "tag:yaml.org,2002:bool", "null": "tag:yaml.org,2002:null"}


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers of a file's task and job definitions."""
    values = plan.shared(_values).get(file.folder, {})
    for block in parse(file.text, file.path).of("resource"):
        if block.labels[:1] and block.labels[0] in _RESOURCES:
            yield from of_definition(Tree(_definition(block, values)), file)


def _values(plan: Plan) -> dict[str, dict[str, Value]]:
    """By folder, which is a module of Terraform: its locals, and the texts that its variables have by default.

    A number is too likely another one where the module is used.
    """
    found: dict[str, dict[str, Value]] = {}
    for file in plan.of_kind(Kind.HCL):
        root = parse(file.text, file.path) if file.has(b"locals") or file.has(b"variable") else None
        values = found.setdefault(file.folder, {})
        for block in root.of("locals") if root is not None else ():
            values |= {f"local.{name}": value for name, value in block.body.attributes.items()}
        for block in root.of("variable") if root is not None else ():
            default = block.body.attributes.get("default")
            if default is not None and default.source.startswith('"') and block.labels:
                values[f"var.{block.labels[0]}"] = default
    return found


def _definition(block: Block, values: Mapping[str, Value]) -> Node:
    """A resource as the definition that AWS is given."""
    at = block.at
    body = block.body
    entries = [(name, _node(body.attributes[key], values)) for key, name in _NAMES.items() if key in body.attributes]
    volumes = [_volume(volume, values) for volume in body.of("volume")]
    if volumes:
        entries.append(("volumes", SequenceNode("", volumes, *_marks(at))))
    return MappingNode("", [(_text(name, node), node) for name, node in entries], *_marks(at))


def _volume(block: Block, values: Mapping[str, Value]) -> Node:
    """`volume { name = "shm", host_path = "/dev/shm" }`."""
    at = block.at
    attributes = block.body.attributes
    entries = [("name", _node(attributes["name"], values))] if "name" in attributes else []
    if "host_path" in attributes:
        path = _node(attributes["host_path"], values)
        entries.append(("host", MappingNode("", [(_text("sourcePath", path), path)], *_marks(at))))
    drivers = block.body.of("docker_volume_configuration")
    entries += [("dockerVolumeConfiguration", MappingNode("", [], *_marks(inner.at))) for inner in drivers]
    return MappingNode("", [(_text(name, node), node) for name, node in entries], *_marks(at))


def _node(value: Value, values: Mapping[str, Value], depth: int = 0) -> Node:
    """A value as a node of the JSON that Terraform makes of it."""
    if _REFERENCE.fullmatch(value.source) and value.source in values and depth < _DEEPEST:
        return _node(replace(values[value.source], at=value.at), values, depth + 1)
    marks = _marks(value.at)
    if value.items is not None:
        return SequenceNode("", [_node(item, values, depth + 1) for item in value.items], *marks)
    if value.pairs is not None:
        nodes = ((name, _node(item, values, depth + 1)) for name, item in value.pairs.items())
        return MappingNode("", [(_text(name, node), node) for name, node in nodes], *marks)
    return _of_json(value) or _scalar(value)


def _scalar(value: Value) -> Node:
    marks = _marks(value.at)
    if value.source.startswith('"'):
        # What is put into a string stays as it is written, such as `${var.tag}`.
        return ScalarNode(_STRING, value.source[1:-1] if value.text is None else value.text, *marks, style='"')
    if value.text is None:
        return ScalarNode(_EXPRESSION, value.source, *marks)
    return ScalarNode(_TAGS.get(value.source, "tag:yaml.org,2002:int"), value.text, *marks)


def _of_json(value: Value) -> Node | None:
    """The JSON in a here-document."""
    opened = _HEREDOC.match(value.source)
    if opened is None:
        return None
    body = value.source[opened.end() : value.source.rindex("\n") + 1]
    with suppress(CannotParseError):
        return next((tree.node for tree in trees(value.at.path, masked(body), value.at.row)), None)
    return None


def _text(text: str, where: Node) -> Node:
    return ScalarNode(_STRING, text, where.start_mark, where.end_mark)


def _marks(at: Location) -> tuple[Mark, Mark]:
    end = max(at.end_column - 1, 0)
    return (
        Mark(at.path, 0, at.row - 1, at.column - 1, None, 0),
        Mark(at.path, 0, at.end_row - 1, end - 1 if end else 0, None, 0),
    )
