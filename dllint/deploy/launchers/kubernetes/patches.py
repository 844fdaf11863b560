"""Patches on nodes, as kustomize applies them: strategic merge and JSON 6902.

Nothing is changed in place: a patched document shares what it keeps with the old one, and each value keeps the place
and the file that it was written in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.patterns import pattern
from dllint.syntax.tree import Tree

_MERGED_BY = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}
"""Lists of Kubernetes' own kinds whose items are merged, by the key that tells which; all others are replaced."""
_DEEPEST = 60
_DIRECTIVE = "$patch"
_IMAGE = "image"
_INDEX = pattern(r"[0-9]{1,6}")


def merged(base: Node, patch: Node, *, by_key: bool, depth: int = 0) -> Node:
    """`base` with a strategic merge patch; lists are merged by their keys only where Kubernetes knows the kind."""
    if depth > _DEEPEST or not (isinstance(base, MappingNode) and isinstance(patch, MappingNode)):
        return patch
    if Tree(patch).text_of(_DIRECTIVE) == "replace":
        return patch
    entries = {name: (key, value) for name, key, value in _entries(base)}
    for name, key, value in _entries(patch):
        old = entries.get(name)
        if _is_removal(value):
            entries.pop(name, None)
        elif old is None:
            entries[name] = (key, value)
        elif by_key and name in _MERGED_BY and isinstance(old[1], SequenceNode) and isinstance(value, SequenceNode):
            entries[name] = (old[0], _merged_list(old[1], value, _MERGED_BY[name], depth))
        else:
            entries[name] = (
                old[0] if isinstance(value, MappingNode) else key,
                merged(old[1], value, by_key=by_key, depth=depth + 1),
            )
    return _mapping(base, list(entries.values()))


def applied(root: Node, path: str, operation: str, value: Node | None) -> Node:
    """A document after one JSON 6902 operation; itself where the path leads nowhere."""
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]
    return _changed(root, tokens, operation, value) if 0 < len(tokens) <= _DEEPEST else root


def _changed(node: Node, tokens: Sequence[str], operation: str, value: Node | None) -> Node:
    if isinstance(node, SequenceNode):
        return _changed_list(node, tokens, operation, value)
    if not isinstance(node, MappingNode):
        return node
    entries = [(key, item) for _, key, item in _entries(node)]
    names = [name for name, _, _ in _entries(node)]
    at = names.index(tokens[0]) if tokens[0] in names else None
    if len(tokens) > 1:
        if at is not None:
            entries[at] = (entries[at][0], _changed(entries[at][1], tokens[1:], operation, value))
    elif operation == "remove":
        entries = [entry for number, entry in enumerate(entries) if number != at]
    elif value is not None:
        key = ScalarNode("tag:yaml.org,2002:str", tokens[0], value.start_mark, value.end_mark)
        entries = [entry for number, entry in enumerate(entries) if number != at]
        entries.append((key, value))
    return _mapping(node, entries)


def _changed_list(node: SequenceNode, tokens: Sequence[str], operation: str, value: Node | None) -> Node:
    items = list(node.value)
    at = len(items) if tokens[0] == "-" else int(tokens[0]) if _INDEX.fullmatch(tokens[0]) else -1
    if not 0 <= at <= len(items) or (at == len(items) and (operation != "add" or len(tokens) > 1)):
        return node
    if len(tokens) > 1:
        items[at] = _changed(items[at], tokens[1:], operation, value)
    elif operation == "remove":
        del items[at]
    elif value is not None:
        items[at : at + (operation == "replace")] = [value]
    return SequenceNode(node.tag, items, node.start_mark, node.end_mark, node.flow_style)


def _merged_list(base: SequenceNode, patch: SequenceNode, key: str, depth: int) -> Node:
    items = list(base.value)
    for item in patch.value:
        tree = Tree(item)
        at = next((n for n, old in enumerate(items) if _same(Tree(old), tree, key)), None)
        if tree.text_of(_DIRECTIVE) == "delete":
            items = [old for n, old in enumerate(items) if n != at]
        elif tree.text_of(_DIRECTIVE) == "replace":
            items = [other for other in patch.value if Tree(other).text_of(_DIRECTIVE) != "replace"]
            break
        elif at is None:
            items.append(item)
        else:
            items[at] = merged(items[at], item, by_key=True, depth=depth + 1)
    return SequenceNode(base.tag, items, base.start_mark, base.end_mark, base.flow_style)


def _same(old: Tree, new: Tree, key: str) -> bool:
    return bool(new.text_of(key)) and old.text_of(key) == new.text_of(key)


def _is_removal(value: Node) -> bool:
    tree = Tree(value)
    return tree.is_null or tree.text_of(_DIRECTIVE) == "delete"


def _entries(node: MappingNode) -> Iterator[tuple[str, Node, Node]]:
    """The keys of a mapping with what it merges in; patches see through `<<` because kustomize does."""
    for name, tree in Tree(node).pairs():
        if tree.key is not None:
            yield name, tree.key, tree.node


def _mapping(like: MappingNode, entries: list[tuple[Node, Node]]) -> MappingNode:
    return MappingNode(like.tag, entries, like.start_mark, like.end_mark, like.flow_style)


# --- images ---


def with_image(root: Node, image: Tree) -> Node:
    """A document in which an image has the name and tag that an entry of `images` gives it."""
    name, new_name = image.text_of("name"), image.text_of("newName")
    tag, digest = image.text_of("newTag"), image.text_of("digest")
    suffix = f"@{digest}" if digest else f":{tag}" if tag else ""

    def renamed(text: str) -> str:
        if not name or _image_name(text) != name:
            return text
        return (new_name or name) + (suffix or text[len(name) :])

    return _with_images(root, renamed, {}, 0)


def image_names(root: Node) -> frozenset[str]:
    """The names of all images in a document, without their tags."""
    found = set()
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ScalarNode) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            pending += node.value
            continue
        for key, value in node.value:
            if not isinstance(value, ScalarNode):
                pending.append(value)
            elif key.value == _IMAGE:
                found.add(_image_name(str(value.value)))
    return frozenset(found)


def _with_images(node: Node, renamed: Callable[[str], str], done: dict[int, Node], depth: int) -> Node:
    """A document with its images called otherwise; what does not change is shared."""
    if isinstance(node, ScalarNode) or id(node) in done or depth > _DEEPEST:
        return done.get(id(node), node)
    done[id(node)] = node
    if isinstance(node, SequenceNode):
        items = [_with_images(item, renamed, done, depth + 1) for item in node.value]
        if any(new is not old for new, old in zip(items, node.value, strict=True)):
            done[id(node)] = SequenceNode(node.tag, items, node.start_mark, node.end_mark, node.flow_style)
    elif isinstance(node, MappingNode):
        named = [(key, _image(key, value, renamed)) for key, value in node.value]
        entries = [(key, _with_images(value, renamed, done, depth + 1)) for key, value in named]
        if any(new[1] is not old[1] for new, old in zip(entries, node.value, strict=True)):
            done[id(node)] = _mapping(node, entries)
    return done[id(node)]


def _image(key: Node, value: Node, renamed: Callable[[str], str]) -> Node:
    """The value of an entry, renamed if it is an image's."""
    if key.value != _IMAGE or not isinstance(value, ScalarNode):
        return value
    text = renamed(str(value.value))
    return value if text == value.value else ScalarNode(value.tag, text, value.start_mark, value.end_mark)


def _image_name(image: str) -> str:
    name = image.partition("@")[0]
    last = name.rpartition("/")[2]
    return name[: len(name) - len(last)] + last.partition(":")[0]
