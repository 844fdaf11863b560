"""Notebooks as modules: their cells are one program, run from the top, that nobody imports."""

from __future__ import annotations

import ast

from dllint.code.language.modules import Module
from dllint.code.language.scopes import ModuleScope
from dllint.syntax.notebook import Notebook
from dllint.syntax.python import CannotParseError, Source

_SMALL = 64_000


class NotebookModule(Module):
    """A notebook. What has nothing to do with torch is only read if it is small, to say whether it is broken."""

    is_notebook = True

    def __init__(self, path: str, absolute: str, name: str, is_package: bool, data: bytes, is_target: bool) -> None:
        super().__init__(path, absolute, name, is_package, data, is_target)
        matters = b"torch" in data or b"num_workers" in data
        if not matters and len(data) > _SMALL:
            self.source = Source(path, b"")
            return
        try:
            self.source = notebook = Notebook(path, data)
        except CannotParseError as error:
            self.error = error
        else:
            self.broken = notebook.broken

    @property
    def shell(self) -> str:
        """What its cells give to a shell, in the rows and columns of the Python text."""
        return self.source.shell if isinstance(self.source, Notebook) else ""

    @property
    def scope(self) -> ModuleScope:
        """The indexed top level of all cells; that of an empty module if the notebook cannot be read."""
        if self.error is not None and self._scope is None:
            self._scope = ModuleScope(ast.Module(body=[], type_ignores=[]), self, None, self.name)
            self._scope.index()
        return super().scope
