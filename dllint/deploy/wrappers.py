"""Commands that run other commands: `sudo docker ...`, `bash -c "..."`, `ssh host "..."`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from dllint.deploy.commands import Word
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped, joined

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})
_PREFIXES: dict[str, str] = {
    # Programs that run the command behind them, and their options that take a value of their own.
    "sudo": "-u -g -h -p -C -r -t -U -D --user --group",
    "doas": "-u -C",
    "env": "-u --unset -C --chdir",
    "nohup": "",
    "exec": "-a",
    "command": "",
    "builtin": "",
    "time": "-f -o",
    "nice": "-n",
    "ionice": "-c -n",
    "timeout": "-s -k --signal --kill-after",
    "stdbuf": "-i -o -e",
    "setsid": "",
    "srun": "-N -n -c -p -J -t -w -o -e -A -q -G --partition --nodes --ntasks --gres --job-name --time --account",
    "watch": "-n",
    "xargs": "-n -P -I -L -d -a",
    "winpty": "",
    "call": "",
    "tini": "-p -e",
    "dumb-init": "-r --rewrite",
    "catchsegv": "",
    "unbuffer": "",
    "xvfb-run": "-n -s -f -e -p --server-num --server-args --auth-file --error-file",
    "numactl": "-m -N -C -p -i",
    "taskset": "",
    "chrt": "",
    "chroot": "",
    "gosu": "",
    "su-exec": "",
    "setpriv": "",
    "runuser": "-u -g -G --user --group --supp-group",
}
_WITH_ARGUMENT = frozenset({"timeout", "taskset", "chrt", "chroot", "gosu", "su-exec"})
"""These have an argument of their own before the command."""
_RUN: dict[str, str] = {
    # Managers of environments, whose `run` runs the command behind it in one, with the options of that.
    "conda": "-n -p --name --prefix --cwd",
    "mamba": "-n -p -r --name --prefix --root-prefix --cwd",
    "micromamba": "-n -p -r -e --name --prefix --root-prefix --env --cwd",
    "uv": "-p -i --python --with --with-requirements --with-editable --extra --group --only-group --package --project"
    " --directory --env-file --index-url --default-index",
    "poetry": "-C -P",
    "pdm": "-p --venv",
    "pipenv": "",
    "rye": "-f",
    "hatch": "",
    "pixi": "-e --environment --manifest-path --color",
}
_SSH_VALUES = frozenset("-" + letter for letter in "BbcDEeFIiJLlmOopQRSWw")
_ASSIGNMENT = pattern(r"[A-Za-z_]\w*=")


def unwrapped(words: Sequence[Word]) -> list[Word]:
    """The words of a command without what stands before the program that counts."""
    return list(words[words_before([word.text for word in words]) :])


def words_before(texts: Sequence[str]) -> int:
    """How many words of a command only run the rest of it: `sudo -u me`, `conda run -n x`, `A=1`."""
    start = 0
    while start < len(texts) - 1:
        behind = _behind(texts, start)
        if behind is None or behind >= len(texts):
            break
        start = behind
    return start


def _behind(texts: Sequence[str], start: int) -> int | None:
    """Where the command begins that the program at `start` runs; None where it runs none."""
    name = posixpath.basename(texts[start])
    if _ASSIGNMENT.match(texts[start]) or name == "--":
        return start + 1
    if name in _RUN and texts[start + 1] == "run":
        return _behind_options(texts, start + 2, _RUN[name].split())
    if name not in _PREFIXES:
        return None
    return _behind_options(texts, start + 1, _PREFIXES[name].split()) + (name in _WITH_ARGUMENT)


def _behind_options(texts: Sequence[str], index: int, valued: Sequence[str]) -> int:
    while index < len(texts):
        text = texts[index]
        if text in ("-m", "--module") and text not in valued:
            return index  # of `uv run`: a module, as python knows it
        if text.startswith("-") and text != "-":
            index += 2 if text in valued else 1
        elif _ASSIGNMENT.match(text):
            index += 1
        else:
            break
    return index


def inner_scripts(name: str, words: Sequence[Word]) -> Iterator[Mapped]:
    """The scripts that a command is given as words."""
    if name in SHELLS or name == "su":
        yield from _after_c(words)
    elif name == "eval":
        yield from _text_of(words[1:])
    elif name in ("ssh", "sshpass"):
        yield from _text_of(_remote(words))
    elif name == "gcloud":
        yield from (word.after(10).source or Mapped("") for word in words if word.text.startswith("--command="))
        yield from _following(words, "--command")


def _after_c(words: Sequence[Word]) -> Iterator[Mapped]:
    for index, word in enumerate(words[1:], 1):
        if word.text.startswith("-") and not word.text.startswith("--") and word.text.endswith("c"):
            yield from _text_of(words[index + 1 : index + 2])
            return


def _following(words: Sequence[Word], option: str) -> Iterator[Mapped]:
    for index, word in enumerate(words[:-1]):
        if word.text == option:
            yield from _text_of(words[index + 1 : index + 2])


def _remote(words: Sequence[Word]) -> Sequence[Word]:
    """What ssh runs on the other machine."""
    index = next((index for index, word in enumerate(words) if posixpath.basename(word.text) == "ssh"), None)
    if index is None:
        return ()
    index += 1
    while index < len(words) and words[index].text.startswith("-"):
        index += 2 if words[index].text in _SSH_VALUES else 1
    return words[index + 1 :]


def _text_of(words: Sequence[Word]) -> Iterator[Mapped]:
    pieces = [piece for word in words if word.source is not None for piece in (word.source, Mapped(" "))]
    if pieces:
        yield joined(pieces[:-1])


def reads_script(name: str, words: Sequence[Word]) -> bool:
    """Whether it runs what it is given on its standard input."""
    if name in SHELLS:
        arguments = [word.text for word in words[1:]]
        return all(text.startswith("-") and text != "-c" for text in arguments[:1]) or arguments[:1] == ["-"]
    if name in ("ssh", "sshpass"):
        behind = [word.text for word in _remote(words)]
        return not behind or posixpath.basename(behind[0]) in SHELLS or behind[:1] == ["sudo"]
    return False


def written_by(name: str, words: Sequence[Word]) -> list[Word]:
    """The files that a command's words make it write: `tee run.sh`."""
    return [word for word in words[1:] if not word.text.startswith("-")] if name == "tee" else []
