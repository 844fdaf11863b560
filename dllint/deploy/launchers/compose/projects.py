"""The compose projects of a plan: which files are merged, in which order, and the services that come out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.deploy.launchers.compose.files import OVERRIDE_NAMES, base_of, compose_files, including_files
from dllint.deploy.launchers.compose.interpolation import env_file
from dllint.deploy.launchers.compose.invocations import started
from dllint.deploy.launchers.compose.layers import Layer, Merged, Scope
from dllint.records import dataclass, replace
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_DEEPEST = 20
"""Services that extend one another are followed so far."""


@dataclass(frozen=True, eq=False)
class ComposeProject:
    """Files that one command merges, the base first."""

    files: tuple[str, ...]
    """Absolute paths."""
    folder: str
    """Absolute path that relative paths start from."""
    known: Mapping[str, list[Tree]]
    """The documents of all compose files, by absolute path."""
    variables: Mapping[str, str]
    is_swarm: bool = False
    """Whether it is deployed with `docker stack`."""
    is_open: bool = False
    """Whether further files, which nobody can see, are merged on top."""

    @property
    def scope(self) -> Scope:
        """What holds for the values of its own files."""
        return Scope(self.folder, self.variables)

    def service_names(self) -> list[str]:
        """The names of its services."""
        services = Merged(tuple(self._documents())).get("services")
        return services.names() if services is not None else []

    def service(self, name: str) -> Merged | None:
        """A service after merge, with what it extends below its own layers; None where it is not there."""
        layers: list[Layer] = []
        for path in reversed(self.files):
            layers.extend(self._layers(path, name, self.scope, frozenset()))
            if layers and layers[-1].tree.tag in ("!reset", "!override"):
                break
        kept = tuple(layer for layer in layers if layer.tree.is_mapping)
        return Merged(kept) if kept else None

    def base(self, name: str) -> Tree | None:
        """The service itself in the first file that has it: where it is reported."""
        found = (document.get("services", name) for path in self.files for document in self.known[path])
        return next((tree for tree in found if tree is not None), None)

    @cached_property
    def template_names(self) -> frozenset[str]:
        """The services that others of its own files extend, and say a command for."""
        found: set[str] = set()
        for path in self.files:
            for document in self.known[path]:
                services = document.get("services")
                for _, service in services.pairs() if services is not None else []:
                    parent = extended(Layer(service, self.scope), path)
                    has_command = "command" in service or "entrypoint" in service
                    if parent is not None and parent[0] in self.files and has_command:
                        found.add(parent[1])
        return frozenset(found)

    def volume(self, name: str) -> Merged | None:
        """A named volume's declaration; None where it has none, or an empty one."""
        return Merged(tuple(self._documents())).get("volumes", name)

    def _documents(self) -> Iterator[Layer]:
        for path in reversed(self.files):
            for document in reversed(self.known[path]):
                yield Layer(document, self.scope)

    def _layers(self, path: str, name: str, scope: Scope, seen: frozenset[tuple[str, str]]) -> Iterator[Layer]:
        if (path, name) in seen or len(seen) > _DEEPEST:
            return
        for document in reversed(self.known.get(path, [])):
            service = document.get("services", name)
            if service is None:
                continue
            layer = Layer(service, scope)
            yield layer
            parent = extended(layer, path)
            if parent is not None:
                folder = scope.folder if parent[0] == path else os.path.dirname(parent[0])
                inner = Scope(folder, scope.variables)
                yield from self._layers(parent[0], parent[1], inner, seen | {(path, name)})


def extended(layer: Layer, path: str) -> tuple[str, str] | None:
    """The file and the name of the service that one extends."""
    tree = layer.tree.get("extends")
    if tree is None or tree.tag == "!reset":
        return None
    extends = Layer(tree, layer.scope)
    if not tree.is_mapping:
        return (path, extends.value.text) if extends.value.text else None
    file, name = extends.text_of("file"), extends.text_of("service")
    if file is None or not name:
        return None
    return (os.path.normpath(os.path.join(layer.scope.folder, file)) if file else path), name


@dataclass(frozen=True, slots=True)
class Projects:
    """All compose projects of a plan."""

    named: list[ComposeProject]
    """Those whose files a command, a `.env` or another file names."""
    default: list[ComposeProject]
    """What compose takes by itself in a folder."""
    alone: list[ComposeProject]
    """The other files, one by one."""


def projects(plan: Plan) -> Projects:
    """All compose projects; files that are only there to be extended are none."""
    known = plan.shared(including_files) | plan.shared(compose_files)
    default = {project.folder: project for project in _by_name(plan, known)}
    named = [*_by_command(plan, known, default), *_by_env(plan, known)]
    used = {path for project in named for path in project.files}
    by_itself = [project for project in default.values() if project.files[0] not in used]
    named += list(_by_include(plan, known, [*named, *by_itself]))
    used = {path for project in named for path in project.files}
    rest = [project for project in default.values() if project.files[0] not in used]
    used |= {path for project in rest for path in project.files} | _extended_files(plan, known)
    return Projects(named, rest, [_project(plan, known, (path,)) for path in known if path not in used])


