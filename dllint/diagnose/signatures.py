"""The error texts of PyTorch data loading: what each looks like, which kind of failure it is, and what it means.

To add one: an entry here, an example of its text in tests/test_diagnose_signatures.py. What to do about it stands in
`advice`, by name. Where two entries match one line, the upper one wins.
"""

from __future__ import annotations

from dllint.diagnose.signature import Role, Signature
from dllint.finding import Failure

A, B, C, D = Failure.SHARED_MEMORY, Failure.WORKER_DIED, Failure.DESCRIPTORS, Failure.CUDA
E, F, G, H, S = Failure.STALL, Failure.REFUSED_ARGUMENTS, Failure.START_UP, Failure.WRONG_SAMPLES, Failure.SLOW

UNPICKLABLE = "unpicklable for workers"
FEEDER = r"multiprocessing/queues\.py _feed$"
_SHARER = r"\brebuild_storage_fd$|multiprocessing/resource_sharer\.py"
_LOCK = r"multiprocessing/synchronize\.py __init__$"
_DATA = r"torch/utils/data/"
_LAST_IN_DATA = r"(?:torch/utils/data/[\w/]+|torchdata/[\w/]+)\.py \S+\Z"
_STARTING = r"multiprocessing/(?:popen_\w+\.py|process\.py start$|queues\.py _feed$)"
_FORKING = r"multiprocessing/popen_fork\.py"
_SPAWNING = r"multiprocessing/(?:popen_(?:spawn|forkserver)\w*|spawn)\.py"
_WORKING = r"torch/utils/data/_utils/(?:worker|fetch)\.py"
_UNPICKLING = r"multiprocessing/(?:spawn|forkserver)\.py"

