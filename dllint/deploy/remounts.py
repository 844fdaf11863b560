"""A container that sizes its own /dev/shm when it starts: `mount -o remount,size=8g /dev/shm` in its command or script.

The kernel lets only a privileged container do so; any other one is told "permission denied" and keeps what it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dllint.deploy.command_words import simple_commands, without_prefix
from dllint.deploy.commands import Word
from dllint.deploy.followed import shell_commands
from dllint.deploy.images import built_for
from dllint.deploy.sizes import tmpfs_bytes
from dllint.deploy.workload import DOCKERFILE, Flaw, FlawKind, Setting, SharedMemory, ShmSource, Workload
from dllint.finding import Location
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.training import Training

_SHM = "/dev/shm"
_PRIVILEGES = pattern(rb"privileged|SYS_ADMIN")
_SIZE = pattern(r"\bsize=([^,\s]*)")


def heed(training: Training) -> None:
    """Take in what the container does itself about /dev/shm, of which its launcher says nothing."""
    workload, plan = training.workload, training.plan
    if workload.shm.source is not ShmSource.DEFAULT:
        return
    mount = _mount(training)
    if mount is None:
        return
    is_privileged = workload.privileged
    if workload.launcher is DOCKERFILE and not plan.shared(_speaks_of_privileges):
        is_privileged = False
    if is_privileged is None:
        workload.shm = SharedMemory(ShmSource.UNKNOWN)
    elif is_privileged:
        workload.shm = SharedMemory(ShmSource.MEMORY, _size(mount), mount[0].at)
    else:
        what = "`mount` of /dev/shm is refused in a container that is not privileged"
        workload.flaws.append(Flaw(FlawKind.NOT_EFFECTIVE, mount[0].at, what))


def _mount(training: Training) -> Sequence[Word] | None:
    """The words of the command that mounts something at /dev/shm."""
    workload, plan = training.workload, training.plan
    for texts in simple_commands(training.words):
        command = without_prefix(texts)
        if _is_mount(command):
            at = _written_at(workload, plan)
            return [Word(text, at) for text in command]
    found = shell_commands(training.words, workload.folder, plan, training.environment)
    return next((command.words for command in found if _is_mount([command.name, *command.texts[1:]])), None)


def _speaks_of_privileges(plan: Plan) -> bool:
    """Whether anything in the project says that a container is run with the right to mount."""
    return any(_PRIVILEGES.search(file.data) for file in plan.files.values())


def _written_at(workload: Workload, plan: Plan) -> Location:
    """Where the words stand that mount: in the command of the container, or in the CMD or ENTRYPOINT of its image."""
    if not any(_SHM in word for word in workload.start.words):
        image = built_for(workload, plan)
        return image.run_at(_SHM) if image is not None else workload.at
    file = plan.by_path.get(workload.path)
    below = enumerate(file.lines[workload.at.row - 1 :], workload.at.row) if file is not None else ()
    row = next((row for row, line in below if "mount" in line and _SHM in line), None)
    return file.line_at(row) if file is not None and row is not None else workload.at


def _is_mount(texts: Sequence[str]) -> bool:
    folders = [text for text in texts[1:] if text.startswith("/")]
    return texts[:1] in (["mount"], ["/bin/mount"]) and bool(folders) and folders[-1].rstrip("/") == _SHM


def _size(words: Sequence[Word]) -> Setting[int] | None:
    """The size that it asks for; None where it asks for none, so that half of the machine's memory is the bound."""
    for word in words:
        found = _SIZE.search(word.text)
        if found is not None:
            known = word.known and "$" not in found[1]
            return Setting(tmpfs_bytes(found[1]) if known else None, word.part(found.start(1)), found[1])
    return None