def _project(plan: Plan, known: Mapping[str, list[Tree]], files: tuple[str, ...], folder: str = "") -> ComposeProject:
    folder = folder or os.path.dirname(files[0])
    return ComposeProject(files, folder, known, variables_of(plan, folder))


def _by_command(
    plan: Plan, known: Mapping[str, list[Tree]], default: Mapping[str, ComposeProject]
) -> Iterator[ComposeProject]:
    """Projects that the project's own commands start; without `-f` the base is looked for upwards."""
    for start in started(plan, known) if known else ():
        variables = _env_files(plan, start.env_files, start.folder)
        if start.files:
            found = ComposeProject(start.files, start.folder, known, variables, start.is_swarm, start.is_open)
            yield found
            continue
        base = next((default[folder] for folder in _upwards(start.folder, plan.root) if folder in default), None)
        if base is not None:
            yield replace(base, variables=variables if start.env_files else base.variables, is_open=start.is_open)


def _upwards(folder: str, root: str) -> Iterator[str]:
    while folder.startswith(root):
        yield folder
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def _env_files(plan: Plan, names: tuple[str, ...], folder: str) -> dict[str, str]:
    """What `--env-file` names, from the project's folder or the root; else the folder's `.env`."""
    if not names:
        return variables_of(plan, folder)
    found: dict[str, str] = {}
    for name in names:
        text = plan.read_aside(name, folder) or plan.read_aside(name, plan.root)
        found |= env_file(text or "", found)
    return found


def variables_of(plan: Plan, folder: str) -> dict[str, str]:
    """What the `.env` of a folder sets, and the shell that compose is most likely run in there."""
    return {"PWD": folder} | env_file(plan.read_aside(".env", folder) or "")


def _by_name(plan: Plan, known: dict[str, list[Tree]]) -> Iterator[ComposeProject]:
    for folder in dict.fromkeys(os.path.dirname(path) for path in known):
        base = base_of(folder, known)
        override = base_of(folder, known, OVERRIDE_NAMES)
        if base is not None:
            yield _project(plan, known, (base, override) if override else (base,))


def _by_env(plan: Plan, known: Mapping[str, list[Tree]]) -> Iterator[ComposeProject]:
    """Projects whose files `COMPOSE_FILE` in a `.env` names."""
    for folder in dict.fromkeys([plan.root, *map(os.path.dirname, known)]):
        variables = variables_of(plan, folder)
        names = variables.get("COMPOSE_FILE", "")
        separator = variables.get("COMPOSE_PATH_SEPARATOR", ";" if ";" in names else ":")
        files = tuple(os.path.normpath(os.path.join(folder, name)) for name in names.split(separator) if name)
        if files and all(path in known for path in files):
            yield _project(plan, known, files)


def _by_include(plan: Plan, known: Mapping[str, list[Tree]], outer: list[ComposeProject]) -> Iterator[ComposeProject]:
    for path, documents in known.items():
        folder = os.path.dirname(path)
        scope = Scope(folder, variables_of(plan, folder))
        for document in documents:
            include = document.get("include")
            for entry in include.items() if include is not None else []:
                around = [project.files for project in outer if path in project.files] or [(path,)]
                for files in dict.fromkeys(files[files.index(path) + 1 :] for files in around):
                    yield from _included(plan, known, Layer(entry, scope), files)


def _included(
    plan: Plan, known: Mapping[str, list[Tree]], entry: Layer, overrides: tuple[str, ...]
) -> Iterator[ComposeProject]:
    """The project that an entry takes in; what is merged on top of the file that includes changes its services, too."""
    paths = entry.tree.get("path") if entry.tree.is_mapping else entry.tree
    if paths is None:
        return
    written = [layer.value.text for layer in Merged((Layer(paths, entry.scope),)).items()]
    files = tuple(os.path.normpath(os.path.join(entry.scope.folder, path)) for path in written)
    folder = entry.text_of("project_directory")
    if files and all(path in known for path in files):
        files = (*files, *overrides)
        yield _project(plan, known, files, os.path.normpath(os.path.join(entry.scope.folder, folder)) if folder else "")


def _extended_files(plan: Plan, known: Mapping[str, list[Tree]]) -> set[str]:
    """The files that services of other files extend: what stands in them is there to be extended."""
    found = set()
    for path, documents in known.items():
        scope = Scope(os.path.dirname(path), variables_of(plan, os.path.dirname(path)))
        for document in documents:
            services = document.get("services")
            for _, service in services.pairs() if services is not None else []:
                parent = extended(Layer(service, scope), path)
                if parent is not None and parent[0] != path:
                    found.add(parent[0])
    return found
