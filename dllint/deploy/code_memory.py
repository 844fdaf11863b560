"""Whether Python of the project, or a cell of its notebooks, gives a container shared memory, by whatever library.

The launchers of `dllint.deploy.launchers` know which image a call runs; this only asks whether any call sizes /dev/shm,
because an image is often named by an argument, or built elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dllint.deploy.launchers import starts_in_a_cell
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.deploy.plan import Plan

_PARTS = (b"shm", b"ipc", b"IPC", b"Memory", b"shared_memory")
"""One of these is in whatever the patterns below find."""
_OF_CONTAINERS = pattern(
    rb"-shm-size\b|\bhost_?ipc\b"
    rb"|\bipc_mode\b(?![\"']?\s*[=:]\s*(?:None|[\"'](?:none|private|shareable)?[\"']))"
    rb"|\bmedium[\"']?\s*[=:]\s*[\"']Memory\b",
    re.IGNORECASE,
)
_OF_ANY_SHARED_MEMORY = pattern(
    rb"\bshm_size\b|--ipc\b|\bipc[\"']?\s*[=:]\s*[\"']host\b|\bshared_memory(?:_size)?[\"']?\s*[=:]|\bsharedMemorySize\b"
    # A volume or a tmpfs at that place of the container.
    rb"|\b(?:bind|target|mount_?[pP]ath|container_?[pP]ath)[\"']?\s*[=:]\s*[\"']/dev/shm[\"']"
    rb"|\bMount\(\s*[\"']/dev/shm[\"']|\{\s*[\"']/dev/shm[\"']\s*:|:/dev/shm\b"
)
"""Words of code about `multiprocessing.shared_memory`, too: they count beside a library that starts containers."""
_STARTS_CONTAINERS = pattern(
    rb"docker|podman|nerdctl|\.containers\b|kubernetes|metaflow|flytekit|azure|aws_cdk|boto3", re.IGNORECASE
)


def is_given_by_code(plan: Plan) -> bool:
    """Whether a module that is no test speaks of the shared memory of containers, or of the machine's in them."""
    return any(_gives(module) for module in plan.program.modules.by_file.values())


def _gives(module: Module) -> bool:
    if _says(module.data):
        return not module.is_test
    return starts_in_a_cell(module) and _says(module.shell.encode("utf-8", "replace"))


def _says(data: bytes) -> bool:
    if not any(part in data for part in _PARTS):
        return False
    if _OF_CONTAINERS.search(data):
        return True
    return bool(_OF_ANY_SHARED_MEMORY.search(data) and _STARTS_CONTAINERS.search(data))
