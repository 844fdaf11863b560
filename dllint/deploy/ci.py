"""The shell steps of CI files (GitHub, GitLab, CircleCI, Azure Pipelines ...), of task files and of SkyPilot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from yaml.nodes import ScalarNode

from dllint.deploy.commands import Script
from dllint.deploy.texts import DeployFile
from dllint.finding import Location
from dllint.syntax.mapped import Mapped, joined
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_ROOTS = frozenset({"jobs", "steps", "stages", "pipeline", "tasks", "runs", "run", "script", "commands", "workflows"})
"""A CI file has one of these keys."""
_STEPS = frozenset(
    {"run", "script", "before_script", "after_script", "commands", "command", "bash", "sh", "pwsh", "cmds", "cmd"}
    | {"before_install", "install", "after_success"}
)
"""Keys whose texts a shell runs."""
_VARIABLES = frozenset({"env", "variables", "environment", "vars"})
_WORKFLOWS = "/.github/workflows/"
_DEEPEST = 14


def is_never_run(file: DeployFile, plan: Plan) -> bool:
    """Whether a workflow lies in a `.github` folder that is not at the top of a repository: one of a project that was
    copied into this one, which GitHub does not read."""
    top, folder, _ = file.absolute.replace(os.sep, "/").partition(_WORKFLOWS)
    if not folder or not top.startswith(plan.root.replace(os.sep, "/").rstrip("/") + "/"):
        return False
    return not os.path.exists(os.path.join(top, ".git"))


def steps(file: DeployFile, plan: Plan) -> Iterator[Script]:
    """The scripts of a CI file; none where the file is something else, or never run."""
    if is_never_run(file, plan):
        return
    for tree in file.documents.trees:
        if tree.is_mapping and _is_ci(tree, file):
            yield from _Steps(file, plan.root).below(tree, {}, plan.root, 0)


def _is_ci(tree: Tree, file: DeployFile) -> bool:
    keys = {key for key, _ in tree.pairs()}
    if "apiVersion" in keys:
        return False
    return bool(keys & _ROOTS) or file.name.startswith(".gitlab") or file.name.endswith(".gitlab-ci.yml")


class _Steps:
    def __init__(self, file: DeployFile, root: str) -> None:
        self._file = file
        self._root = root
        self._seen: set[int] = set()

    def below(self, tree: Tree, variables: dict[str, Mapped], folder: str, depth: int) -> Iterator[Script]:
        """The scripts of a mapping or list, and of what lies below it."""
        if depth > _DEEPEST or id(tree.node) in self._seen:
            return
        self._seen.add(id(tree.node))
        variables = {**variables, **self._variables(tree)}
        where = tree.text_of("working-directory") or tree.text_of("working_directory")
        if where and "$" not in where:
            folder = os.path.normpath(os.path.join(self._root, where))
        for key, value in tree.pairs():
            if key in _STEPS:
                yield from self._of_step(value, variables, folder)
            if key not in _VARIABLES:
                yield from self.below(value, variables, folder, depth + 1)
        for item in tree.items():
            yield from self.below(item, variables, folder, depth + 1)

    def _variables(self, tree: Tree) -> dict[str, Mapped]:
        found: dict[str, Mapped] = {}
        for name in _VARIABLES:
            for key, value in (tree.get(name) or tree).pairs() if name in tree else ():
                if value.text and "$" not in value.text:
                    found[key] = self._scalar(value)
        return found

    def _of_step(self, value: Tree, variables: dict[str, Mapped], folder: str) -> Iterator[Script]:
        parts = [self._scalar(item) for item in ([value] if value.text is not None else value.items()) if item.text]
        if parts:
            # The items of a list run in one shell, one after the other.
            source = joined(piece for part in parts for piece in (part, Mapped("\n")))
            yield Script(source, folder, variables)

    def _scalar(self, tree: Tree) -> Mapped:
        return scalar(self._file, tree.node) if isinstance(tree.node, ScalarNode) else Mapped("")


def scalar(file: DeployFile, node: ScalarNode) -> Mapped:
    """The text of a YAML scalar, with the places of its characters; escapes of double quotes stay as written."""
    first, last = node.start_mark, node.end_mark
    if node.style in ("|", ">"):
        return _block(file, first.line, last.line, folded=node.style == ">")
    quoted = int(node.style in ("'", '"'))
    if first.line == last.line:
        return _piece(file, first.line, first.column + quoted, last.column - quoted)
    rows = range(first.line, last.line + 1)
    pieces = []
    for row in rows:
        line = file.lines[row] if row < len(file.lines) else ""
        start = first.column + quoted if row == first.line else len(line) - len(line.lstrip())
        end = last.column - quoted if row == last.line else len(line.rstrip())
        pieces += [_piece(file, row, start, end), Mapped(" ")]
    return joined(pieces[:-1])


def _block(file: DeployFile, head: int, last: int, *, folded: bool) -> Mapped:
    rows = list(range(head + 1, min(last + 1, len(file.lines))))
    lines = [file.lines[row] for row in rows]
    indent = next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), 0)
    if indent == 0:
        return Mapped("")
    pieces = []
    for number, (row, line) in enumerate(zip(rows, lines, strict=True)):
        if line.strip() and len(line) - len(line.lstrip(" ")) < indent:
            break
        following = lines[number + 1] if number + 1 < len(lines) else ""
        flows = folded and line.strip() and following.strip() and not _is_deeper((line, following), indent)
        pieces += [_piece(file, row, min(indent, len(line)), len(line)), Mapped(" " if flows else "\n")]
    return joined(pieces)


def _is_deeper(lines: tuple[str, str], indent: int) -> bool:
    return any(line[indent : indent + 1] in (" ", "\t") for line in lines)


def _piece(file: DeployFile, row: int, start: int, end: int) -> Mapped:
    if row >= len(file.lines):
        # YAML counts a line at characters that end none elsewhere, such as U+0085.
        return Mapped("")
    line = file.lines[row]
    text = line[start : max(end, start)]
    place = Location(file.path, row + 1, start + 1, row + 1, start + 1)
    return Mapped(text, file.offsets.span(place)[0])
