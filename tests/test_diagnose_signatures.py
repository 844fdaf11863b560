"""Each error text in its class; lines that only look like one stay unclassified."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dllint.diagnose.advice import BY_CLASS, BY_NAME, advice_on
from dllint.diagnose.inferred import OTHERS
from dllint.diagnose.signature import Signature
from dllint.diagnose.signatures import SIGNATURES
from dllint.diagnose.signs import candidates
from dllint.finding import Failure
from dllint.registry import registry
from logs import read, traceback

TEXTS = {
    "bus error": [
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory.\n\0",
        "RuntimeError: DataLoader worker (pid 81) is killed by signal: Bus error. It is possible that",
        "E1129 20:33:30.123456 812 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -7)"
        " local_rank: 0 (pid: 831) of binary: /usr/bin/python3",
        "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGBUS",
        "  traceback : Signal 7 (SIGBUS) received by PID 831",
        "Fatal Python error: Bus error",
    ],
    "shared memory full": [
        "RuntimeError: unable to allocate shared memory(shm) for file </torch_7_88_0>: No space left on device (28)",
        "RuntimeError: unable to write to file </torch_18_1340>",
        "RuntimeError: unable to resize file </torch_7_88_0> to the right size: No space left on device (28)",
        "OSError: [Errno 28] No space left on device: '/dev/shm/joblib_memmapping_folder_1/a.pkl'",
        'OSError: [Errno 28] No space left on device: "/dev/shm/torch_123"',
        "OSError: [Errno 28] No space left on device: '/torch_7_880_3'",
    ],
    "ancdata": ["RuntimeError: received 0 items of ancdata"],
    "too many open files": [
        "RuntimeError: Too many open files. Communication with the workers is no longer possible. Please increase",
        "OSError: [Errno 24] Too many open files: 'images/0017.jpg'",
        "RuntimeError: unable to open shared memory object </torch_5_6_7> in read-write mode: Too many open files (24)",
        "RuntimeError: unable to open shared memory object </torch_5_6> in read-write mode",
    ],
    "out of memory maps": [
        "RuntimeError: unable to mmap 72 bytes from file </torch_1_2_3>: Cannot allocate memory (12)"
    ],
    "CUDA in a forked worker": [
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must",
        "torch.AcceleratorError: CUDA error: initialization error",
    ],
    "pinning a CUDA tensor": [
        "RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ],
    "CUDA not compiled in": ["AssertionError: Torch not compiled with CUDA enabled"],
    "CUDA tensor passed on": ["RuntimeError: Attempted to send CUDA tensor received from another process; this is not"],
    "no memory to share on Windows": [
        "RuntimeError: Couldn't open shared file mapping: <torch_13684_4004974554>, error code: <1455>",
    ],
    "shared LMDB environment": [
        "lmdb.BadRslotError: mdb_txn_begin: MDB_BAD_RSLOT: Invalid reuse of reader locktable slot"
    ],
    "no such GPU": ["RuntimeError: CUDA error: invalid device ordinal"],
    "CUDA tensors outlived their producer": [
        "[W CudaIPCTypes.cpp:15] Producer process has been terminated before all shared CUDA tensors released.",
    ],
    "no main guard": ["        current process has finished its bootstrapping phase."],
    "start method already set": ["RuntimeError: context has already been set"],
    "unknown start method": ["ValueError: cannot find context for 'forkservr'"],
    "semaphore of another context": [
        "RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context.",
    ],
    "too many tensors on the dataset": ["ValueError: too many fds"],
    "torch.Generator sent to workers": [
        "RuntimeError: unable to resize file <filename not specified> to the right size: Invalid argument (22)",
    ],
    "unpicklable for workers": [
        "AttributeError: Can't pickle local object 'build.<locals>.<lambda>'",
        "AttributeError: Can't get local object 'build.<locals>.Crop'",
        "_pickle.PicklingError: Can't pickle <function <lambda> at 0x7f>: attribute lookup <lambda> on __main__ failed",
        "TypeError: cannot pickle '_io.BufferedReader' object",
        "TypeError: h5py objects cannot be pickled",
        "NotImplementedError: ('{} cannot be pickled', '_SingleProcessDataLoaderIter')",
        "UserWarning: Got pickle error when attempting to start a worker Process. This might be because the worker",
    ],
    "class not found by workers": ["AttributeError: Can't get attribute 'Clips' on <module '__main__' (built-in)>"],
    "processes in a worker": ["AssertionError: daemonic processes are not allowed to have children"],
    "out of memory": [
        "RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you tried to",
        "[81.2] Memory cgroup out of memory: Killed process 4711 (pt_data_worker) total-vm:9kB, anon-rss:7kB",
    ],
    "worker killed": ["RuntimeError: DataLoader worker (pid 28) is killed by signal: Killed. "],
    "worker ended from outside": ["RuntimeError: DataLoader worker (pid 28) is killed by signal: Terminated. "],
    "worker crashed": [
        "ERROR: Unexpected segmentation fault encountered in worker.",
        "ERROR: Unexpected floating-point exception encountered in worker.",
        "RuntimeError: DataLoader worker (pid 28) is killed by signal: Segmentation fault. ",
        "RuntimeError: DataLoader worker (pid 28) is killed by signal: Aborted. ",
        "RuntimeError: DataLoader worker (pid 28) is killed by signal: CPU time limit exceeded. ",
    ],
    "reader slots used up": [
        "lmdb.ReadersFullError: mdb_txn_begin: MDB_READERS_FULL: Environment maxreaders limit reached"
    ],
    "shared file handle": [
        "zipfile.BadZipFile: Bad magic number for file header",
        "zipfile.BadZipFile: Bad CRC-32 for file 'a.npy'",
        "OSError: Can't read data (inflate() failed)",
    ],
    "loader timed out": ["RuntimeError: DataLoader timed out after 60 seconds"],
    "collective timed out": [
        "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=81, OpType=ALLREDUCE, Timeout(ms)=6)",
    ],
    "fork with threads": [
        "DeprecationWarning: This process (pid=7) is multi-threaded, use of fork() may lead to deadlocks in the child.",
    ],
    "persistent workers without workers": ["ValueError: persistent_workers option needs num_workers > 0"],
    "prefetch factor without workers": [
        "ValueError: prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable",
        "ValueError: --dataloader_prefetch_factor can only be set when data is loaded in a different process",
    ],
    "worker option without workers": [
        "ValueError: multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got",
        "AssertionError: _SingleProcessDataLoaderIter requires timeout == 0",
    ],
    "conflicting loader options": [
        "ValueError: DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle=True",
        "ValueError: sampler option is mutually exclusive with shuffle",
        "ValueError: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last",
        "ValueError: batch_size=None option disables auto-batching and is mutually exclusive with drop_last",
    ],
    "invalid loader value": [
        "ValueError: num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
        "ValueError: timeout option should be non-negative",
        "AssertionError: prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter",
        "ValueError: batch_size should be a positive integer value, but got batch_size=0",
        "ValueError: num_samples should be a positive integer value, but got num_samples=0",
        "ValueError: multiprocessing_context option should specify a valid start method in ['fork', 'spawn']",
        "TypeError: DataLoader.__init__() got an unexpected keyword argument 'workers'",
        "NotImplementedError: Subclasses of Dataset should implement __getitem__.",
    ],
    "attribute set too late": ["ValueError: batch_size attribute should not be set after DataLoader is initialized"],
    "samples of unequal size": [
        "RuntimeError: stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [3, 5] at entry 1",
        "RuntimeError: each element in list of batch should be of equal size",
    ],
    "samples that cannot be collated": [
        "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class",
        "AttributeError: 'NoneType' object has no attribute 'numel'",
        "RuntimeError: Could not infer dtype of NoneType",
        "TypeError: torch.cat(): input types can't be cast to the desired output type Long",
    ],
    "worker exited": [
        "RuntimeError: DataLoader worker (pid(s) 12, 13) exited unexpectedly",
        "RuntimeError: DataLoader worker (pid 12) exited unexpectedly with exit code 1. Details are lost due to",
    ],
    "pin memory thread ended": ["RuntimeError: Pin memory thread exited unexpectedly"],
    "more samples than the dataset has": [
        "UserWarning: Length of IterableDataset <__main__.Rows object at 0x7f> was reported to be 7 (when accessing"
        " len(dataloader)), but 8 samples have been fetched. For multiprocessing data-loading, this could be caused by"
        " not properly configuring the IterableDataset replica at each worker.",
    ],
    "more workers than CPUs": [
        "UserWarning: This DataLoader will create 8 worker processes in total. Our suggested max number of worker in"
        " current system is 2, which is smaller than what this DataLoader is going to create.",
    ],
    "few workers": [
        "The 'train_dataloader' does not have many workers which may be a bottleneck. Consider increasing the value of"
        " the `num_workers` argument` to `num_workers=7` in the `DataLoader` to improve performance.",
    ],
    "sample could not be made": ["KeyError: Caught KeyError in DataLoader worker process 3."],
    "worker raised": ["RuntimeError: Caught RuntimeError in DataLoader worker process 0."],
    "ended by timeout": ["[exit code 124]"],
}

NEAR_MISSES = """
[CRITICAL] WORKER TIMEOUT (pid:2301)
[ERROR] Worker (pid:2301) was sent SIGKILL! Perhaps out of memory?
worker 3 exited unexpectedly, respawning
celery.worker: Process 'ForkPoolWorker-3' pid:71 exited with 'signal 9 (SIGKILL)'
billiard.exceptions.WorkerLostError: Worker exited prematurely: signal 11 (SIGSEGV) Job: 4.
Bus error (core dumped)
Segmentation fault (core dumped)
Killed
/bin/sh: line 1: 4711 Killed                  python train.py
Fatal Python error: Segmentation fault
Fatal Python error: Aborted
torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 831) of binary: python
OSError: [Errno 28] No space left on device: '/data/torch_7.pt'
TypeError: cannot pickle '_thread.lock' object in dask
slurmstepd: error: Detected 1 oom-kill event(s) in StepId=71.0. Some of your processes may have been killed
kubelet: container web of pod shop-7 terminated, reason: OOMKilled
[1.2] Memory cgroup out of memory: Killed process 991 (nginx)
OSError: [Errno 28] No space left on device: '/checkpoints/epoch_3.pt'
OSError: [Errno 28] No space left on device
RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 704 vs 598, No space left on device
cp: error writing '/data/a.tar': No space left on device
FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'
nginx: [alert] accept4() failed (24: Too many open files)
bash: ulimit: open files: cannot modify limit: Operation not permitted
java.io.IOException: Too many open files
error: could not allocate shared memory segment: FATAL in postgres
FATAL:  could not map anonymous shared memory: Cannot allocate memory
ERROR: could not resize shared memory segment "/PostgreSQL.12" to 8388608 bytes: No space left on device
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.6 GiB
RuntimeError: CUDA error: device-side assert triggered
RuntimeError: CUDA error: an illegal memory access was encountered
RuntimeError: CUDA error: no kernel image is available for execution on the device
RuntimeError: No CUDA GPUs are available
RuntimeError: Found no NVIDIA driver on your system.
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
RuntimeError: Caught RuntimeError in replica 0 on device 0.
RuntimeError: stack expects a non-empty TensorList
RuntimeError: The size of tensor a (64) must match the size of tensor b (32) at non-singleton dimension 1
RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 8 but got size 7 for tensor number 1
ValueError: Expected input batch_size (32) to match target batch_size (16).
ValueError: batch_size must be at least 1
ValueError: num_samples must be positive
ValueError: sampler must be one of 'tpe', 'random'
TypeError: 'NoneType' object is not iterable
TypeError: 'int' object is not callable
TypeError: '<' not supported between instances of 'str' and 'int'
TypeError: 'float' object cannot be interpreted as an integer
TypeError: object of type 'NoneType' has no len()
TypeError: Trainer.__init__() got an unexpected keyword argument 'workers'
AttributeError: 'NoneType' object has no attribute 'shape'
AttributeError: Can't get attribute 'Net' on <module 'models' from '/srv/models.py'>
_pickle.UnpicklingError: invalid load key, '<'.
EOFError: Ran out of input
EOFError
ConnectionResetError: [Errno 104] Connection reset by peer
BrokenPipeError: [Errno 32] Broken pipe
requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='hub', port=443): Read timed out. (read timeout=10)
TimeoutError: The client socket has timed out after 1800000ms while trying to connect to (10.0.0.1, 29500).
RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv
torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, internal error
NCCL WARN Call to connect returned Connection refused, retrying
ValueError: Default process group has not been initialized, please make sure to call init_process_group.
RuntimeError: This event loop is already running
RuntimeError: context has been destroyed
RuntimeError: unable to resize file for download: quota reached
RuntimeError: DataLoader is exhausted
DataLoader worker 3 of 8 started
Loading data with 8 workers, shared memory cache enabled, 0 errors
worker_init_fn: seeding worker process 0 with 42
INFO: waiting for worker process 12 to be killed by signal handler test
zipfile.BadZipFile: File is not a zip file
OSError: Unable to open file (file signature not found)
OSError: image file is truncated (12 bytes not processed)
[1.2] Out of memory: Killed process 991 (mysqld) total-vm:9kB
trainer-1 exited with code 1
[exit code 1]
exit code 0
lmdb.MapFullError: mdb_put: MDB_MAP_FULL: Environment mapsize limit reached
UserWarning: 'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.
AssertionError: can only test a child process
Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f>
AttributeError: '_MultiProcessingDataLoaderIter' object has no attribute '_shutdown'
""".strip().splitlines()


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_a_text_by_itself(name: str, text: str) -> None:
    found = read(f"epoch 3\n{text}\n").diagnoses
    assert [each.signature.name for each in found] == [name]
    assert found[0].first.line == 2


def test_the_example_texts_cover_the_table() -> None:
    # Those that no single line shows have tests of their own.
    demanding = {each.name for each in SIGNATURES if each.strict} | {"lost batch"}
    assert {each.name for each in (*SIGNATURES, *OTHERS)} - demanding <= set(TEXTS)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_a_text_in_a_long_log(name: str, text: str) -> None:
    if text.startswith("zipfile."):  # looked for in tracebacks
        text = traceback("/usr/lib/python3.11/zipfile.py open", last=text)
    ordinary = "2026-11-29 20:33:30 Error rate 0.3, 8 workers, 3 processes, step 7\n" * 8_000
    log = f"{ordinary}{text}\n" + ("" if name == "ended by timeout" else ordinary)
    assert [each.signature.name for each in read(log).diagnoses] == [name]


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.name)
def test_every_text_of_a_pattern_holds_a_word_that_is_looked_for(signature: Signature) -> None:
    @settings(max_examples=60, database=None, derandomize=True, suppress_health_check=list(HealthCheck), deadline=None)
    @given(st.from_regex(signature.pattern, fullmatch=True, alphabet=st.characters(codec="ascii", min_codepoint=32)))
    def holds(text: str) -> None:
        assert signature in [candidate for _, candidate in candidates(text)]

    holds()


def test_enough_near_misses() -> None:
    assert len(NEAR_MISSES) == len(set(NEAR_MISSES)) >= 60


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_a_near_miss(text: str) -> None:
    assert read(f"epoch 3\n{text}\nepoch 4\n").diagnoses == []


def test_near_misses_together() -> None:
    assert read("\n".join(NEAR_MISSES)).diagnoses == []


def test_advice_is_on_names_that_exist_and_gives_rules_that_exist() -> None:
    names = {each.name for each in (*SIGNATURES, *OTHERS)}
    assert set(BY_NAME) <= names
    assert {Failure.TOOL} == set(Failure) - set(BY_CLASS)
    for signature in (*SIGNATURES, *OTHERS):
        advice = advice_on(signature)
        assert set(advice.rules) <= set(registry())
        assert advice.checks and advice.fix
