"""What to check and what to change, for each failure that `signatures` names; by class where the name has no own."""

from __future__ import annotations

from typing import NamedTuple

from dllint.diagnose.signature import Signature
from dllint.finding import Failure
from dllint.registry import registry


class Advice(NamedTuple):
    """What a person should do."""

    checks: tuple[str, ...]
    """Commands, the most telling first."""
    fix: str
    rules: tuple[str, ...] = ()
    """Codes of the rules that find this very cause; those of the same class come after them."""


_NOT_A_FIX = "num_workers=0 is a diagnosis, not a fix"
_ALONE = "run with num_workers=0, then 1: the error of the worker itself, then that of one worker"
_KERNEL_LOG = 'dmesg -T | grep -i "killed process"'
_SHM_RULES = ("DLL701", "DLL702", "DLL703", "DLL704", "DLL707", "DLL711", "DLL411")
_MEMORY_RULES = ("DLL706", "DLL301", "DLL304", "DLL302", "DLL411", "DLL705")
_UNSENDABLE_RULES = ("DLL109", "DLL506", "DLL212", "DLL502")
_HANDLE_RULES = ("DLL201", "DLL202", "DLL211", "DLL210")
_MEMORY = Advice(
    (_KERNEL_LOG, "free -h", "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory.events", _ALONE),
    "give the container more memory, or keep less in each worker: fewer workers, a lower prefetch_factor, data that is "
    f"read per item and held in arrays instead of lists; {_NOT_A_FIX}",
    _MEMORY_RULES,
)
_STALL = Advice(
    ("py-spy dump --pid PID of main and of a worker", _ALONE, "grep -n _feed LOG"),
    "make workers send plain tensors and open their own handles and threads; a timeout= of 60 s or more turns a hang "
    f"into an error; {_NOT_A_FIX}",
)

BY_CLASS = {
    Failure.SHARED_MEMORY: Advice(
        ("df -h /dev/shm", "ls -l /dev/shm | head", "dllint doctor", "dllint shm --workers N --batch-bytes SIZE"),
        "give the container more shared memory (--shm-size=8g, shm_size: '8gb', a Memory emptyDir at /dev/shm); until "
        "then fewer workers, a lower prefetch_factor or smaller batches. The file_system strategy needs as much",
        _SHM_RULES,
    ),
    Failure.WORKER_DIED: Advice(
        (_ALONE, _KERNEL_LOG, "python -X faulthandler train.py"),
        f"find what the worker itself says, mend that; {_NOT_A_FIX}",
    ),
    Failure.DESCRIPTORS: Advice(
        ("ulimit -n", "ls /proc/PID/fd | wc -l for main, while it runs", "sysctl vm.max_map_count"),
        "keep copies, not the workers' own tensors: .clone(), .item(), .tolist(); one tensor a field instead of many; "
        "ulimit -n 65536 buys time, as does torch.multiprocessing.set_sharing_strategy('file_system')",
        ("DLL206", "DLL212", "DLL203", "DLL709", "DLL207"),
    ),
    Failure.CUDA: Advice(
        (_ALONE, "nvidia-smi", 'python -c "import torch; print(torch.version.cuda, torch.cuda.device_count())"'),
        "return CPU tensors from workers and move the batch in the training loop: pin_memory=True, "
        f".to(device, non_blocking=True); {_NOT_A_FIX}",
        ("DLL101", "DLL102", "DLL103", "DLL108", "DLL107", "DLL110"),
    ),
    Failure.STALL: _STALL,
    Failure.REFUSED_ARGUMENTS: Advice(
        ("the line of your code above the error",),
        "change or drop the argument: the text names it",
    ),
    Failure.START_UP: Advice(
        ('python -c "import multiprocessing as m; print(m.get_start_method())"', _ALONE),
        "what workers get has to pickle: functions and classes at module level, handles opened in the worker, the "
        f"start under if __name__ == '__main__'; {_NOT_A_FIX}",
    ),
    Failure.WRONG_SAMPLES: Advice(
        (_ALONE, "for i in range(len(dataset)): dataset[i]"),
        f"mend or skip the sample in the dataset, or collate it with a collate_fn of your own; {_NOT_A_FIX}",
        ("DLL603",),
    ),
    Failure.SLOW: Advice(
        ('python -c "import os; print(len(os.sched_getaffinity(0)))"', "cat /sys/fs/cgroup/cpu.max", "dllint doctor"),
        "start as many workers as there are CPUs for this process, shared by the ranks of the machine",
        ("DLL407", "DLL710", "DLL406"),
    ),
}
"""What holds for a whole class."""

