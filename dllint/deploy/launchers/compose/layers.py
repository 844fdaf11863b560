"""A value of a compose project: the same key in several files, one merged on top of the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dllint.deploy.launchers.compose.interpolation import Text, interpolated
from dllint.deploy.workload import Setting
from dllint.finding import Location
from dllint.records import dataclass, field
from dllint.syntax.tree import Tree


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds for all values of one file."""

    folder: str
    """Absolute path that relative paths start from."""
    variables: Mapping[str, str] = field(default_factory=dict)


class Layer(NamedTuple):
    """One file's value."""

    tree: Tree
    scope: Scope

    @property
    def value(self) -> Text:
        """The text of a scalar with variables put in; empty and known for anything else."""
        return interpolated(self.tree.text or "", self.scope.variables)

    def text_of(self, key: str) -> str | None:
        """The text below a key; None where a variable in it is not known; empty where it is missing."""
        child = self.tree.get(key)
        value = Layer(child, self.scope).value if child is not None else Text("")
        return value.text if value.known else None

    @property
    def setting(self) -> Setting[str]:
        """The text as a setting."""
        value = self.value
        return Setting(value.text if value.known else None, self.at, self.tree.text or "")

    @property
    def at(self) -> Location:
        """Where the value stands."""
        return self.tree.at


class Merged(NamedTuple):
    """A value with its layers, the one that is merged last first."""

    layers: tuple[Layer, ...]

    @property
    def top(self) -> Layer:
        """The layer that decides a scalar."""
        return self.layers[0]

    def get(self, *keys: str) -> Merged | None:
        """The value below these keys; None where no layer has one, or one resets it."""
        layers = self.layers
        if len(layers) == 1 and layers[0].tree.get(keys[0]) is None:
            return None
        for key in keys:
            layers = _below(layers, key)
            if not layers:
                return None
        return Merged(layers)

    def text_of(self, *keys: str) -> str | None:
        """The text of a scalar; None where it is not known; empty where it is missing."""
        found = self.get(*keys)
        if found is None:
            return ""
        value = found.top.value
        return value.text if value.known else None

    def setting_of(self, *keys: str) -> Setting[str] | None:
        """A scalar as a setting; None where it is missing."""
        found = self.get(*keys)
        return found.top.setting if found is not None else None

    def names(self) -> list[str]:
        """The keys of a mapping, those of the lowest layer first."""
        return list(dict.fromkeys(name for layer in reversed(self.layers) for name, _ in layer.tree.pairs()))

    def items(self) -> list[Layer]:
        """The items of all layers' lists, the lowest layer's first; a scalar is its own only item."""
        found: list[Layer] = []
        for layer in reversed(self.layers):
            items = layer.tree.items() if layer.tree.is_list else [layer.tree] if layer.tree.text else []
            found.extend(Layer(item, layer.scope) for item in items)
        return found


def _below(layers: tuple[Layer, ...], key: str) -> tuple[Layer, ...]:
    """The layers of the value below a key."""
    found = []
    for layer in layers:
        child = layer.tree.get(key)
        if child is None:
            continue
        tag = child.node.tag
        if tag == "!reset":
            break
        if not child.is_null:
            found.append(Layer(child, layer.scope))
        if tag == "!override":
            break
    return tuple(found)
