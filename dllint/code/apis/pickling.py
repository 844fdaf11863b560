"""Library objects that cannot be sent to a worker."""

from __future__ import annotations

UNPICKLABLE = {
    **dict.fromkeys(
        ("builtins.open", "gzip.open", "os.fdopen"), "TypeError: cannot pickle '_io.BufferedReader' object"
    ),
    "zipfile.ZipFile": "TypeError: cannot pickle '_io.BufferedReader' object",
    "tarfile.open": "TypeError: cannot pickle '_io.BufferedReader' object",
    "h5py.File": "TypeError: h5py objects cannot be pickled",
    "lmdb.open": "TypeError: cannot pickle 'Environment' object",
    "sqlite3.connect": "TypeError: cannot pickle 'sqlite3.Connection' object",
    "cv2.VideoCapture": "TypeError: cannot pickle 'cv2.VideoCapture' object",
    "mmap.mmap": "TypeError: cannot pickle 'mmap.mmap' object",
    "csv.reader": "TypeError: cannot pickle '_csv.reader' object",
    "threading.Lock": "TypeError: cannot pickle '_thread.lock' object",
    "threading.RLock": "TypeError: cannot pickle '_thread.RLock' object",
    "threading.Event": "TypeError: cannot pickle '_thread.lock' object",
    "threading.Condition": "TypeError: cannot pickle '_thread.lock' object",
    "threading.Semaphore": "TypeError: cannot pickle '_thread.lock' object",
    "threading.Thread": "TypeError: cannot pickle '_thread.lock' object",
    "threading.local": "TypeError: cannot pickle '_thread._local' object",
    "queue.Queue": "TypeError: cannot pickle '_thread.lock' object",
    "queue.SimpleQueue": "TypeError: cannot pickle '_queue.SimpleQueue' object",
    "concurrent.futures.ThreadPoolExecutor": "TypeError: cannot pickle '_thread.lock' object",
    "concurrent.futures.ProcessPoolExecutor": "TypeError: cannot pickle '_thread.lock' object",
    "concurrent.futures.thread.ThreadPoolExecutor": "TypeError: cannot pickle '_thread.lock' object",
    "multiprocessing.pool.ThreadPool": "NotImplementedError: pool objects cannot be passed between processes",
    "torch.Generator": "RuntimeError: unable to resize file <filename not specified> to the right size",
    **dict.fromkeys(
        ("multiprocessing.Manager", "torch.multiprocessing.Manager"),
        "TypeError: cannot pickle 'weakref.ReferenceType' object",
    ),
    "weakref.ref": "TypeError: cannot pickle 'weakref.ReferenceType' object",
    "logging.FileHandler": "TypeError: cannot pickle '_thread.RLock' object",
    "ssl.create_default_context": "TypeError: cannot pickle 'SSLContext' object",
    "os.scandir": "TypeError: cannot pickle 'posix.ScandirIterator' object",
    "torch.jit.load": "RuntimeError: a ScriptModule cannot be pickled",
    "torch.jit.script": "RuntimeError: a ScriptModule cannot be pickled",
}
"""Library objects that spawn and forkserver cannot send to a worker, with the error (measured, torch 2.13)."""

GENERATOR_METHODS = frozenset({".iterdir()", ".glob()", ".rglob()"})
"""Methods of pathlib.Path that give a generator."""

SUBMODULES = frozenset(
    {
        "PIL.Image",
        "PIL.ImageEnhance",
        "PIL.ImageOps",
        "kornia.augmentation",
        "librosa.feature",
        "matplotlib.pyplot",
        "numpy.fft",
        "numpy.linalg",
        "numpy.random",
        "os.path",
        "pycocotools.mask",
        "scipy.io",
        "scipy.ndimage",
        "scipy.signal",
        "skimage.io",
        "skimage.transform",
        "torch.cuda",
        "torch.distributed",
        "torch.linalg",
        "torch.nn",
        "torch.nn.functional",
        "torchaudio.functional",
        "torchaudio.transforms",
        "torchvision.transforms",
        "torchvision.transforms.functional",
        "torchvision.transforms.v2",
        "torchvision.transforms.v2.functional",
    }
)
"""Modules within packages: pickle takes no module."""
