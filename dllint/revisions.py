"""What a git revision held, as files in a folder of its own; and which file was called what there.

Only git's own commands are asked, and only such that read: neither the working tree nor the index is touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from dllint.files import kind_of
from dllint.settings import SettingsError

_LARGEST = 8_000_000
"""Bytes of a file: what is larger is data."""
_TEXTS = ("", ".cfg", ".ini", ".in", ".lock", ".toml", ".txt")
"""Suffixes of what else tells about a project: pins, settings, shell scripts without a suffix."""
_FILE, _PROGRAM, _SUBMODULE = "100644", "100755", "160000"
_BATCH = 200
_TOLD = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF")


class RevisionError(SettingsError):
    """A revision that cannot be looked at; the message says why."""


class Repository:
    """A git working tree."""

    def __init__(self, top: str) -> None:
        self.top = top

    @classmethod
    def around(cls, folder: str) -> Repository:
        """The repository that holds `folder`. Raises RevisionError if there is none, or no git."""
        try:
            top = Repository(folder)._text("rev-parse", "--show-toplevel")
        except RevisionError as error:
            reason = str(error).removeprefix("fatal: ")
            raise RevisionError(f"{folder}: not in a git working tree ({reason})") from None
        return cls(top.rstrip("\n"))

    def commit(self, revision: str) -> str:
        """The full name of a commit. Raises RevisionError for a revision that does not exist."""
        try:
            name = self._text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except RevisionError:
            raise RevisionError(f"{revision!r} is no commit of the repository in {self.top}") from None
        return name.strip()

    def unpack(self, commit: str, folder: str) -> None:
        """Write the files of `commit` that dllint may read below `folder`, those of submodules too."""
        wanted: list[tuple[str, str, bool]] = []
        for entry in self._tree(commit):
            if entry.mode == _SUBMODULE:
                self._unpack_submodule(entry, folder)
            elif entry.mode in (_FILE, _PROGRAM) and entry.size <= _LARGEST and _matters(entry.path):
                wanted.append((entry.object, os.path.join(folder, entry.path), entry.mode == _PROGRAM))
        for first in range(0, len(wanted), _BATCH):
            self._write(wanted[first : first + _BATCH])

    def _unpack_submodule(self, entry: _TreeEntry, folder: str) -> None:
        """A submodule that is not checked out, or lacks the commit, stands empty as it does in the working tree."""
        inner = os.path.join(self.top, entry.path)
        if not os.path.exists(os.path.join(inner, ".git")):
            return
        try:
            Repository(inner).unpack(entry.object, os.path.join(folder, entry.path))
        except RevisionError:
            return
        _mark_as_root(os.path.join(folder, entry.path))

    def _tree(self, commit: str) -> Iterator[_TreeEntry]:
        for line in self._bytes("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            if line:
                about, _, path = line.partition(b"\t")
                mode, _, name, size = about.decode("ascii").split()
                yield _TreeEntry(mode, name, int(size) if size.isdigit() else 0, os.fsdecode(path))

    def _write(self, wanted: list[tuple[str, str, bool]]) -> None:
        asked = "".join(f"{name}\n" for name, _, _ in wanted).encode("ascii")
        told = self._bytes("cat-file", "--batch", given=asked)
        at = 0
        for _, path, program in wanted:
            head = told.index(b"\n", at)
            size = int(told[at:head].split()[2])
            at = head + 1 + size + 1
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as stream:
                stream.write(told[head + 1 : at - 1])
            if program:
                os.chmod(path, 0o755)

    def renamed(self, commit: str) -> dict[str, str]:
        """New name -> old name of the files that were renamed since `commit`, untracked ones included."""
        with tempfile.TemporaryDirectory(prefix="dllint-") as folder:
            # A copy of the index, to which the untracked files are added: git sees renames among what it knows.
            index = os.path.join(folder, "index")
            own = os.path.join(self.top, self._text("rev-parse", "--git-path", "index").strip())
            if os.path.exists(own):
                shutil.copyfile(own, index)
            self._bytes("add", "--all", "--intent-to-add", index=index)
            told = self._bytes(
                "diff", "--name-status", "--find-renames", "--diff-filter=R", "--no-ext-diff", "-z", commit, index=index
            )
        words = [os.fsdecode(word) for word in told.split(b"\0")]
        return {new: old for old, new in zip(words[1::3], words[2::3], strict=False)}

    def _text(self, *words: str) -> str:
        return os.fsdecode(self._bytes(*words))

    def _bytes(self, *words: str, given: bytes = b"", index: str | None = None) -> bytes:
        command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", self.top, *words]
        # A hook that git runs is told of a repository, which need not be this one.
        environment = {name: value for name, value in os.environ.items() if name not in _TOLD}
        environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        if index is not None:
            environment["GIT_INDEX_FILE"] = index
        try:
            done = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
        except OSError as error:
            raise RevisionError(f"git cannot be run: {error.strerror}") from None
        if done.returncode != 0:
            lines = os.fsdecode(done.stderr).strip().splitlines()
            raise RevisionError(lines[0] if lines else f"git {words[0]} failed")
        return done.stdout


class _TreeEntry(NamedTuple):
    mode: str
    object: str
    size: int
    path: str


def _matters(path: str) -> bool:
    return kind_of(path) is not None or os.path.splitext(path)[1].lower() in _TEXTS


def _mark_as_root(folder: str) -> None:
    """Let a folder be taken for the root of a working tree."""
    os.makedirs(os.path.join(folder, ".git"), exist_ok=True)


class Unpacked(NamedTuple):
    """The files of one commit in a folder of their own."""

    folder: str
    repository: Repository
    renamed: dict[str, str]
    """New path -> old path, from the top of the repository."""

    @classmethod
    def of(cls, repository: Repository, revision: str, folder: str) -> Unpacked:
        """Unpack `revision` below `folder`. Raises RevisionError if it does not exist."""
        commit = repository.commit(revision)
        _mark_as_root(folder)
        repository.unpack(commit, folder)
        return cls(folder, repository, repository.renamed(commit))

    def old(self, path: str) -> str:
        """Where the file or folder `path` of the working tree stands in the unpacked one."""
        relative = self.relative(path)
        return os.path.join(self.folder, self.renamed.get(relative, relative))

    def relative(self, path: str) -> str:
        """A path of the working tree from the top of the repository, as git names it."""
        folder, name = os.path.split(os.path.abspath(path))
        relative = os.path.relpath(os.path.join(os.path.realpath(folder), name), os.path.realpath(self.repository.top))
        return relative.replace(os.sep, "/")

    def sources_below(self, path: str) -> list[str]:
        """The old places of the files that were moved to below the folder `path`."""
        prefix = self.relative(path)
        below = "" if prefix == "." else f"{prefix}/"
        return [os.path.join(self.folder, old) for new, old in self.renamed.items() if new.startswith(below)]
