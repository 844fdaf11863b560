"""Library objects that cannot be sent to a worker."""

from __future__ import annotations

_OPENCV = (
    *("createCLAHE", "createBackgroundSubtractorKNN", "createBackgroundSubtractorMOG2", "createTonemap"),
    *("createLineSegmentDetector", "SIFT_create", "SIFT.create", "ORB_create", "ORB.create", "MSER_create"),
    *("MSER.create", "FastFeatureDetector_create", "FastFeatureDetector.create", "GFTTDetector_create"),
    *("GFTTDetector.create", "SimpleBlobDetector_create", "SimpleBlobDetector.create", "BFMatcher"),
    *("FlannBasedMatcher", "DISOpticalFlow_create", "FarnebackOpticalFlow_create", "KalmanFilter", "QRCodeDetector"),
    *("VideoWriter", "aruco.ArucoDetector", "CascadeClassifier", "UMat", "TickMeter", "KeyPoint", "DMatch"),
    *("RotatedRect", "FileStorage", "Subdiv2D", "StereoSGBM_create", "StereoSGBM.create", "StereoBM_create"),
    *("StereoBM.create", "Stitcher_create", "Stitcher.create", "createMergeMertens", "createCalibrateDebevec"),
    *("createAlignMTB", "TrackerMIL_create", "TrackerMIL.create", "aruco.DetectorParameters", "aruco.CharucoBoard"),
    *("barcode.BarcodeDetector", "flann.Index", "dnn.Net", "FaceDetectorYN.create", "FaceRecognizerSF.create"),
)
"""What makes an object of OpenCV that has settings or state of its own; measured with 5.0, the cascades reported."""
_NETS = ("", "FromCaffe", "FromDarknet", "FromModelOptimizer", "FromONNX", "FromTFLite", "FromTensorflow", "FromTorch")


def _class_made_by(name: str) -> str:
    return name.removeprefix("create").removesuffix("_create").removesuffix(".create")


_NO_REDUCE = "TypeError: no default __reduce__ due to non-trivial __cinit__"
_POINTERS = "ValueError: ctypes objects containing pointers cannot be pickled"
_LOCAL_CONNECT = "AttributeError: Can't pickle local object 'create_engine.<locals>.connect'"
_RUNTIME = "TypeError: cannot pickle 'onnxruntime.capi.onnxruntime_pybind11_state.{}' object"

