"""Library calls that start processes, or run functions in processes of their own."""

from __future__ import annotations

_HOMES = ("multiprocessing", "torch.multiprocessing")

POOLS = frozenset(f"{home}.{name}" for home in _HOMES for name in ("Pool", "pool.Pool"))
"""Process pools. Their processes are daemons, which may not have children; those of an executor are not."""

STARTS_PROCESSES = POOLS | frozenset(
    [
        *(f"{home}.Manager" for home in _HOMES),
        "multiprocessing.managers.SyncManager",
        "torch.multiprocessing.spawn",
        "torch.multiprocessing.start_processes",
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.process.ProcessPoolExecutor",
        "tqdm.contrib.concurrent.process_map",
    ]
)
"""Calls that start processes through multiprocessing, which a worker, itself a daemon, may not do: measured to raise
under fork, spawn and forkserver. Fine in a worker, and so not here: subprocess, os.fork, threads, joblib."""

PROCESSES = frozenset(f"{home}.{name}" for home in _HOMES for name in ("Process", "process.BaseProcess"))
"""Classes whose `start()` starts a process."""

CONTEXTS = frozenset(f"{home}.get_context" for home in _HOMES)
"""Calls whose result has Pool, Process and Manager as methods."""

POOL_MAPS = frozenset(
    ("map", "imap", "imap_unordered", "starmap", "apply", "map_async", "starmap_async", "apply_async")
)
"""Methods of a pool that run their first argument in its processes."""

RUNS_MAIN = frozenset(
    {
        "absl.app.run",
        "argh.dispatch_command",
        "clize.run",
        "cyclopts.run",
        "defopt.run",
        "fire.Fire",
        "fire.core.Fire",
        "jsonargparse.CLI",
        "jsonargparse.auto_cli",
        "plac.call",
        "tap.tapify",
        "tensorflow.compat.v1.app.run",
        "typer.run",
        "tyro.cli",
    }
)
"""Calls that read the command line, and run with it the function that they are given first (their documentation)."""
