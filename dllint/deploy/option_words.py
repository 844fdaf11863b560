"""Options of `docker run` that stand as one text in a file of another kind: the words of it, with their places."""

from __future__ import annotations

import re

from yaml.nodes import ScalarNode

from dllint.deploy.ci import scalar
from dllint.deploy.commands import Script, Word, commands_in
from dllint.deploy.texts import DeployFile
from dllint.syntax.mapped import Mapped, joined
from dllint.syntax.tree import Tree


def words_of(tree: Tree, file: DeployFile) -> list[Word]:
    """The words in a scalar of YAML or JSON; none for anything else."""
    return split(scalar(file, tree.node), file) if isinstance(tree.node, ScalarNode) else []


def split(source: Mapped, file: DeployFile) -> list[Word]:
    """The words of a text, as a shell splits them."""
    flat = source.replaced(re.sub(r"\\?\r?\n", lambda found: " " * len(found[0]), source.text))
    # A command's name in front of the options makes them the words of a command.
    named = commands_in(Script(joined((Mapped("docker ", source.origin(0)), flat)), file.folder), file)
    return list(named[0].words[1:]) if named else []
