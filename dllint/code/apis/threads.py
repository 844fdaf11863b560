"""Library objects whose work is done by threads of the process that made them: a forked worker has none of these.

Sources: 16 kinds run on torch 2.13 under fork; fsspec.asyn (a thread runs the event loop of every asynchronous
filesystem, and `loop` raises in another process).
"""

from __future__ import annotations

from dllint.records import dataclass

_NO_THREADS = "a forked worker has the pool but none of its threads, so it waits for ever"
_NOT_FORK_SAFE = (
    "its event loop runs in a thread that a forked worker does not have: the worker hangs, or raises RuntimeError: "
    "This class is not fork-safe"
)


@dataclass(frozen=True, slots=True)
class ThreadedApi:
    """A call that makes an object with threads of its own."""

    harm: str
    """What a forked worker does that uses it, as measured."""
    started_by: tuple[str, ...] = ()
    """The methods that start the threads; none where making the object does."""
    remote: bool = False
    """Whether it has threads only where its first argument names a remote protocol: `fsspec.filesystem("s3")`."""
    derives: tuple[str, ...] = ()
    """Methods whose result keeps using it."""


_EXECUTOR = ThreadedApi(_NO_THREADS, started_by=("submit", "map"))
_POOL = ThreadedApi(_NO_THREADS)
_FILESYSTEM = ThreadedApi(_NOT_FORK_SAFE, derives=("open", "get_mapper"))
_BY_URL = ThreadedApi(_NOT_FORK_SAFE, remote=True, derives=("open", "get_mapper"))
_WRITER = ThreadedApi(
    "the thread that writes its events does not exist in a forked worker, which waits for ever once the queue is full"
)

THREADED: dict[str, ThreadedApi] = {
    "concurrent.futures.ThreadPoolExecutor": _EXECUTOR,
    "concurrent.futures.thread.ThreadPoolExecutor": _EXECUTOR,
    "multiprocessing.pool.ThreadPool": _POOL,
    "multiprocessing.dummy.Pool": _POOL,
    "torch.utils.tensorboard.SummaryWriter": _WRITER,
    "torch.utils.tensorboard.writer.SummaryWriter": _WRITER,
    "tensorboardX.SummaryWriter": _WRITER,
    "s3fs.S3FileSystem": _FILESYSTEM,
    "s3fs.core.S3FileSystem": _FILESYSTEM,
    "gcsfs.GCSFileSystem": _FILESYSTEM,
    "gcsfs.core.GCSFileSystem": _FILESYSTEM,
    "adlfs.AzureBlobFileSystem": _FILESYSTEM,
    "ossfs.OSSFileSystem": _FILESYSTEM,
    "fsspec.implementations.http.HTTPFileSystem": _FILESYSTEM,
    "s3fs.S3Map": _FILESYSTEM,
    "gcsfs.GCSMap": _FILESYSTEM,
    "fsspec.filesystem": _BY_URL,
    "fsspec.open": _BY_URL,
    "fsspec.get_mapper": _BY_URL,
    "fsspec.core.url_to_fs": _BY_URL,
    "fsspec.url_to_fs": _BY_URL,
    "zarr.storage.FSStore": _BY_URL,
}
"""Calls that make such objects."""

REMOTE_PROTOCOLS = frozenset(
    {"s3", "s3a", "gs", "gcs", "http", "https", "abfs", "abfss", "az", "adl", "oss", "gdrive", "r2"}
)
"""Protocols whose filesystems are asynchronous in fsspec."""

WAITED_FOR = {
    "queue.Queue": ("get", "join", "put"),
    "queue.SimpleQueue": ("get",),
    "queue.LifoQueue": ("get", "join", "put"),
    "queue.PriorityQueue": ("get", "join", "put"),
    "threading.Event": ("wait",),
    "threading.Condition": ("wait", "wait_for"),
    "threading.Semaphore": ("acquire",),
    "threading.Barrier": ("wait",),
}
"""What a thread hands its results over by, with the methods that wait for it."""

HANDS_TO_LOOP = frozenset({"run_coroutine_threadsafe", "call_soon_threadsafe"})
"""Last names of the calls that give work to an event loop which another thread runs."""
