"""Error texts of torch 0.4 and 1.x, of Windows and of macOS, and their look-alikes outside of data loading."""

from __future__ import annotations

import pytest

from logs import FETCHED, PYTHON, WAITING, caught, names, traceback

WINDOWS = r"C:\Users\ann\Anaconda3\envs\t\lib"
OLD = "/opt/conda/lib/python3.6/site-packages/torch/utils/data"
WINDOWS_START = (
    rf"{WINDOWS}\site-packages\torch\utils\data\dataloader.py __init__",
    rf"{WINDOWS}\multiprocessing\process.py start",
    rf"{WINDOWS}\multiprocessing\popen_spawn_win32.py __init__",
    rf"{WINDOWS}\multiprocessing\reduction.py dump",
)
WINDOWS_CHILD = ("<string> <module>", rf"{WINDOWS}\multiprocessing\spawn.py spawn_main")
FORKING = (
    f"{OLD}/dataloader.py __init__",
    f"{PYTHON}/multiprocessing/process.py start",
    f"{PYTHON}/multiprocessing/popen_fork.py _launch",
)
COLLATING = (f"{OLD}/dataloader.py __next__", f"{OLD}/dataloader.py default_collate")
SAMPLING = (f"{OLD}/dataloader.py __next__", f"{OLD}/sampler.py __iter__")


@pytest.mark.parametrize(
    ("frames", "last", "name"),
    [
        (WINDOWS_START, "BrokenPipeError: [Errno 32] Broken pipe", "start-up broken off"),
        (WINDOWS_START, "TypeError: can't pickle _thread.lock objects", "unpicklable for workers"),
        (WINDOWS_START, "TypeError: can't pickle Environment objects", "unpicklable for workers"),
        (WINDOWS_START, "TypeError: cannot serialize '_io.BufferedReader' object", "unpicklable for workers"),
        (
            WINDOWS_START,
            "AttributeError: Can't pickle local object 'main.<locals>.<lambda>'",
            "unpicklable for workers",
        ),
        (WINDOWS_CHILD, "EOFError: Ran out of input", "truncated start-up data"),
        (WINDOWS_CHILD, "PermissionError: [WinError 5] Access is denied", "start-up broken off"),
        (
            WINDOWS_CHILD,
            "RuntimeError: Couldn't open shared file mapping: <torch_13684_4004974554>, error code: <1455>",
            "no memory to share on Windows",
        ),
        (
            WINDOWS_CHILD,
            'OSError: [WinError 1455] The paging file is too small. Error loading "C:\\torch\\lib\\cudnn64_8.dll"',
            "out of memory",
        ),
        (FORKING, "OSError: [Errno 12] Cannot allocate memory", "out of memory"),
        (FORKING, "BlockingIOError: [Errno 11] Resource temporarily unavailable", "no process left"),
        (
            COLLATING,
            "RuntimeError: invalid argument 0: Sizes of tensors must match except in dimension 0. Got 500 and 344",
            "samples of unequal size",
        ),
        (
            COLLATING,
            "TypeError: batch must contain tensors, numbers, dicts or lists; found <class 'PIL.Image.Image'>",
            "samples that cannot be collated",
        ),
        (
            COLLATING,
            "TypeError: expected Tensor as element 1 in argument 0, but got NoneType",
            "samples that cannot be collated",
        ),
        (
            COLLATING,
            "RuntimeError: Expected object of scalar type Double but got scalar type Long for sequence element 1",
            "samples that cannot be collated",
        ),
        (
            SAMPLING,
            "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'",
            "generator of another device",
        ),
        (
            WAITING,
            "RuntimeError: cuda runtime error (3) : initialization error at THC.cpp:5",
            "CUDA in a forked worker",
        ),
        (
            WAITING,
            "multiprocessing.context.AuthenticationError: digest sent was rejected",
            "connection to the worker lost",
        ),
        ((), "TypeError: __init__() got an unexpected keyword argument 'persistent_workers'", "invalid loader value"),
        ((), "lmdb.BadRslotError: mdb_txn_begin: MDB_BAD_RSLOT: Invalid reuse of slot", "shared LMDB environment"),
    ],
)
def test_in_a_traceback(frames: tuple[str, ...], last: str, name: str) -> None:
    assert names(traceback("/srv/train.py main", *frames, last=last)) == [name]
    ordinary = "step 7 loss 0.3\n" * 20_000
    assert names(ordinary + traceback("/srv/train.py main", *frames, last=last) + ordinary) == [name]


