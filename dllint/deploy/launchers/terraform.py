"""Terraform: the task and job definitions of AWS, whose containers stand in `jsonencode(...)` or in JSON.

They are put as the JSON that Terraform makes of them, for `aws` to read.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from yaml import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.deploy.launchers.aws import of_definition
from dllint.deploy.made_nodes import INTEGER, STRING
from dllint.deploy.made_nodes import marks as made_marks
from dllint.deploy.workload import Workload
from dllint.files import Kind
from dllint.patterns import pattern
from dllint.syntax.hcl import Block, Body, Value, parse
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
_HEREDOC = pattern(r"<<-?\w+[ \t\r]*\n")
_REFERENCE = pattern(r"\b(?:local|var)(?:\.\w[\w-]*)+")
_ARITHMETIC = pattern(r"(?=[^+*/-]*[+*/-])[\w.\s()+*/-]+")
_LONGEST = 300
"""Characters of an expression that is computed."""
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_DEEPEST = 40
_EXPRESSION = "!expression"
_NOWHERE = Mark("", 0, 0, 0, None, 0)
_TAGS = {"true": "tag:yaml.org,2002:bool", "false": "tag:yaml.org,2002:bool", "null": "tag:yaml.org,2002:null"}


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers of a file's task and job definitions."""
    module = plan.shared(_modules).get(file.folder, _Module())
    for block in parse(file.text, file.path).of("resource"):
        if block.labels[:1] and block.labels[0] in _RESOURCES:
            yield from of_definition(Tree(_definition(block, module)), file)


class _Module:
    """What a folder of files says: its locals, and the texts that its variables have by default.

    A number is too likely another one where the module is used.
    """

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}
        self._nodes: dict[str, Node | None] = {}

    def add(self, root: Body) -> None:
        """Take in what a file of the folder says."""
        for block in root.of("locals"):
            self._values |= {f"local.{name}": value for name, value in block.body.attributes.items()}
        for block in root.of("variable"):
            default = block.body.attributes.get("default")
            if default is not None and default.source.startswith('"') and block.labels:
                self._values[f"var.{block.labels[0]}"] = default

    def node(self, value: Value, depth: int = 0) -> Node:
        """A value as a node of the JSON that Terraform makes of it."""
        marks = made_marks(value.at)
        if value.items is not None:
            return SequenceNode("", [self.node(item, depth + 1) for item in value.items], *marks)
        if value.pairs is not None:
            nodes = ((name, self.node(item, depth + 1)) for name, item in value.pairs.items())
            return MappingNode("", [(_text(name, node), node) for name, node in nodes], *marks)
        if value.text is None and depth < _DEEPEST:
            found = self._computed(value.source, depth)
            if found is not None:
                return _moved(found, marks)
        return _of_json(value) or _scalar(value)

    def _computed(self, source: str, depth: int) -> Node | None:
        """What an expression comes to: a reference, or a number out of several."""
        if _REFERENCE.fullmatch(source):
            return self._referenced(source, depth)
        if len(source) > _LONGEST or not _ARITHMETIC.fullmatch(source):
            return None
        number = _number(_REFERENCE.sub(lambda found: self._number_of(found[0], depth), source))
        return ScalarNode(INTEGER, number, _NOWHERE, _NOWHERE) if number is not None else None

    def _number_of(self, reference: str, depth: int) -> str:
        node = self._referenced(reference, depth)
        return str(node.value) if isinstance(node, ScalarNode) and node.tag == INTEGER else "?"

    def _referenced(self, reference: str, depth: int) -> Node | None:
        """What `local.sizes.shm` stands for."""
        kind, name, *keys = reference.split(".")
        found = self._named(f"{kind}.{name}", depth)
        for key in keys:
            below = Tree(found).get(key) if found is not None else None
            found = below.node if below is not None else None
        return found

    def _named(self, name: str, depth: int) -> Node | None:
        """The node of a local, which is made once however often it is used; none while it is being made."""
        if name in self._values and name not in self._nodes:
            self._nodes[name] = None
            self._nodes[name] = self.node(self._values[name], depth + 1)
        return self._nodes.get(name)


def _modules(plan: Plan) -> dict[str, _Module]:
    """By folder, which is a module of Terraform."""
    found: dict[str, _Module] = {}
    for file in plan.of_kind(Kind.HCL):
        module = found.setdefault(file.folder, _Module())
        if file.has(b"locals") or file.has(b"variable"):
            module.add(parse(file.text, file.path))
    return found


def _definition(block: Block, module: _Module) -> Node:
    """A resource as the definition that AWS is given."""
    at = block.at
    body = block.body
    entries = [(name, module.node(body.attributes[key])) for key, name in _NAMES.items() if key in body.attributes]
    volumes = [_volume(volume, module) for volume in body.of("volume")]
    if volumes:
        entries.append(("volumes", SequenceNode("", volumes, *made_marks(at))))
    return MappingNode("", [(_text(name, node), node) for name, node in entries], *made_marks(at))


def _volume(block: Block, module: _Module) -> Node:
    """`volume { name = "shm", host_path = "/dev/shm" }`."""
    at = block.at
    attributes = block.body.attributes
    entries = [("name", module.node(attributes["name"]))] if "name" in attributes else []
    if "host_path" in attributes:
        path = module.node(attributes["host_path"])
        entries.append(("host", MappingNode("", [(_text("sourcePath", path), path)], *made_marks(at))))
    drivers = block.body.of("docker_volume_configuration")
    entries += [("dockerVolumeConfiguration", MappingNode("", [], *made_marks(inner.at))) for inner in drivers]
    return MappingNode("", [(_text(name, node), node) for name, node in entries], *made_marks(at))


def _moved(node: Node, marks: tuple[Mark, Mark]) -> Node:
    """A node in another place; what lies in it stays where it is."""
    if isinstance(node, ScalarNode):
        return ScalarNode(node.tag, node.value, *marks, style=node.style)
    return type(node)(node.tag, node.value, *marks)


def _number(source: str) -> str | None:
    """The whole number that an expression comes to; None for one that cannot be told, or is none."""
    try:
        found = _value(ast.parse(source.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return None
    return str(found) if found.denominator == 1 else None


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return Fraction(str(node.value))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError(ast.unparse(node))


def _scalar(value: Value) -> Node:
    marks = made_marks(value.at)
    if value.source.startswith('"'):
        # What is put into a string stays as it is written, such as `${var.tag}`.
        return ScalarNode(STRING, value.source[1:-1] if value.text is None else value.text, *marks, style='"')
    if value.text is None:
        return ScalarNode(_EXPRESSION, value.source, *marks)
    return ScalarNode(_TAGS.get(value.source, INTEGER), value.text, *marks)


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
    return ScalarNode(STRING, text, where.start_mark, where.end_mark)