SIGNATURES = (
    # A: shared memory
    Signature(
        "bus error", A,
        r"Unexpected bus error encountered in worker|DataLoader worker \(pid \d+\) is killed by signal: Bus error",
        "/dev/shm was full when a worker touched a page of a batch: the kernel killed it with SIGBUS",
        "up to 2.9", "run",
    ),
    Signature(
        "bus error", A,
        r"failed \(exitcode: -7\)|terminated with signal SIGBUS|Signal 7 \(SIGBUS\) received by PID"
        r"|Fatal Python error: Bus error",
        "a process ended with SIGBUS: nearly always /dev/shm was full when it touched a page of a batch",
        "all", "read",
    ),
    Signature(
        "shared memory full", A,
        r"unable to (?:allocate shared memory\(shm\) for|write to|resize) file <?/torch_\S*>?.*No space left on device"
        r"|unable to write to file </torch_"
        r"|unable to open shared memory object </torch_.*No space left on device",
        "a worker could not put a batch into /dev/shm: it is full",
        "2.10 and newer; writing and resizing also before", "run",
    ),
    Signature(
        "no room for semaphores", A, r"OSError: \[Errno (?:28|30)\]|FileNotFoundError: \[Errno 2\]",
        "the queues of a loader need semaphores in /dev/shm, which is full, read-only or not there",
        "all", "run", inside=_LOCK, strict=True,
    ),
    Signature(
        "shared memory full", A, r"No space left on device: ['\"]?/(?:dev/shm/|torch_\d+_\d)",
        "a file could not be put into /dev/shm: it is full", "all", "read",
    ),
    Signature(
        "no memory to share on Windows", A,
        r"Couldn't (?:open shared file mapping|map view of shared file): ?<torch_[^>]*>, error code: <(?:8|14|1455)>",
        "Windows had no memory, nor room in its page file, for a batch that workers share", "all", "issues (Windows)",
    ),
    # C: descriptors, above B: a worker that ran out of them dies of it
    Signature(
        "ancdata", C, r"received \d+ items of ancdata",
        "a descriptor did not arrive because main has no free one: it keeps too many tensors of workers",
        "all", "run",
    ),
    Signature(
        "too many open files", C,
        r"Too many open files\. Communication with the workers is no longer possible"
        r"|OSError: \[Errno 24\]"
        r"|unable to open shared memory object </torch_[^>]*>(?! in .*\((?!24))(?!.*No such file)",
        "main or a worker has no free file descriptor: each tensor that crosses over takes one",
        "all", "run",
    ),
    Signature(
        "out of memory maps", C, r"unable to mmap \d+ bytes from file </torch_.*Cannot allocate memory \(12\)",
        "main keeps more shared tensors than vm.max_map_count allows (file_system strategy)", "all", "run",
    ),
    # D: CUDA
    Signature(
        "CUDA in a forked worker", D, r"Cannot re-initialize CUDA in forked subprocess",
        "a worker touched CUDA, which main had touched before the fork", "all", "run with a simulated GPU",
    ),
    Signature(
        "CUDA in a forked worker", D, r"CUDA error: initialization error|cuda runtime error \(3\)",
        "a forked worker worked on a CUDA tensor that main had made", "all", "pytorch issues 4377, 21092",
    ),
    Signature(
        "pinning a CUDA tensor", D, r"cannot pin '[^']*' only dense CPU tensors can be pinned",
        "pin_memory=True, and the batch holds a CUDA or sparse tensor", "all", "run on a meta tensor",
    ),
    Signature(
        "CUDA not compiled in", D, r"Torch not compiled with CUDA enabled",
        "this torch is a CPU build, and the code asks for CUDA", "all", "run",
    ),
    Signature(
        "no such GPU", D, r"CUDA error: invalid device ordinal",
        "the code names a GPU that this process does not see", "all", "read",
    ),
    Signature(
        "generator of another device", D, r"Expected a '\w+' device type for generator but found '\w+'",
        "the sampler draws on the default device, the generator lives on another", "1.6 and newer", "run",
        inside=_DATA, strict=True,
    ),
    Signature(
        "CUDA tensor passed on", D, r"Attempted to send CUDA tensor received from another process",
        "a worker sends on a CUDA tensor that main had made", "all", "read",
    ),
    Signature(
        "CUDA tensors outlived their producer", D,
        r"Producer process has been terminated before all shared CUDA tensors released",
        "a spawned worker sent CUDA tensors and ended before main let go of them", "all", "read",
        role=Role.SYMPTOM,
    ),
    # G: start-up
    Signature(
        "no main guard", G, r"current process has finished its bootstrapping phase",
        "a spawned worker imports the script, and the script starts workers again: it has no main guard",
        "all", "run",
    ),
    Signature(
        "start method already set", G, r"RuntimeError: context has already been set",
        "set_start_method came after something had already chosen a start method", "all", "run",
    ),
    Signature(
        "unknown start method", G, r"cannot find context for '", "there is no start method of this name", "all", "run",
    ),
    Signature(
        "semaphore of another context", G, r"A SemLock created in a \w+ context is being shared with a process in a",
        "a Lock, Queue or Value of one start method reaches workers that another one starts", "all", "run",
    ),
    Signature(
        "too many tensors on the dataset", G, r"ValueError: too many fds",
        "forkserver passes on at most 256 descriptors, and the dataset holds more tensors than that", "all", "run",
    ),
    Signature(
        "torch.Generator sent to workers", G,
        r"unable to resize file <filename not specified>.*Invalid argument \(22\)",
        "a torch.Generator on the dataset cannot be rebuilt in a spawned worker", "all", "run",
    ),
    Signature(
        UNPICKLABLE, G,
        r"Can't (?:pickle|get) local object|Can't pickle <.*(?:attribute lookup .* failed|it's not (?:found|the same))"
        r"|(?:cannot pickle '[^']+' object|can't pickle [\w.]+ objects|cannot serialize '[^']+' object)(?!\s+[a-z])"
        r"|h5py objects cannot be pickled|cannot be pickled', '_\w+DataLoaderIter'"
        r"|Cowardly refusing to serialize non-leaf tensor|Tried to serialize object __torch__"
        r"|Got pickle error when attempting to start a worker Process",
        "spawn and forkserver pickle what the workers are given (dataset, collate_fn, worker_init_fn): this cannot be",
        "all; the warning from 2.10", "run", inside=f"{_STARTING}|{_DATA}",
    ),
    Signature(
        "class not found by workers", G, r"Can't get attribute '[^']+' on <module '__(?:mp_)?main__'",
        "a spawned worker cannot import the class: it lives in a notebook, a shell or under the main guard",
        "all", "run", inside=_UNPICKLING,
    ),
    Signature(
        "truncated start-up data", G, r"EOFError: Ran out of input|_pickle\.UnpicklingError: pickle data was truncated",
        "a spawned worker read what main failed to pickle: the error of main is the cause", "all", "read (Windows)",
        role=Role.SYMPTOM, inside=_UNPICKLING, strict=True,
    ),
    Signature(
        "start-up broken off", G, r"BrokenPipeError: |PermissionError: \[WinError 5\]|OSError: \[WinError (?:6|87)\]",
        "one of two processes ended while the worker was given its data: the other tells why", "all", "read (Windows)",
        role=Role.SYMPTOM, inside=_SPAWNING, strict=True,
    ),
    Signature(
        "no process left", G, r"\[Errno 11\] Resource temporarily unavailable",
        "the user or the container may start no more processes and threads", "all", "read",
        inside=_FORKING, strict=True,
    ),
    # B: what a worker raises or dies of, where the text alone says so
    Signature(
        "processes in a worker", B, r"daemonic processes are not allowed to have children",
        "a worker started a process (Pool, Process, a loader with workers): workers may not", "all", "run",
    ),
    Signature(
        "out of memory", B, r"DefaultCPUAllocator: (?:can't allocate|not enough) memory",
        "there was no memory for a tensor", "all", "run",
    ),
    Signature(
        "out of memory", B, r"\[Errno 12\] Cannot allocate memory",
        "there was no memory to fork a worker: main is large, or the machine full", "all", "read",
        inside=_FORKING, strict=True,
    ),
    Signature(
        "out of memory", B, r"\[WinError 1455\].*torch",
        "Windows had no room in its page file for one more process that imports torch", "all", "pytorch issue 59904",
    ),
    Signature(
        "out of memory", B,
        r"[Oo]ut of memory: Kill(?:ed)? process \d+ \((?:python[\d.]*|pt_data_worker|pt_main_thread)",
        "the kernel ran out of memory, or the container reached its limit, and killed this process", "all", "read",
    ),
    Signature(
        "worker killed", B, r"DataLoader worker \(pid \d+\) is killed by signal: Killed",
        "the kernel killed a worker with SIGKILL: nearly always out of memory, in the machine or in the container",
        "all", "run",
    ),
    Signature(
        "worker ended from outside", B,
        r"DataLoader worker \(pid \d+\) is killed by signal: (?:Terminated|Hangup|User defined signal \d)",
        "somebody ended the worker: a scheduler, a time limit, an operator, or the launcher after another failure",
        "all", "run", role=Role.SYMPTOM,
    ),
    Signature(
        "worker crashed", B,
        r"DataLoader worker \(pid \d+\) is killed by signal: \w"
        r"|Unexpected (?:segmentation fault|floating-point exception) encountered in worker",
        "native code crashed in a worker: a library that does not survive the fork, a broken file, an extension",
        "all", "run",
    ),
    Signature(
        "worker crashed", B, r"may have been in progress in another thread when fork\(\) was called",
        "macOS ended a forked worker, for main had threads in its frameworks", "all (macOS)", "read",
    ),
    Signature(
        "no process group in the worker", B, r"Default process group has not been initialized",
        "spawned workers know no process group: collectives and rank queries belong in main", "all", "run",
        inside=_DATA, strict=True,
    ),
    # E: stalls, and what workers that share a handle trip over
    Signature(
        "reader slots used up", E, r"MDB_READERS_FULL", "workers share an LMDB environment that keeps its lock file",
        "all", "run",
    ),
    Signature(
        "shared LMDB environment", E, r"MDB_BAD_RSLOT", "workers go on with an LMDB environment that main had opened",
        "all", "read",
    ),
    Signature(
        "shared connection", E,
        r"decryption failed or bad record mac|DECRYPTION_FAILED_OR_BAD_RECORD_MAC|lost synchronization with server"
        r"|Packet sequence number wrong|Commands out of sync",
        "workers share one connection: each reads answers that are meant for another", "all", "read",
        inside=_WORKING, strict=True,
    ),
    Signature(
        "shared file handle", E,
        r"BadZipFile: (?:Bad magic number for file header|Bad CRC-32|File name in directory)"
        r"|Can't (?:synchronously )?read data \(inflate\(\) failed|bad symbol table node signature",
        "workers share one open file and its position: they read each other's bytes", "all", "run",
    ),
    Signature(
        "loader timed out", E, r"DataLoader timed out after [\d.]+ seconds",
        "a batch did not come in time: a worker hangs, is too slow, or lost the batch while sending it",
        "all", "run", role=Role.SYMPTOM,
    ),
    Signature(
        "collective timed out", E, r"Watchdog caught collective operation timeout",
        "a rank waited in vain for another: look for what stopped that one first", "all", "read",
        role=Role.FOLLOWER,
    ),
    Signature(
        "fork with threads", E, r"is multi-threaded, use of fork\(\) may lead to deadlocks",
        "main had threads when it forked workers: a lock that one of them held stays locked in the worker",
        "all, Python 3.12 and newer", "read", role=Role.NOTE,
    ),
    # F: refused arguments
    Signature(
        "persistent workers without workers", F, r"persistent_workers option needs num_workers > 0",
        "persistent_workers=True with num_workers=0", "all", "run",
    ),
    Signature(
        "prefetch factor without workers", F,
        r"prefetch_factor option could only be specified in multiprocessing"
        r"|dataloader_prefetch_factor can only be set when",
        "prefetch_factor with num_workers=0", "2.0 and newer", "run",
    ),
    Signature(
        "worker option without workers", F,
        r"multiprocessing_context can only be used with multi-process loading"
        r"|_SingleProcessDataLoaderIter requires timeout == 0",
        "multiprocessing_context or timeout with num_workers=0", "all", "run",
    ),
    Signature(
        "conflicting loader options", F,
        r"DataLoader with IterableDataset: expected unspecified \w+ option|sampler option is mutually exclusive with"
        r"|batch_size=None option disables auto-batching",
        "two options of the loader exclude one another", "all", "run",
    ),
    Signature(
        "invalid loader value", F,
        r"(?:num_workers|prefetch_factor|timeout) option should be non-negative|num_workers must be greater than 0 for"
        r"|prefetch_factor must be greater than 0 for|batch_size should be a positive integer value, but got"
        r"|drop_last should be a boolean value, but got|num_samples should be a positive integer value, but got"
        r"|multiprocessing_context option should (?:specify|be) a valid|invalid sharing strategy '"
        r"|(?:DataLoader|Sampler)\.__init__\(\) (?:got an unexpected keyword argument|takes from)"
        r"|Subclasses of (?:Iterable)?Dataset should implement",
        "the loader refuses a value that it was given", "all", "run",
    ),
    Signature(
        "invalid loader value", F,
        r"TypeError: (?:'\w+' object cannot be interpreted as an integer|'[<=]+' not supported between instances of"
        r"|object of type '\w+' has no len\(\)|'\w+' object is not callable"
        r"|random_\(\) received an invalid combination)",
        "the loader was given a value of a type that it cannot use", "all", "run", inside=_LAST_IN_DATA, strict=True,
    ),
    Signature(
        "invalid loader value", F,
        r"TypeError: __init__\(\) got an unexpected keyword argument '(?:prefetch_factor|persistent_workers"
        r"|multiprocessing_context|generator|pin_memory_device|in_order)'",
        "this torch has no such argument of a loader yet", "up to 2.5, on Python 3.9 and older", "read",
    ),
    Signature(
        "attribute set too late", F, r"attribute should not be set after \w*DataLoader is initialized",
        "an attribute of a loader was set after it was built", "all", "run",
    ),
    # H: samples
    Signature(
        "samples of unequal size", H,
        r"stack expects each tensor to be equal size|each element in list of batch should be of equal size"
        r"|Trying to resize storage that is not resizable",
        "the samples of one batch differ in shape or length, and the collate function stacks them",
        "all", "run", inside=f"{_DATA}|collat",
    ),
    Signature(
        "samples that cannot be collated", H,
        r"batch must contain (?:tensors|numbers)"
        r"|'NoneType' object has no attribute 'numel'|Could not infer dtype of \w+"
        r"|input types can't be cast to the desired output type"
        r"|stack\(\): functions with out=\.\.\. arguments don't support automatic differentiation",
        "a sample holds None, or something that the default collate function cannot turn into a tensor",
        "all", "run", inside=f"{_DATA}|collat",
    ),
    Signature(
        "samples of unequal size", H, r"Sizes of tensors must match except in dimension 0",
        "the samples of one batch differ in shape, and the collate function stacks them", "up to 1.4", "read",
        inside=f"{_DATA}|collat", strict=True,
    ),
    Signature(
        "samples that cannot be collated", H,
        r"expected Tensor as element \d+ in argument 0, but got|Expected object of scalar type \w+ but got scalar type"
        r"|can't convert np\.ndarray of type numpy\.(?:object_|str_)",
        "a sample holds None, something that is no tensor, or a tensor of another type than its neighbours",
        "all", "read",
        inside=f"{_DATA}|collat", strict=True,
    ),
    # B once more: how main noticed
    Signature(
        "worker exited", B, r"DataLoader worker \(pid \d+\) exited unexpectedly with exit code \d+",
        "the worker ended itself (an exception it could not send, os._exit, a library): its own traceback is the cause",
        "all", "run", role=Role.SYMPTOM,
    ),
    Signature(
        "worker exited", B, r"DataLoader worker \(pid\(s\) [\d, ]+\) exited unexpectedly",
        "a worker is gone; this text names no cause: look higher up, and in the kernel log", "all", "run",
        role=Role.SYMPTOM,
    ),
    Signature(
        "connection to the worker lost", B,
        r"\b(?:EOFError|ConnectionResetError|ConnectionRefusedError|FileNotFoundError|BrokenPipeError"
        r"|AuthenticationError)\b(?!: Caught)",
        "main fetched a tensor from a worker that was dead by then", "all", "run",
        role=Role.SYMPTOM, inside=f"{_SHARER}|torch/utils/data/dataloader\\.py _try_get_data$", strict=True,
    ),
    Signature(
        "pin memory thread ended", B, r"Pin memory thread exited unexpectedly",
        "the thread that pins batches died: its own traceback is the cause", "all", "read", role=Role.SYMPTOM,
    ),
    # S: slow
    Signature(
        "more samples than the dataset has", H,
        r"Length of IterableDataset .* was reported to be \d+ ?\(when accessing len\(dataloader\)\), but \d+ samp",
        "every worker gives all samples of an iterable dataset: each comes as often as there are workers",
        "all", "read",
    ),
    Signature(
        "more workers than CPUs", S, r"Our suggested max number of worker in current system is \d+",
        "the loader starts more workers than this process may use CPUs", "1.7 and newer", "run", role=Role.NOTE,
    ),
    Signature(
        "few workers", S, r"does not have many workers which may be a bottleneck",
        "Lightning expects the loader to keep the GPU waiting", "all", "read", role=Role.NOTE,
    ),
)  # fmt: skip