@pytest.mark.parametrize("frame", [f"{OLD}/dataloader.py _worker_loop", f"{OLD}/_utils/worker.py _worker_loop"])
@pytest.mark.parametrize(
    ("frames", "last", "name"),
    [
        (("<listcomp>", "__getitem__"), "KeyError: 7", "sample could not be made"),
        (("<listcomp>", "__getitem__"), "NameError: name 'cv2' is not defined", "worker raised"),
        (("init",), "KeyError: 7", "worker raised"),
    ],
)
def test_what_workers_of_old_torch_hand_on(frame: str, frames: tuple[str, ...], last: str, name: str) -> None:
    inner = [f"{frame.split()[0] if each == '<listcomp>' else '/srv/data.py'} {each}" for each in frames]
    head = f"{last.split(':')[0]}: Traceback (most recent call last):"
    log = traceback("/srv/train.py main", COLLATING[0], last=traceback(frame, *inner, last=last, head=head))
    assert names(log) == [name]
    quoted = traceback(frame, *inner, last=last).replace("\n", "\\n")
    assert names(f"    raise batch.exc_type(batch.exc_msg)\nKeyError: '{quoted}'\n") == [name]


def test_a_connection_that_workers_share() -> None:
    last = "psycopg2.OperationalError: SSL error: decryption failed or bad record mac"
    assert names(caught("OperationalError", "/srv/data.py __getitem__", last=last)) == ["shared connection"]
    assert names(traceback("/srv/app.py query", last=last)) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "objc[8]: +[NSNumber initialize] may have been in progress in another thread when fork() was called.",
            "worker crashed",
        ),
        ("  what():  CUDA error: initialization error", "CUDA in a forked worker"),
        ("RuntimeError: Attempted to send CUDA tensor received from another process", "CUDA tensor passed on"),
    ],
)
def test_a_line_by_itself(text: str, name: str) -> None:
    assert names(f"terminate called after throwing an instance of 'c10::Error'\n{text}\n") == [name]


@pytest.mark.parametrize(
    ("frames", "last"),
    [
        (("/srv/net.py forward",), "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'"),
        (("/srv/net.py forward",), "RuntimeError: Sizes of tensors must match except in dimension 0. Got 14 and 13"),
        (("/srv/net.py clone", f"{PYTHON}/copy.py deepcopy"), "TypeError: can't pickle _thread.lock objects"),
        (("/srv/run.py go", f"{PYTHON}/subprocess.py _execute_child"), "OSError: [Errno 12] Cannot allocate memory"),
        (("/srv/run.py go", f"{PYTHON}/urllib3/connection.py send"), "BrokenPipeError: [Errno 32] Broken pipe"),
        (
            ("/srv/run.py go", f"{PYTHON}/multiprocessing/pool.py _handle_tasks"),
            "AttributeError: Can't pickle local object 'f.<locals>.g'",
        ),
        (("/srv/train.py main",), "TypeError: __init__() got an unexpected keyword argument 'workers'"),
        (("/srv/load.py main",), "TypeError: can't convert np.ndarray of type numpy.object_."),
        (FETCHED, "KeyboardInterrupt"),
    ],
)
def test_look_alikes(frames: tuple[str, ...], last: str) -> None:
    assert names(traceback(*frames, last=last)) == []
