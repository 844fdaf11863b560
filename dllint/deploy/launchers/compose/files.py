"""Which files are compose files, and which of them are read together as one project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from yaml.nodes import MappingNode, ScalarNode

from dllint.deploy.texts import DeployFile
from dllint.files import Kind
from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_KINDS = (Kind.YAML, Kind.JSON)
BASE_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
"""What compose looks for in a folder, in its order."""
OVERRIDE_NAMES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)
"""What compose merges on top by itself."""

_SERVICES = pattern(rb"""services["']?[ \t]*:""")
_AT_START_OF_LINE = pattern(rb"""(?:\xef\xbb\xbf|---[ \t]+)?\{?[ \t]*["']?""")
_NAME = pattern(r"(?:docker-|podman-)?compose\b.*\.(?:ya?ml|json)")
_TEMPLATE = pattern(rb"\{\{|\{%|<%")
_SERVICE_KEYS = pattern(
    "build|cap_add|command|container_name|depends_on|deploy|devices|entrypoint|env_file|environment|expose|extends|"
    "extra_hosts|gpus|healthcheck|hostname|image|init|ipc|labels|logging|mem_limit|network_mode|networks|pid|platform|"
    "ports|privileged|profiles|restart|runtime|secrets|shm_size|stdin_open|tmpfs|tty|ulimits|user|volumes|working_dir"
)


_FIRST_KEYS = pattern(
    "cpu_shares|cpuset|dns|dns_search|dockerfile|domainname|external_links|links|log_driver|log_opt|mac_address|"
    "memswap_limit|net|read_only|security_opt|stop_signal|volume_driver|volumes_from"
)
"""What services of the first version of the format could have besides."""


def may_be_compose(file: DeployFile) -> bool:
    """Whether the bytes of a file have `services` as a key of the root, or its name says that it is of compose; of JSON
    both."""
    if file.kind is Kind.JSON:
        return _NAME.fullmatch(file.name) is not None and file.has(b'"services"')
    if file.kind is not Kind.YAML:
        return False
    return _has_services(file.data) or (_NAME.fullmatch(file.name) is not None and file.has(b"image"))


def _has_services(data: bytes) -> bool:
    starts = (found.start() for found in _SERVICES.finditer(data))
    return any(_AT_START_OF_LINE.fullmatch(data, data.rfind(b"\n", 0, at) + 1, at) for at in starts)


def compose_documents(file: DeployFile) -> list[Tree]:
    """The documents of a compose file; none if it is no compose file. Raises CannotParseError for a broken one."""
    if not may_be_compose(file):
        return []
    documents, error = file.documents
    if error is not None and _is_recognisable(file):
        raise CannotParseError(error.reason, error.row, error.column)
    if error is not None:
        return []
    current = [document for document in documents if _is_compose(document)]
    first = next(iter(documents), None)
    return current or ([_modern(first)] if first is not None and _is_of_first_version(first, file) else [])


def compose_files(plan: Plan) -> dict[str, list[Tree]]:
    """The documents of all compose files of a project that can be read, by absolute path."""
    found: dict[str, list[Tree]] = {}
    for file in plan.of_kind(*_KINDS):
        try:
            documents = compose_documents(file)
        except CannotParseError:
            continue
        if documents:
            found[file.absolute] = documents
    return found


def including_files(plan: Plan) -> dict[str, list[Tree]]:
    """The documents of all compose files that include others, by absolute path; they need no services of their own."""
    named = (file for file in plan.of_kind(*_KINDS) if _NAME.fullmatch(file.name) and file.has(b"include"))
    found = {file.absolute: [document for document in file.documents[0] if "include" in document] for file in named}
    return {path: documents for path, documents in found.items() if documents}


def _is_recognisable(file: DeployFile) -> bool:
    """Whether a file that YAML cannot read was surely meant for compose: templates of one are not."""
    return bool(_NAME.fullmatch(file.name)) and not _TEMPLATE.search(file.data)


def _is_compose(document: Tree) -> bool:
    services = document.get("services")
    if services is None or not services.is_mapping or "apiVersion" in document:
        return False
    found = [service for _, service in services.pairs() if not service.is_null]
    known = [service for service in found if any(_SERVICE_KEYS.fullmatch(key) for key, _ in service.pairs())]
    return bool(found) and len(known) == len(found)


def _is_of_first_version(document: Tree, file: DeployFile) -> bool:
    """Whether the root of a file are services themselves, as in the first version of the format."""
    services = document.pairs()
    if not services or not _NAME.fullmatch(file.name):
        return False
    return all(
        any(key in service for key in ("image", "build", "extends"))
        and all(_SERVICE_KEYS.fullmatch(key) or _FIRST_KEYS.fullmatch(key) for key, _ in service.pairs())
        for _, service in services
    )


def _modern(document: Tree) -> Tree:
    """A file of the first version as the later ones have it."""
    key = ScalarNode("tag:yaml.org,2002:str", "services", document.node.start_mark, document.node.start_mark)
    return Tree(MappingNode(document.tag, [(key, document.node)], document.node.start_mark, document.node.end_mark))


def base_of(folder: str, known: dict[str, list[Tree]], names: tuple[str, ...] = BASE_NAMES) -> str | None:
    """The file that compose takes by itself in a folder."""
    paths = (os.path.join(folder, name) for name in names)
    return next((path for path in paths if path in known), None)
