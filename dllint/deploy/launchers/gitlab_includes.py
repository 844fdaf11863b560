"""The files of one pipeline of GitLab CI: `include` takes in others of the project."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from dllint.deploy.texts import DeployFile
from dllint.kinds import Kind
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

ROOT = ".gitlab-ci.yml"
_MOST_FILES = 150
"""As many as GitLab takes into one pipeline."""


def files_of(root: DeployFile, plan: Plan) -> list[DeployFile]:
    """A file, and those of the project that it includes, directly or not."""
    found = [root]
    for file in found:
        if len(found) < _MOST_FILES and file.has(b"include"):
            found += [other for other in _included(file, plan) if other not in found]
    return found


def included(plan: Plan) -> set[str]:
    """The absolute paths of the files that the pipelines of a project take in."""
    roots = [file for file in plan.of_kind(Kind.YAML) if file.name.endswith(ROOT)]
    return {file.absolute for root in roots for file in files_of(root, plan)[1:]}


def _included(file: DeployFile, plan: Plan) -> Iterator[DeployFile]:
    for tree in file.documents.trees:
        include = tree.get("include")
        for path in _paths(include) if include is not None else ():
            yield from (other for other in plan.of_kind(Kind.YAML) if fnmatchcase(_within(other, plan), path))


def _within(file: DeployFile, plan: Plan) -> str:
    return os.path.relpath(file.absolute, plan.root).replace(os.sep, "/")


def _paths(include: Tree) -> Iterator[str]:
    """The files that an `include` names: a text, a mapping with `local`, or a list of these."""
    for item in include.items() if include.is_list else [include]:
        path = item.text if item.text is not None else item.text_of("local")
        if path and "://" not in path and "$" not in path:
            yield posixpath.normpath(path.lstrip("/"))
