"""The normal form of everything that runs a container: one `Workload`, whatever launches it.

A front end (a module in `launchers/`) reads what one launcher's files say and yields workloads. Rules ask workloads,
and never look at a launcher's syntax. Unknown stays unknown: a value out of a variable that nobody can see is not
absent.
"""

from __future__ import annotations

import shlex
from enum import Enum, auto
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from dllint.finding import Location, Related
from dllint.patterns import pattern
from dllint.records import dataclass, field

if TYPE_CHECKING:
    from dllint.code.loaders.loader import Loader

_T = TypeVar("_T")
_LONG_TEXT = pattern(r"`([^`]{40})[^`]{40,}`")


@dataclass(frozen=True, slots=True)
class Setting(Generic[_T]):
    """One value that a launcher is given, where it stands; `value` is None where it is set but cannot be known."""

    value: _T | None
    at: Location
    text: str = ""
    """As it is written."""


class ShmSource(Enum):
    """Who decides how large /dev/shm is."""

    DEFAULT = auto()
    """Nobody: the runtime's 64 MB."""
    SIZE = auto()
    """A size that the launcher takes (`--shm-size`, `shm_size`, `sharedMemorySize` ...)."""
    MEMORY = auto()
    """A tmpfs or memory volume mounted at /dev/shm, with a size of its own or without a bound."""
    HOST = auto()
    """The machine's own /dev/shm."""
    OTHER_CONTAINER = auto()
    """Another container's, whose size decides."""
    DISK = auto()
    """A volume on disk lies over it."""
    PLATFORM = auto()
    """The platform gives enough by itself."""
    UNKNOWN = auto()
    """It cannot be told: a variable, a template, an option out of somewhere else."""


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """What a container finds at /dev/shm. The default is what it finds where nothing is said."""

    source: ShmSource = ShmSource.DEFAULT
    size: Setting[int] | None = None
    """Bytes; None where no size is given (MEMORY: no bound; DEFAULT: 64 MB)."""
    at: Location | None = None
    """Where it is set: the mount, the `medium` line, the option; what DLL704, DLL705 and DLL708 point at."""


class FlawKind(Enum):
    """What is wrong with a setting itself."""

    NOT_EFFECTIVE = "DLL703"
    REFUSED = "DLL707"


@dataclass(frozen=True, slots=True)
class Flaw:
    """A setting about shared memory that does not do what its author meant."""

    kind: FlawKind
    at: Location
    what: str
    """One clause for the message: "`build.shm_size` concerns the build alone"."""
    instead: str = ""
    """What to write instead; empty for the launcher's usual advice."""

    @property
    def clause(self) -> str:
        """The clause, with no more of a long text in it than tells which one it is."""
        return _LONG_TEXT.sub(r"`\1...`", self.what)


class Launcher(NamedTuple):
    """Who runs a container, and how a size of shared memory is given to it."""

    name: str
    """For messages: `docker run`, `compose`, `Kubernetes`."""
    advice: str
    """What to write, with `{size}` in the place of the size in the launcher's own spelling."""
    spelling: str = "{gib}g"
    """How a size is spelled, from whole gibibytes `gib`, mebibytes `mib` or bytes `bytes`."""
    takes_all: bool = False
    """Whether a memory volume without a size may take all of the machine's memory, not the half that tmpfs takes."""
    checks: bool = False
    """Whether it runs checks of the code as a rule: an image with torch alone is no sign of a training then."""

    is_workplace: bool = False
    """Whether people work in its containers, and start the project's scripts there by hand."""

    def spell(self, size: int) -> str:
        """A size of so many bytes, rounded up to whole gibibytes, in the launcher's spelling."""
        gib = -(-size // (1 << 30))
        return self.spelling.format(gib=gib, mib=gib << 10, bytes=gib << 30)

    def says(self, size: int, advice: str = "") -> str:
        """The advice for a size of so many bytes: the launcher's own, or another that has `{size}` in it."""
        return (advice or self.advice).replace("{size}", self.spell(size))


def words_in(text: str) -> tuple[str, ...]:
    """The words of a command that is one string, taken apart as a shell does; itself where a quote is left open."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return (text,)


class Start(NamedTuple):
    """What a container is told to run: words, a shell's text as one of them; one that cannot be known is empty."""

    entrypoint: tuple[str, ...] | None = None
    """In the place of the image's ENTRYPOINT, whose CMD goes with it; None where the image's own runs."""
    command: tuple[str, ...] | None = None
    """In the place of the image's CMD, behind the entry point; None where the image's own runs."""

    @property
    def words(self) -> tuple[str, ...]:
        """All of them."""
        return (*(self.entrypoint or ()), *(self.command or ()))


DOCKERFILE = Launcher("Dockerfile", "run it with `--shm-size={size}`, or `shm_size: '{size}b'` in compose")
"""An image that is built here and that nobody is seen to run."""


@dataclass(slots=True, eq=False)
class Workload:
    """One container that will run."""

    launcher: Launcher
    path: str
    """The file that says so, as shown to the user."""
    at: Location
    """What DLL701 points at: the service key, the container item, the `docker run` line ..."""
    name: str = ""
    """What people call it: the service, the container, the job; empty where it has no name."""
    folder: str = ""
    """Absolute path of the folder that relative paths of the command start from."""
    image: Setting[str] | None = None
    """The image; None where it is built from `build` alone, or not said."""
    build: Build | None = None
    start: Start = Start()
    """What runs in it."""
    also_runs: tuple[Start, ...] = ()
    """What else the project runs in it instead (`docker compose run`)."""
    workdir: str = ""
    """The folder in the container that the command starts in, where it is said."""
    shm: SharedMemory = SharedMemory()
    flaws: list[Flaw] = field(default_factory=list)
    memory_limit: Setting[int] | None = None
    """Bytes that the container may use, or its whole pod."""
    cpu_limit: Setting[float] | None = None
    """Processors."""
    nofile: Setting[int] | None = None
    """The soft limit of open files."""
    host_ipc: Location | None = None
    """Where the machine's IPC namespace is asked for."""
    ignored_size: Location | None = None
    """A size that stands beside host IPC and is not used."""
    privileged: bool | None = None
    """Whether it may mount filesystems (privileged, or CAP_SYS_ADMIN); None where that cannot be told."""
    has_mounts: bool = True
    """Whether anything of the machine may lie in it; False where it is seen that nothing does."""
    gpus: bool = False
    environment: dict[str, str | None] = field(default_factory=dict)
    """Variables that are set; None for a value that cannot be known."""
    is_environment_whole: bool = False
    """Whether these are all that its launcher sets."""
    is_training: bool = False
    """Whether the launcher itself says that it trains with torch (kind PyTorchJob, a torch runtime)."""
    loaders: tuple[Loader, ...] = ()
    """The loaders that it gets to, where it runs a function of the project instead of a command."""
    stands_for: tuple[tuple[str, ...], str] | None = None
    """Another launcher's container that this one only asks for: the absolute paths of its files, and its name there.
    The plan gives that container the flaws found here."""
    related: tuple[Related, ...] = ()
    """Places that shaped it: the base of an override, the overlay, the values of a chart."""


@dataclass(frozen=True, slots=True)
class Build:
    """How an image is built: absolute paths."""

    context: str
    dockerfile: str = ""
    """Empty for `Dockerfile` in the context."""
    target: str = ""
    inline: str = ""
    """A Dockerfile's text that stands in the launcher's own file."""
    arguments: tuple[tuple[str, str], ...] = ()
