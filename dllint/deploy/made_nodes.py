"""Nodes, as of YAML, for what another language says: each with the place that it has there."""

from __future__ import annotations

from yaml import Mark
from yaml.nodes import MappingNode, Node, ScalarNode

from dllint.finding import Location

STRING, INTEGER = "tag:yaml.org,2002:str", "tag:yaml.org,2002:int"
BOOLEAN, NULL = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"


def marks(at: Location) -> tuple[Mark, Mark]:
    """Where a node starts and ends."""
    end = max(at.end_column - 1, 0)
    return (
        Mark(at.path, 0, at.row - 1, at.column - 1, None, 0),
        Mark(at.path, 0, at.end_row - 1, end - 1 if end else 0, None, 0),
    )


def string(text: str, at: Location) -> ScalarNode:
    """A text in quotes."""
    return ScalarNode(STRING, text, *marks(at), style='"')


def mapping(pairs: dict[str, tuple[Location, Node]], at: Location) -> MappingNode:
    """A mapping: the keys, each with its place and value."""
    nodes = [(ScalarNode(STRING, key, *marks(where)), value) for key, (where, value) in pairs.items()]
    return MappingNode("tag:yaml.org,2002:map", nodes, *marks(at))
