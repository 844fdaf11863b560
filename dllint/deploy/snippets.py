"""Where shell commands stand in a file of each kind: scripts, recipes of Makefiles, blocks of Markdown and
reStructuredText, units of systemd, CI steps."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.deploy.commands import Script
from dllint.deploy.makefiles import recipes
from dllint.deploy.texts import DeployFile
from dllint.files import Kind
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped, joined

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_SHEBANG = pattern(r"#!\s*\S*?(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?(ba|z|k|da|a)?sh\b")
_FENCE = pattern(r"^([ \t>]*)(`{3,}|~{3,})[ \t]*\{?\.?([\w+-]*)[^\n]*$", re.MULTILINE)
_SHELL_FENCES = frozenset({"sh", "bash", "shell", "zsh", "ksh", "console", "shell-session", "shellsession", "terminal"})
_OTHER_FENCES = {"powershell": Kind.POWERSHELL, "ps1": Kind.POWERSHELL, "pwsh": Kind.POWERSHELL}
_OTHER_FENCES |= {"bat": Kind.BATCH, "batch": Kind.BATCH, "cmd": Kind.BATCH}
_PROMPT = pattern(r"[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.@:~/-]*[\w~/])?[$%#>\u276f][ \t]+(?=\S)")
_COMMAND_LINE = pattern(r"^[ \t>]*(?:\$ )?(?:sudo |\w+=\S* )*(?:nvidia-)?(?:docker|podman)[ \t]", re.MULTILINE)
_INDENTED = pattern(r"(?:^|(?<=\n)[ \t]*\r?\n)((?:(?: {4}|\t)[^\n]*(?:\n|$))+)")
_INDENTED_COMMAND = pattern(
    r"^[ \t]+(?:\$ )?(?:sudo )?(?:nvidia-)?(?:docker|podman) (?:container |image |buildx )?(?:run|create|build) -",
    re.MULTILINE,
)
_DIRECTIVE = pattern(
    r"^(?P<indent>[ \t]*)(?![ \t])(?:\.\. (?:code-block|code|sourcecode|prompt)::[ \t]*(?P<language>[\w+-]*)|[^\n]*::)"
    r"[ \t]*\r?\n"
    r"(?P<body>(?:[ \t]*\r?\n|(?P=indent)[ \t]+\S[^\n]*(?:\n|$))+)",
    re.MULTILINE,
)
"""A block of code in reStructuredText: by a directive, or behind a paragraph that ends in `::`."""
_EXEC = pattern(r"^Exec\w+[ \t]*=[ \t]*[-@:+!|]*(?P<command>(?:[^\n]*\\\r?\n)*[^\n]*)", re.MULTILINE)
"""What a unit of systemd starts."""
_SET = pattern(r"^([ \t]*)set[ \t]+(\"?)([A-Za-z_]\w*)=([^\"\r\n]*)\"?", re.MULTILINE | re.IGNORECASE)
_PS_SET = pattern(r"^([ \t]*)\$(?:env:)?([A-Za-z_]\w*)[ \t]*=[ \t]*", re.MULTILINE)


def scripts(file: DeployFile, plan: Plan) -> Iterator[Script]:
    """The stretches of a file that a shell runs."""
    reader = _READERS.get(file.kind)
    if reader is not None:
        yield from reader(file)
    elif file.kind is Kind.YAML:
        from dllint.deploy.ci import steps

        yield from steps(file, plan)


def _shell(file: DeployFile) -> Iterator[Script]:
    has_suffix = os.path.splitext(file.name)[1] != ""
    start = file.data[:200]
    if b"\0" in start or (not has_suffix and not start.startswith(b"#!")):
        return
    if start.startswith(b"#!") and not _SHEBANG.match(file.text):
        return
    yield Script(Mapped(file.text), file.folder)


def _makefile(file: DeployFile) -> Iterator[Script]:
    yield from recipes(file)


def _powershell(file: DeployFile) -> Iterator[Script]:
    yield Script(from_powershell(Mapped(file.text)), file.folder)


def _batch(file: DeployFile) -> Iterator[Script]:
    yield Script(from_batch(Mapped(file.text)), file.folder)


def from_powershell(source: Mapped) -> Mapped:
    """PowerShell as a POSIX shell would read it: a backtick continues a line, a backslash is a character."""
    text = source.text.replace("\\", "/")
    text = re.sub(r"`(?=[ \t]*\r?$)", r"\\", text, flags=re.MULTILINE).replace("`", "/")
    text = re.sub(r"\\[ \t]+(?=\r?$)", lambda found: found[0][1:] + "\\", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=[ \t])@(?=[A-Za-z_]\w*)", "$", text)  # `docker run @options`: the words of an array
    whole = source.replaced(text)
    return _without(whole, [found.span(1)[1:] + found.span(2) + (found.end(),) for found in _PS_SET.finditer(text)])


def from_batch(source: Mapped) -> Mapped:
    """A batch file as a POSIX shell would read it: a caret continues a line, a backslash is a character."""
    text = source.text.replace("\\", "/").replace("`", "/").replace("'", "/")
    text = re.sub(r"\^(?=\r?$)", r"\\", text, flags=re.MULTILINE)
    text = re.sub(r"(?im)^([ \t]*@?)(?:rem\b|::)", lambda found: found[1] + "#" * (len(found[0]) - len(found[1])), text)
    text = re.sub(r"(?m)^([ \t]*)@", r"\1 ", text)
    text = re.sub(r"%~dp0", "$dp0/", text)
    return source.replaced(_percent(text))


def _percent(text: str) -> str:
    """`%X%` -> `$X` and a mark that ends the name; a shell has no shorter spelling of the same length."""
    return re.sub(r"%([A-Za-z_]\w*)%", r"$\1\\", re.sub(r"%([A-Za-z_]\w*)%(?=[\s\"]|$)", r"$\1 ", text))


def _without(source: Mapped, cuts: list[tuple[int, int, int, int]]) -> Mapped:
    """`$X = "v"` -> `X="v"`."""
    pieces, index = [], 0
    for before, name, name_end, end in cuts:
        pieces += [source.cut(index, before), source.cut(name, name_end), Mapped("=", source.origin(name_end))]
        index = end
    return joined([*pieces, source.cut(index)]) if cuts else source


# Markdown

_FAULT_SHOWN = pattern(r"(?i)bus error|insufficient shared memory")
"""A session that shows what goes wrong, with the command that does so: nobody is told to run it."""


def _markdown(file: DeployFile) -> Iterator[Script]:
    text = file.text
    index = 0
    while opened := _FENCE.search(text, index):
        closing = re.compile(rf"^[ \t>]*{re.escape(opened[2])}[`~]*[ \t]*\r?$", re.MULTILINE)
        closed = closing.search(text, opened.end())
        end = closed.start() if closed else len(text)
        yield from _indented(file, index, opened.start())
        index = closed.end() if closed else len(text)
        yield from _block(file, opened[3].lower(), opened.end() + 1, end)
    yield from _indented(file, index, len(text))


def _indented(file: DeployFile, start: int, end: int) -> Iterator[Script]:
    """The blocks of code that are told by their indentation alone, if they run a container."""
    if not _INDENTED_COMMAND.search(file.text, start, end):
        return
    for found in _INDENTED.finditer(file.text, start, end):
        if _INDENTED_COMMAND.search(found[1]):
            yield Script(_without_prompts(Mapped(found[1], found.start(1))), file.folder)


def _block(file: DeployFile, language: str, start: int, end: int) -> Iterator[Script]:
    if start >= end or _FAULT_SHOWN.search(file.text, start, end):
        return
    source = Mapped(file.text).cut(start, end)
    if language in _OTHER_FENCES:
        convert = from_powershell if _OTHER_FENCES[language] is Kind.POWERSHELL else from_batch
        yield Script(convert(source), file.folder)
    elif language in _SHELL_FENCES or (not language and _COMMAND_LINE.search(source.text)):
        yield Script(_without_prompts(source), file.folder)


def _without_prompts(source: Mapped) -> Mapped:
    """What is typed in a session: behind the prompts, and the rows that continue it; the output is left out."""
    if not any(found[0].strip() != "#" for found in _prompts(source.text)):
        return source
    pieces, continued, index = [], False, 0
    for line in source.text.splitlines(keepends=True):
        prompt = _PROMPT.match(line)
        if prompt or continued:
            pieces.append(source.cut(index + (prompt.end() if prompt and not continued else 0), index + len(line)))
            continued = line.rstrip().endswith("\\")
        index += len(line)
    return joined(pieces)


def _prompts(text: str) -> Iterator[re.Match[str]]:
    for line in text.splitlines():
        found = _PROMPT.match(line)
        if found and "$" in found[0]:
            yield found


# Other texts


def _restructured(file: DeployFile) -> Iterator[Script]:
    for found in _DIRECTIVE.finditer(file.text):
        yield from _block(file, (found["language"] or "").lower(), *found.span("body"))


def _unit(file: DeployFile) -> Iterator[Script]:
    for found in _EXEC.finditer(file.text):
        yield Script(Mapped(found["command"], found.start("command")), file.folder)


def _tasks(file: DeployFile) -> Iterator[Script]:
    from dllint.deploy.task_tables import tasks

    yield from tasks(file)


_READERS: dict[Kind, Callable[[DeployFile], Iterator[Script]]] = {
    Kind.SHELL: _shell,
    Kind.MAKEFILE: _makefile,
    Kind.MARKDOWN: _markdown,
    Kind.RESTRUCTURED: _restructured,
    Kind.QUADLET: _unit,
    Kind.TASKS: _tasks,
    Kind.POWERSHELL: _powershell,
    Kind.BATCH: _batch,
}