UNPICKLABLE = {
    **dict.fromkeys(
        ("builtins.open", "gzip.open", "gzip.GzipFile", "os.fdopen"),
        "TypeError: cannot pickle '_io.BufferedReader' object",
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
    **dict.fromkeys(
        ("queue.Queue", "queue.PriorityQueue", "queue.LifoQueue", "threading.BoundedSemaphore"),
        "TypeError: cannot pickle '_thread.lock' object",
    ),
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
    **dict.fromkeys(("re.match", "re.search", "re.fullmatch"), "TypeError: cannot pickle 're.Match' object"),
    "re.finditer": "TypeError: cannot pickle '_sre.SRE_Scanner' object",
    **dict.fromkeys(("bz2.open", "bz2.BZ2File", "lzma.open"), "TypeError: cannot pickle '_io.BufferedReader' object"),
    "tempfile.TemporaryFile": "TypeError: cannot pickle '_io.BufferedRandom' object",
    "csv.writer": "TypeError: cannot pickle '_csv.writer' object",
    "csv.DictReader": "TypeError: cannot pickle '_csv.reader' object",
    "socket.socket": "TypeError: cannot pickle 'socket' object",
    "struct.Struct": "TypeError: cannot pickle '_struct.Struct' object",
    "zlib.compressobj": "TypeError: cannot pickle 'zlib.Compress' object",
    "zlib.decompressobj": "TypeError: cannot pickle 'zlib.Decompress' object",
    "bz2.BZ2Decompressor": "TypeError: cannot pickle '_bz2.BZ2Decompressor' object",
    "lzma.LZMADecompressor": "TypeError: cannot pickle '_lzma.LZMADecompressor' object",
    **dict.fromkeys(
        ("hashlib.md5", "hashlib.sha1", "hashlib.sha256"), "TypeError: cannot pickle '_hashlib.HASH' object"
    ),
    **dict.fromkeys(
        ("random.SystemRandom", "secrets.SystemRandom"),
        "NotImplementedError: System entropy source does not have state.",
    ),
    "contextvars.ContextVar": "TypeError: cannot pickle '_contextvars.ContextVar' object",
    "concurrent.futures.Future": "TypeError: cannot pickle '_thread.RLock' object",
    "argparse.ArgumentParser": "AttributeError: Can't pickle local object 'ArgumentParser.__init__.<locals>.identity'",
    **{
        f"weakref.{name}": f"AttributeError: Can't pickle local object '{name}.__init__.<locals>.{inner}'"
        for name, inner in (
            ("WeakValueDictionary", "remove"),
            ("WeakKeyDictionary", "remove"),
            ("WeakSet", "_remove"),
        )
    },
    **dict.fromkeys(("ctypes.c_char_p", "ctypes.pointer"), _POINTERS),
    "PIL.ImageDraw.Draw": "TypeError: cannot pickle 'ImagingCore' object",
    "PIL.ImageCms.createProfile": "TypeError: cannot pickle 'PIL.ImageCms.core.CmsProfile' object",
    "threading.Timer": "TypeError: cannot pickle '_thread.lock' object",
    "threading.Barrier": "TypeError: cannot pickle '_thread.lock' object",
    "subprocess.Popen": "TypeError: cannot pickle '_thread.lock' object",
    "tempfile.NamedTemporaryFile": "TypeError: cannot pickle '_io.BufferedRandom' object",
    "types.MappingProxyType": "TypeError: cannot pickle 'mappingproxy' object",
    "builtins.memoryview": "TypeError: cannot pickle memoryview objects",
    "ctypes.CDLL": "AttributeError: Can't pickle local object 'CDLL.__init__.<locals>._FuncPtr'",
    "ctypes.cdll.LoadLibrary": "AttributeError: Can't pickle local object 'CDLL.__init__.<locals>._FuncPtr'",
    "boto3.client": "PicklingError: Can't pickle <class 'botocore.client.S3'>: attribute lookup S3 failed",
    "boto3.resource": "PicklingError: Can't pickle <class 'boto3.resources.factory.s3.ServiceResource'>",
    **dict.fromkeys(
        ("boto3.Session", "boto3.session.Session"),
        "AttributeError: Can't pickle local object 'lazy_call.<locals>._handler'",
    ),
    "google.cloud.storage.Client": "PicklingError: Pickling client objects is explicitly not supported",
    "google.cloud.bigquery.Client": "PicklingError: Pickling client objects is explicitly not supported",
    "minio.Minio": "TypeError: cannot pickle '_thread.RLock' object",
    "elasticsearch.Elasticsearch": "TypeError: cannot pickle '_thread._local' object",
    "sqlalchemy.create_engine": _LOCAL_CONNECT,
    "sqlalchemy.orm.sessionmaker": _LOCAL_CONNECT,
    "grpc.insecure_channel": _NO_REDUCE,
    "grpc.secure_channel": _NO_REDUCE,
    "duckdb.connect": "TypeError: cannot pickle 'DuckDBPyConnection' object",
    "onnxruntime.InferenceSession": _RUNTIME.format("InferenceSession"),
    "onnxruntime.SessionOptions": _RUNTIME.format("SessionOptions"),
    "pyarrow.parquet.ParquetFile": _NO_REDUCE,
    "pyarrow.memory_map": _NO_REDUCE,
    "pyarrow.OSFile": _NO_REDUCE,
    "pyarrow.ipc.open_file": _NO_REDUCE,
    "pyarrow.ipc.open_stream": _NO_REDUCE,
    **dict.fromkeys(
        ("openslide.OpenSlide", "openslide.open_slide", "openslide.deepzoom.DeepZoomGenerator"),
        _POINTERS,
    ),
    "pyvips.Image.new_from_file": "TypeError: cannot pickle '_cffi_backend._CDataBase' object",
    "lxml.etree.parse": "TypeError: cannot pickle 'lxml.etree._ElementTree' object",
    "lxml.etree.fromstring": "TypeError: cannot pickle 'lxml.etree._Element' object",
    **{f"cv2.dnn.readNet{kind}": "TypeError: cannot pickle 'cv2.dnn.Net' object" for kind in _NETS},
    **{f"cv2.dnn_readNet{kind}": "TypeError: cannot pickle 'cv2.dnn.Net' object" for kind in _NETS},
    "cv2.aruco.getPredefinedDictionary": "TypeError: cannot pickle 'cv2.aruco.Dictionary' object",
    **{f"cv2.{name}": f"TypeError: cannot pickle 'cv2.{_class_made_by(name)}' object" for name in _OPENCV},
}
"""Library objects that spawn and forkserver cannot send to a worker, with the error (measured, torch 2.13)."""

REFUSED_OVER_MEMORY = {"zipfile.ZipFile": "TypeError: cannot pickle '_thread.RLock' object", "tarfile.open": ""}
"""What pickle says of these where the file is an `io.BytesIO`, which it takes; empty where it takes all."""

MAKES_ALIKE = {
    ".client()": "boto3.client",
    ".resource()": "boto3.resource",
    ".Bucket()": "boto3.resource",
    ".bucket()": "google.cloud.storage.Client",
    ".get_bucket()": "google.cloud.storage.Client",
    ".connect()": "sqlalchemy.create_engine",
}
"""Methods of these objects that give another one: which of them it fails like."""

DICT_VIEWS = frozenset({".keys()", ".values()", ".items()"})
"""Methods of a dict that give a view of it."""

DICTS = {
    "builtins.dict": "dict",
    "collections.Counter": "dict",
    "collections.defaultdict": "dict",
    "collections.OrderedDict": "odict",
}
"""What makes a dict, and how the types of its views begin."""

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
