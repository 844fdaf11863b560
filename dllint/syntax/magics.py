"""What IPython adds to Python in a cell: `%magic`, `%%magic`, `!command`, `name?`. It is masked; rows stay rows."""

from __future__ import annotations

import ast
import re
import warnings

_PYTHON_CELLS = frozenset({"capture", "memit", "prun", "time", "timeit"})
"""Cell magics that run the rest of the cell as Python, in the namespace of the notebook."""
_PART = re.compile(
    r"""(?P<string>(?i:[rbuft]{0,2})(?:
            \"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3} | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'))
      | (?P<comment>\#[^\n]*) | (?P<glued>\\\n) | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<end>\n)
      | [\w \t.,=]+ | .""",
    re.VERBOSE | re.DOTALL,
)
_COMMAND = re.compile(
    r"""[ \t]*(?:[%!?]
      | (?:cat|cd|conda|cp|less|ll|load_ext|ls|mamba|man|mkdir|more|mv|pip3?|pwd|reload_ext|rm|rmdir|uv)
        [ \t]+[\w./~-]      # IPython runs these without a sign, too
      | [*\w.]+\?{1,2}[ \t]*$)""",
    re.VERBOSE | re.MULTILINE,
)
_SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|!|script[ \t]+(?:ba)?sh)\b[^\n]*")
_SHELL_LINE = re.compile(r"[ \t]*!{1,2}")
_CAPTURED = re.compile(r"([\w.,* \t]+=[ \t]*)(?:!|%(?=[a-zA-Z]))")


def as_python(cell: str) -> str | None:
    """The text of a cell with what is no Python masked, row for row; None if what is left is no Python either."""
    if _parses(cell):
        return cell
    first = re.match(r"\s*%%(\w*)[^\n]*", cell)
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
    found: list[str] = []
    goes_on = False
    for line in cell.split("\n"):
        sign = None if goes_on else _SHELL_LINE.match(line)
        is_command = goes_on or sign is not None
        found.append((" " * sign.end() + line[sign.end() :] if sign else line) if is_command else "")
        goes_on = is_command and line.endswith("\\")
    return "\n".join(found)


def masked(text: str) -> str:
    """`text` with magics and commands masked, wherever a statement may begin."""
    found: list[str] = []
    at = depth = 0
    begins = True
    while at < len(text):
        if begins and (end := _command(text, at, found)):
            at, begins = end, False
            continue
        part = _PART.match(text, at)
        assert part is not None
        if part[0] in ("'", '"'):  # a text that ends nowhere: what follows is no Python
            return "".join((*found, text[at:]))
        depth += (part.lastgroup == "open") - (part.lastgroup == "close")
        begins = part.lastgroup == "end" and depth <= 0
        found.append(part[0])
        at = part.end()
    return "".join(found)


def _command(text: str, at: int, found: list[str]) -> int:
    """Mask the command that begins here; where it ends, or 0 if there is none."""
    captured = _CAPTURED.match(text, at)
    if captured is None and _COMMAND.match(text, at) is None:
        return 0
    end = _end(text, at)
    indent = re.compile(r"[ \t]*").match(text, at)
    # What a command gives is not known; a name that nothing binds says just that.
    found.append(f"{captured[1]}get_ipython()" if captured else f"{indent[0] if indent else ''}pass")
    found.append("\n" * text.count("\n", at, end))
    return end


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
