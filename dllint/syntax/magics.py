"""What IPython adds to Python in a cell: `%magic`, `%%magic`, `!command`, `name?`. It is masked; rows stay rows."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from dllint.patterns import pattern

_PYTHON_CELLS = frozenset({"capture", "memit", "prun", "time", "timeit"})
"""Cell magics that run the rest of the cell as Python, in the namespace of the notebook."""
_PART = pattern(
    r"""(?P<string>(?i:[rbuft]{0,2})(?:
            \"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3} | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'))
      | (?P<comment>\#[^\n]*) | (?P<glued>\\\n) | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<end>\n)
      | [\w \t.,=]+ | .""",
    re.VERBOSE | re.DOTALL,
)
_COMMAND = pattern(
    r"""[ \t]*(?:[%!?]
      | (?:cat|cd|conda|cp|less|ll|load_ext|ls|mamba|man|mkdir|more|mv|pip3?|pwd|reload_ext|rm|rmdir|uv)
        [ \t]+[\w./~-]      # IPython runs these without a sign, too
      | [*\w.]+\?{1,2}[ \t]*$)""",
    re.VERBOSE | re.MULTILINE,
)
_CELL_MAGIC = pattern(r"\s*%%(\w*)[^\n]*")
_SHELL_CELL = pattern(
    r"""\s*%%(?: !
      | (?:bash|sh|sx|system|script[ \t]+(?:-\S+[ \t]+)*(?:ba)?sh)\b
      | (?:write)?file[ \t]+(?:-a[ \t]+)?[^\s]+\.(?:ba)?sh[ \t]*$  # a script that is run later
      )[^\n]*""",
    re.VERBOSE | re.MULTILINE,
)
_SHELL_SIGN = r"(?:[ \t]*|[\w.,* \t]+=[ \t]*)(?:!{1,2}|%(?:sx|system)\b)"
"""What a line begins with that IPython gives to a shell."""
_TO_SHELL = pattern(_SHELL_SIGN)
_MAY_GO_TO_SHELL = pattern(rf"^{_SHELL_SIGN}", re.MULTILINE)
_CAPTURED = pattern(r"([\w.,* \t]+=[ \t]*)(?:!|%(?=[a-zA-Z]))")


def as_python(cell: str) -> str | None:
    """The text of a cell with what is no Python masked, row for row; None if what is left is no Python either."""
    if _parses(cell):
        return cell
    first = _CELL_MAGIC.match(cell)
    if first and first[1] not in _PYTHON_CELLS:
        return "\n" * cell.count("\n")
    text = "\n" * first[0].count("\n") + cell[first.end() :] if first else cell
    if not _parses(text):
        text = masked(text)
    return text if _parses(text) else None


def shell_of(cell: str) -> str:
    """What a cell gives to a shell, where it stands: `!command` and the rest of a `%%bash` cell; all else is blank."""
    whole = _SHELL_CELL.match(cell)
    if whole:
        return "\n" * whole[0].count("\n") + cell[whole.end() :]
    magic = _CELL_MAGIC.match(cell)
    is_python = magic is None or magic[1] in _PYTHON_CELLS
    if not is_python or not _MAY_GO_TO_SHELL.search(cell) or _parses(cell):
        return "\n" * cell.count("\n")
    found: list[str] = []
    index = 0
    for start, end in _commands(cell):
        found.append("\n" * cell.count("\n", index, start))
        sign = _TO_SHELL.match(cell, start, end)
        found.append(" " * len(sign[0]) + cell[sign.end() : end] if sign else "\n" * cell.count("\n", start, end))
        index = end
    return "".join((*found, "\n" * cell.count("\n", index)))


def masked(text: str) -> str:
    """`text` with magics and commands masked, wherever a statement may begin."""
    found: list[str] = []
    index = 0
    for start, end in _commands(text):
        captured = _CAPTURED.match(text, start)
        indent = re.compile(r"[ \t]*").match(text, start)
        found.append(text[index:start])
        # What a command gives is not known; a name that nothing binds says just that.
        found.append(f"{captured[1]}get_ipython()" if captured else f"{indent[0] if indent else ''}pass")
        found.append("\n" * text.count("\n", start, end))
        index = end
    return "".join((*found, text[index:]))


def _commands(text: str) -> Iterator[tuple[int, int]]:
    """Where magics and commands stand: from the start of the line to its end."""
    at = depth = 0
    begins = True
    while at < len(text):
        if begins and (_CAPTURED.match(text, at) or _COMMAND.match(text, at)):
            start, at = at, _end(text, at)
            begins = False
            yield start, at
            continue
        part = _PART.match(text, at)
        assert part is not None
        if part[0] in ("'", '"'):  # a text that ends nowhere: what follows is no Python
            return
        depth += (part.lastgroup == "open") - (part.lastgroup == "close")
        begins = part.lastgroup == "end" and depth <= 0
        at = part.end()


def _end(text: str, at: int) -> int:
    """The end of the line, and of those that backslashes join to it."""
    end = text.find("\n", at)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1)
    return len(text) if end < 0 else end


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
