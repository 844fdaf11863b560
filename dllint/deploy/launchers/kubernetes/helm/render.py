"""A chart's template -> YAML with the same rows, in which marks stand for what the actions put in.

Control actions leave their row blank and decide which rows stay; a branch whose condition cannot be told stays, and
its rows are noted. An action that yields a value becomes a mark as long as itself, so that columns are true, too. One
that yields whole lines (`toYaml ... | nindent 8`) becomes a list item, a merged mapping or a value, by what is around.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dllint.deploy.launchers.kubernetes.helm.expressions import UNKNOWN, Scope, Value, evaluate
from dllint.patterns import pattern
from dllint.records import dataclass, field

_ACTION = pattern(
    r"\{\{-?(\s*/\*(?:(?!\{\{).)*?\*/\s*|(?:\"(?:\\.|[^\"\\\n])*\"|`[^`]*`|(?!\{\{)[^\"`])*?)-?\}\}", re.DOTALL
)
_JINJA = pattern(r"\{%(?:(?!\{%).)*?%\}|\{#(?:(?!\{#).)*?#\}", re.DOTALL)
_CONTROL = pattern(r"(if|else if|else|end|with|range|define|block|template|break|continue)\b\s*(.*)", re.DOTALL)
_ASSIGNMENT = pattern(r"(\$\w*)\s*(:?=)\s*(.*)", re.DOTALL)
_INDENT = pattern(r"\bn?indent\s+(\d{1,3})\b")
_NOT_END = pattern(r"[^\n]")
_LISTS = frozenset(
    ("containers", "initContainers", "volumes", "volumeMounts", "volumeClaimTemplates", "env", "envFrom", "command")
) | frozenset(("args", "ports", "imagePullSecrets", "tolerations", "hostAliases", "extraVolumes", "extraVolumeMounts"))
"""Keys whose values are lists, for what nobody can see."""
_FIRST, _FILLER = 0xF0000, "\ue000"
_DEEPEST = 100
_MOST_ACTIONS = 5_000
_LONGEST_LINE = 2_000
_FARTHEST_SIBLING = 500
MARK = pattern(f"([\U000f0000-\U000ffffd]){_FILLER}*")


class Put(NamedTuple):
    """What one mark stands for."""

    value: Value
    action: str
    """The action as it is written."""
    is_item: bool = False
    """Whether it stands for items of a list, which is where the mark is one."""


@dataclass(slots=True)
class Rendered:
    """A template as YAML."""

    text: str
    marks: dict[str, Put]
    conditions: dict[int, tuple[int, ...]]
    """Rows, from 0, that are there only under conditions that cannot be told: the numbers of these."""
    heads: dict[int, Put]
    """By the row of a key: what comes before the rest of its value."""


@dataclass(slots=True)
class _Block:
    kind: str
    scope: Scope
    is_live: bool | None
    """Whether its text is rendered; None where that cannot be told."""
    was_taken: bool | None = False
    """Whether an earlier branch was."""
    number: int = 0


@dataclass(slots=True)
class _Insertion:
    row: int
    indent: int
    put: Put


@dataclass(slots=True)
class _Renderer:
    scope: Scope
    others: tuple[Scope, ...]
    out: list[str] = field(default_factory=list)
    marks: dict[str, Put] = field(default_factory=dict)
    blocks: list[_Block] = field(default_factory=list)
    conditions: dict[int, tuple[int, ...]] = field(default_factory=dict)
    insertions: list[_Insertion] = field(default_factory=list)
    heads: dict[int, _Insertion] = field(default_factory=dict)
    """By row: what comes first in the value of a key, `key: {{- ... | nindent 4 }}`."""
    row: int = 0
    numbers: int = 0

    # Text

    def text(self, text: str) -> None:
        """Text between actions."""
        if any(block.is_live is False for block in self.blocks):
            # Within a row that has other text, what is left out leaves no blank.
            is_blank = "\n" in text or not self._line().strip()
            self.out.append(_NOT_END.sub(" ", text) if is_blank else self.mark(Put(Value(), ""), len(text)))
            self.row += text.count("\n")
            return
        open_ones = tuple(block.number for block in self.blocks if block.is_live is None)
        if open_ones:
            for row in range(self.row, self.row + text.count("\n") + 1):
                self.conditions[row] = open_ones
        self.out.append(text)
        self.row += text.count("\n")

    def _line(self) -> str:
        """What the row has so far."""
        parts: list[str] = []
        for part in reversed(self.out):
            parts.append(part)
            if "\n" in part:
                break
        return "".join(reversed(parts)).rpartition("\n")[2]

    def mark(self, put: Put, length: int) -> str:
        """A new mark for something that is so long in the text."""
        if not length:
            return ""
        name = chr(_FIRST + len(self.marks))
        self.marks[name] = put
        return name + _FILLER * (length - 1)

    # Actions

    def action(self, written: str, body: str, *, is_alone: bool, is_last: bool) -> None:
        """One action; `is_alone` if nothing but actions stands on its rows, `is_last` if nothing follows in its row."""
        control = _CONTROL.match(body)
        is_live = all(block.is_live is not False for block in self.blocks)
        row = self.row
        self.row += written.count("\n")
        if body.startswith("/*") or _ASSIGNMENT.match(body) or (control and control[1] not in ("template", "block")):
            self._decide(body, control)
            put = Put(Value() if self._is_decided() else UNKNOWN, written)
            is_outer = is_alone or is_last or not self._line().strip()
            self.out.append(_NOT_END.sub(" ", written) if is_outer else self.mark(put, len(written)))
        elif not is_live:
            self.out.append(_NOT_END.sub(" ", written))
        else:
            self._value(written, body, row, is_alone=is_alone, is_last=is_last)

    def _value(self, written: str, body: str, row: int, *, is_alone: bool, is_last: bool) -> None:
        put = Put(evaluate(body, self._scope()) if not body.startswith("template") else UNKNOWN, written)
        indent = _INDENT.search(body)
        if (is_alone or indent) and self._is_set_elsewhere(body, put.value):
            put = put._replace(value=UNKNOWN)
        if not is_alone and is_last and indent and self._line().rstrip().endswith(":"):
            self.heads[row] = _Insertion(row, int(indent[1]), put)
            self.out.append(_NOT_END.sub(" ", written))
            return
        if not is_alone:
            first, *rest = written.split("\n")
            self.out.append("\n".join([self.mark(put, len(first)), *(" " * len(line) for line in rest)]))
            return
        self.insertions.append(_Insertion(row, int(indent[1]) if indent else len(self._line()), put))
        self.out.append(_NOT_END.sub(" ", written))
        open_ones = tuple(block.number for block in self.blocks if block.is_live is None)
        if open_ones:
            self.conditions[row] = open_ones

    def _decide(self, body: str, control: re.Match[str] | None) -> None:
        """Open, turn or close a block, or set a variable."""
        assignment = _ASSIGNMENT.match(body)
        if assignment:
            known = assignment[2] == ":=" and not self.blocks
            self._scope().variables[assignment[1]] = evaluate(assignment[3], self._scope()) if known else UNKNOWN
        if control is None:
            return
        keyword, rest = control[1], control[2]
        if keyword == "end":
            if self.blocks:
                self.blocks.pop()
        elif keyword in ("else", "else if"):
            self._turn(rest if keyword == "else if" else rest.removeprefix("with ").strip())
        elif keyword in ("if", "with", "range", "define") and len(self.blocks) < _DEEPEST:
            self._open(keyword, rest)

    def _open(self, keyword: str, rest: str) -> None:
        self.numbers += 1
        scope = self._scope()
        truth = self._truth(rest)
        value = evaluate(rest, scope) if not _ASSIGNMENT.match(rest) else UNKNOWN
        if keyword == "define":
            truth = False
        elif keyword == "with":
            scope = scope.inside(UNKNOWN if truth is None else value)
        elif keyword == "range":
            scope = scope.inside(UNKNOWN)
            truth = False if truth is False else None
        self.blocks.append(_Block(keyword, scope, truth, truth, self.numbers))

    def _turn(self, condition: str) -> None:
        if not self.blocks:
            return
        block = self.blocks[-1]
        self.numbers += 1
        outer = self.blocks[-2].scope if len(self.blocks) > 1 else self.scope
        block.scope, block.number = outer, self.numbers
        truth = self._truth(condition) if condition else True
        if block.was_taken is None and truth is not False:
            block.is_live = None
        else:
            block.is_live = False if block.was_taken else truth
        block.was_taken = True if True in (block.was_taken, block.is_live) else block.is_live and block.was_taken

    def _truth(self, condition: str) -> bool | None:
        """Whether a condition holds; None if other values files of the chart say otherwise."""
        if _ASSIGNMENT.match(condition):
            return None
        truth = evaluate(condition, self._scope()).truth
        if truth is None or self._scope().dot is not None:
            return truth
        return truth if all(evaluate(condition, other).truth in (truth, None) for other in self.others) else None

    def _is_set_elsewhere(self, body: str, value: Value) -> bool:
        """Whether other values files of the chart put something else where whole lines are put in."""
        if self._scope().dot is not None or not value.is_known:
            return False
        own = value.tree.node if value.tree is not None else None
        found = (evaluate(body, other).tree for other in self.others)
        return any(tree is not None and tree.node is not own for tree in found)

    def _is_decided(self) -> bool:
        return all(block.is_live is not None for block in self.blocks)

    def _scope(self) -> Scope:
        return self.blocks[-1].scope if self.blocks else self.scope


def rendered(text: str, scope: Scope, others: tuple[Scope, ...] = ()) -> Rendered:
    """A template with the values of a scope; `others` are scopes that users may take instead."""
    if text.count("{{") > _MOST_ACTIONS:
        return Rendered("", {}, {}, {})
    if "{%" in text:
        text = _JINJA.sub(lambda found: _NOT_END.sub(" ", found[0]), text)
    renderer = _Renderer(scope, others)
    last = 0
    for found in _ACTION.finditer(text):
        renderer.text(text[last : found.start()])
        is_alone, is_last = _around(text, found)
        renderer.action(found[0], found[1].strip(), is_alone=is_alone, is_last=is_last)
        last = found.end()
    renderer.text(text[last:])
    # A row of blanks would count as the indentation of a block of text that begins with it.
    lines = [line if line.strip() else "" for line in "".join(renderer.out).split("\n")]
    for insertion in renderer.insertions:
        _insert(insertion, lines, renderer)
    heads = {row: head.put for row, head in renderer.heads.items() if _put_first(head, lines, renderer)}
    return Rendered("\n".join(lines), renderer.marks, renderer.conditions, heads)


def _around(text: str, found: re.Match[str]) -> tuple[bool, bool]:
    """Whether an action shares its rows with actions alone, and whether its row ends with it."""
    start = text.rfind("\n", max(0, found.start() - _LONGEST_LINE), found.start()) + 1
    end = text.find("\n", found.end(), found.end() + _LONGEST_LINE)
    before = text[max(start, found.start() - _LONGEST_LINE) : found.start()]
    after = text[found.end() : end if end >= 0 else found.end() + _LONGEST_LINE]
    return not _ACTION.sub("", before + after).strip(), not after.strip()


# --- whole lines ---


def _insert(insertion: _Insertion, lines: list[str], renderer: _Renderer) -> None:
    """Put a mark into the row of an action that yields whole lines."""
    value = insertion.put.value
    if value.is_known and value.tree is None and not value.text:
        return
    form = _form(insertion, lines)
    put = insertion.put._replace(is_item=form == "- ")
    lines[insertion.row] = " " * insertion.indent + form + renderer.mark(put, 1)


def _put_first(head: _Insertion, lines: list[str], renderer: _Renderer) -> bool:
    """Whether the value of a key goes on in the next rows, so that what comes first has no row of its own."""
    if _sibling(lines, range(head.row + 1, len(lines)), head.indent) is not None:
        return True
    lines[head.row] = f"{lines[head.row].rstrip()} {renderer.mark(head.put, 1)}"
    return False


def _form(insertion: _Insertion, lines: list[str]) -> str:
    """What has to stand before a mark: a dash among items, a merge key among keys, nothing for a value."""
    tree = insertion.put.value.tree
    own = "- " if tree is not None and tree.is_list else "<<: " if tree is not None and tree.is_mapping else ""
    before = next((lines[row] for row in range(insertion.row - 1, -1, -1) if lines[row].strip()), "")
    siblings = _sibling(lines, range(insertion.row - 1, -1, -1), insertion.indent)
    siblings = siblings or _sibling(lines, range(insertion.row + 1, len(lines)), insertion.indent)
    if siblings is None:
        is_list = before.strip(" :\"'") in _LISTS
        return own if insertion.put.value.is_known else "- " if is_list else "<<: "
    if siblings.startswith("- "):
        return "- "
    is_open = before.strip().endswith(":") and _indent(before) == insertion.indent
    return "- " if is_open and own == "- " else "<<: "


def _sibling(lines: list[str], rows: range, indent: int) -> str | None:
    """The nearest row at the same depth, before the block around it begins or ends; without its indentation."""
    for row in rows[:_FARTHEST_SIBLING]:
        line = lines[row]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        depth = _indent(line)
        if depth == indent:
            return line.strip()
        if depth < indent:
            # `- name: x` opens a mapping that its own keys go on with, two columns further in.
            inner = line.lstrip()
            return "key:" if inner.startswith("- ") and depth + 2 == indent else None
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
