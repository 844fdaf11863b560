"""Failures that no single line of a log tells, and what is read off lines besides signatures."""

from __future__ import annotations

import re

from dllint.diagnose.signature import Role, Signature
from dllint.finding import Failure

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
OTHERS = (LOST_BATCH, SAMPLE_RAISED, WORKER_RAISED, ENDED_BY_TIMEOUT)

SAMPLE_ERRORS = frozenset(
    """
    KeyError IndexError LookupError ValueError UnicodeDecodeError JSONDecodeError UnpicklingError OSError IOError
    FileNotFoundError PermissionError IsADirectoryError NotADirectoryError EOFError UnidentifiedImageError
    DecompressionBombError LibsndfileError BadZipFile BadGzipFile ReadError ParserError EmptyDataError ArrowInvalid
    error
    """.split()  # noqa: SIM905 - one reads better than 24 strings
)
"""Exceptions that speak of one sample and its file, not of the code around it. `error`: cv2's, zlib's, struct's."""

CAUGHT = re.compile(r"Caught (\w+) in (?:DataLoader worker process \d+|pin memory thread(?: for device \S+)?)\b")
EXIT_STATUS = re.compile(r"\bexit(?:ed)?(?: with)?(?: code| status)[ :=]*(\d+)\b")