BY_NAME = {
    "worker killed": _MEMORY,
    "out of memory": _MEMORY,
    "worker crashed": Advice(
        (_ALONE, "python -X faulthandler train.py", "ulimit -c unlimited, then gdb python core"),
        f"find the library that crashed; open its handles and start its threads in the worker; {_NOT_A_FIX}",
        (*_HANDLE_RULES, "DLL209", "DLL204"),
    ),
    "worker ended from outside": Advice(
        ("the log of the scheduler or launcher around this time", _KERNEL_LOG),
        "find who ended it: a time limit, an eviction, or a launcher that stops all ranks after the first failed",
        _MEMORY_RULES,
    ),
    "processes in a worker": Advice(
        (_ALONE,),
        "use threads (ThreadPool) or subprocess in a worker; pools of processes belong in main",
        ("DLL106",),
    ),
    "no process group in the worker": Advice(
        (_ALONE,), "read rank and world size in __init__, call collectives in the training loop", ("DLL105",)
    ),
    "worker raised": Advice(
        ("the last line of your own code in the original traceback", _ALONE),
        f"mend what raised there; {_NOT_A_FIX}",
        ("DLL603", "DLL605", "DLL105", "DLL106"),
    ),
    "worker exited": Advice(
        ("the lines above it, of the worker itself", _KERNEL_LOG, _ALONE),
        f"find what ended the worker: this text does not say; {_NOT_A_FIX}",
        ("DLL501", "DLL506", *_MEMORY_RULES, *_SHM_RULES),
    ),
    "connection to the worker lost": Advice(
        ("the lines above it, of the worker itself", _KERNEL_LOG, "ulimit -n", _ALONE),
        f"find what ended the worker: this text does not say; {_NOT_A_FIX}",
        (*_MEMORY_RULES, "DLL206", "DLL212", *_SHM_RULES),
    ),
    "out of memory maps": Advice(
        ("sysctl vm.max_map_count", "wc -l /proc/PID/maps for main, while it runs"),
        "keep copies, not the workers' own tensors; raise vm.max_map_count",
        ("DLL206", "DLL212"),
    ),
    "pinning a CUDA tensor": Advice(
        (_ALONE,), "drop pin_memory=True, or return CPU tensors and move the batch in the loop", ("DLL104", "DLL103")
    ),
    "CUDA not compiled in": Advice(
        ('python -c "import torch; print(torch.__version__, torch.version.cuda)"',),
        "install a CUDA build of torch, or choose the device by torch.cuda.is_available(), in main",
        ("DLL101", "DLL102", "DLL108"),
    ),
    "lost batch": Advice(
        (_ALONE, "ulimit -n", "df -h /dev/shm"),
        "the error above the stall names what cannot be sent: return detached CPU tensors and plain values, and raise "
        f"exceptions of module-level classes; {_NOT_A_FIX}",
        _UNSENDABLE_RULES,
    ),
    "reader slots used up": Advice(
        ("mdb_stat -r PATH",), "lmdb.open(path, readonly=True, lock=False, readahead=False), once per worker",
        ("DLL210", "DLL201", "DLL211"),
    ),
    "shared LMDB environment": Advice(
        (_ALONE,), f"open the environment in the worker, on first use; {_NOT_A_FIX}", ("DLL201", "DLL211", "DLL202")
    ),
    "shared connection": Advice(
        (_ALONE,), f"connect in the worker, on first use; {_NOT_A_FIX}", ("DLL201", "DLL202", "DLL211")
    ),
    "shared file handle": Advice(
        (_ALONE, "python -m zipfile -t FILE"),
        f"keep the path and open it on first use in each process (compare os.getpid()); {_NOT_A_FIX}",
        _HANDLE_RULES,
    ),
    "loader timed out": _STALL._replace(rules=(*_UNSENDABLE_RULES, "DLL204", "DLL209", "DLL105", *_SHM_RULES[:2])),
    "ended by timeout": _STALL._replace(rules=("DLL204", "DLL209", "DLL105", *_UNSENDABLE_RULES)),
    "collective timed out": Advice(
        ("the log of each other rank: which one stopped first", _KERNEL_LOG),
        "mend what stopped the other rank; a longer time-out only hides it",
        ("DLL105", "DLL601", "DLL110", *_MEMORY_RULES),
    ),
    "fork with threads": Advice(
        ("py-spy dump --pid PID of main, before the loader starts",),
        "start threads and pools in the worker, or after the loader has forked; or use forkserver",
        ("DLL204", "DLL209"),
    ),
    "persistent workers without workers": Advice(
        ("the line of your code above the error",), "persistent_workers=num_workers > 0", ("DLL401",)
    ),
    "prefetch factor without workers": Advice(
        ("the line of your code above the error",), "prefetch_factor=2 if num_workers else None", ("DLL402",)
    ),
    "worker option without workers": Advice(
        ("the line of your code above the error",), "leave the option out where num_workers is 0", ("DLL403",)
    ),
    "conflicting loader options": Advice(
        ("the line of your code above the error",), "keep one of the two: the text names them", ("DLL404",)
    ),
    "invalid loader value": Advice(
        ("the line of your code above the error",), "give the argument a value of the right type and range",
        ("DLL405", "DLL207"),
    ),
    "attribute set too late": Advice(
        ("the line of your code above the error",), "build a new loader with the value", ("DLL414",)
    ),
    "no main guard": Advice(
        ("python -X importtime train.py 2>&1 | tail: what importing the script starts",),
        "put what starts workers under if __name__ == '__main__':", ("DLL501", "DLL503"),
    ),
    "start method already set": Advice(
        ("grep -rn 'set_start_method\\|get_context' .",),
        "call set_start_method once, first thing under the main guard", ("DLL503", "DLL501"),
    ),
    "unknown start method": Advice(
        ("grep -rn set_start_method .",), "one of fork, spawn, forkserver", ("DLL503", "DLL405")
    ),
    "semaphore of another context": Advice(
        ("grep -rn 'multiprocessing_context\\|get_context' .",),
        "make locks, queues and values from the context that the loader uses", ("DLL505",),
    ),
    "too many tensors on the dataset": Advice(
        ("ulimit -n",), "stack the tensors of the dataset into one, or keep arrays", ("DLL507",)
    ),
    "torch.Generator sent to workers": Advice(
        (_ALONE,), "make the generator in the worker, seeded from torch.initial_seed()", ("DLL502", "DLL602")
    ),
    "unpicklable for workers": BY_CLASS[Failure.START_UP]._replace(rules=("DLL502", "DLL201", "DLL202", "DLL505")),
    "class not found by workers": BY_CLASS[Failure.START_UP]._replace(rules=("DLL502", "DLL501")),
    "start-up broken off": BY_CLASS[Failure.START_UP]._replace(rules=("DLL501", "DLL502")),
    "no process left": Advice(
        ("ulimit -u", "cat /sys/fs/cgroup/pids.max", "ps -eLf | wc -l"),
        "allow more processes (--pids-limit, ulimit -u), or start fewer workers and threads",
        ("DLL106", "DLL204"),
    ),
    "generator of another device": Advice(
        ("grep -rn 'set_default_device\\|set_default_tensor_type' .",),
        "leave the default device alone, or give the loader a generator of that device", ("DLL107",),
    ),
    "no memory to share on Windows": Advice(
        ("the size of the page file, in the system's settings for virtual memory",),
        f"make the page file larger, or use fewer workers, a lower prefetch_factor, smaller batches; {_NOT_A_FIX}",
        ("DLL411",),
    ),
    "truncated start-up data": BY_CLASS[Failure.START_UP]._replace(rules=("DLL502", "DLL501")),
    "sample could not be made": Advice(
        ("the last line of your own code in the original traceback", _ALONE),
        f"mend or skip the sample, and let workers not write where others read; {_NOT_A_FIX}",
        ("DLL208", "DLL201", "DLL202", "DLL603"),
    ),
    "samples that cannot be collated": BY_CLASS[Failure.WRONG_SAMPLES]._replace(rules=("DLL603", "DLL109")),
    "samples of unequal size": Advice(
        (_ALONE, "print({dataset[i][0].shape for i in range(len(dataset))})"),
        "pad or crop the samples to one size, or collate with a collate_fn of your own",
    ),
    "more samples than the dataset has": Advice(
        (_ALONE,),
        "let __iter__ take its share of the data by torch.utils.data.get_worker_info()",
        ("DLL601",),
    ),
    "few workers": Advice(("dllint doctor",), "num_workers of 2 to the number of CPUs", ("DLL406",)),
}  # fmt: skip
"""What holds for one failure, by the name of its signature."""


def advice_on(signature: Signature) -> Advice:
    """What to do about a failure; its `rules` exist, and are followed by the others of its class."""
    advice = BY_NAME.get(signature.name) or BY_CLASS[signature.failure]
    known = registry()
    of_class = [code for code, rule in known.items() if rule.failure is signature.failure]
    rules = dict.fromkeys((*advice.rules, *of_class))
    return advice._replace(rules=tuple(code for code in rules if code in known))
