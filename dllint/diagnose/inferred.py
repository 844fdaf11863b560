"""Failures that no single line of a log tells, and what is read off lines besides signatures."""

from __future__ import annotations

from dllint.diagnose.signature import Role, Signature
from dllint.finding import Failure
from dllint.patterns import pattern

LOST_BATCH = Signature(
    "lost batch", Failure.STALL, "",
    "a worker could not send a batch and threw it away: main waits for it for ever", "all", "run",
)  # fmt: skip
SAMPLE_RAISED = Signature(
    "sample could not be made", Failure.WRONG_SAMPLES, "",
    "reading, decoding or collating a sample raised in a worker", "all", "run",
)  # fmt: skip
WORKER_RAISED = Signature(
    "worker raised", Failure.WORKER_DIED, "",
    "code raised in a worker; the original traceback tells where", "all", "run",
)  # fmt: skip
ENDED_BY_TIMEOUT = Signature(
    "ended by timeout", Failure.STALL, "",
    "the run did not end by itself: timeout(1) had to end it (exit code 124)", "all", "run", role=Role.SYMPTOM,
)  # fmt: skip
KILLED_FOR_MEMORY = Signature(
    "out of memory", Failure.WORKER_DIED, "",
    "the job, the container or the machine ran out of memory, and processes of it were killed: a worker is gone",
    "all", "read",
)  # fmt: skip
OTHERS = (LOST_BATCH, SAMPLE_RAISED, WORKER_RAISED, ENDED_BY_TIMEOUT, KILLED_FOR_MEMORY)

SAMPLE_ERRORS = frozenset(
    """
    KeyError IndexError LookupError ValueError UnicodeDecodeError JSONDecodeError UnpicklingError OSError IOError
    FileNotFoundError PermissionError IsADirectoryError NotADirectoryError EOFError UnidentifiedImageError
    DecompressionBombError LibsndfileError BadZipFile BadGzipFile ReadError ParserError EmptyDataError ArrowInvalid
    error
    """.split()  # noqa: SIM905 - one reads better than 24 strings
)
"""Exceptions that speak of one sample and its file, not of the code around it. `error`: cv2's, zlib's, struct's."""

OOM_KILL = pattern(
    r"\boom[-_]kill(?!_disable|\w*[\s:=]+0\b)|\bOOMKilled\b(?![\"']?\s*[:=]\s*(?:false|0))"
    r"|\bKilled process \d+ \((?:python[\d.]*|pt_data_worker|pt_main_thread)"
)
"""What Slurm, Kubernetes and kernels say of any process: it counts close to the end of a worker."""
ENDED_WITHOUT_A_CAUSE = ("worker exited", "connection to the worker lost", "worker killed")
"""Signatures of workers that are gone, by texts that do not say why."""

CAUGHT = pattern(r"Caught (\w+) in (?:DataLoader worker process \d+|pin memory thread(?: for device \S+)?)\b")
EXIT_STATUS = pattern(r"\bexit(?:ed)?(?: with)?(?: code| status)[ :=]*(\d+)\b")
