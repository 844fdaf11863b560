"""What dllint knows of libraries: which classes are datasets and loaders, which calls open, read, transfer, draw.

Names are canonical dotted names (`canonical` drops the private modules that a library re-exports from). Sources: the
PyTorch 2.13 sources and documentation, and measurements on it, unless an entry says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

_FLAT = (
    "torch.utils.data.",
    "torchdata.stateful_dataloader.",
    "torchdata.dataloader2.",
    "torch_geometric.loader.",
    "torch_geometric.data.",
    "torchvision.datasets.",
    "torchvision.transforms.",
    "monai.data.",
    "monai.transforms.",
    "mmengine.dataset.",
    "lightning.pytorch.",
    "fairseq.data.",
)
"""Packages that export all their modules' names at the top: `torch.utils.data.dataset.Dataset` is in `torch.utils.data`."""

_RENAMED = {
    "pytorch_lightning.": "lightning.pytorch.",
    "lightning.LightningDataModule": "lightning.pytorch.LightningDataModule",
    "lightning.LightningModule": "lightning.pytorch.LightningModule",
    "lightning.Trainer": "lightning.pytorch.Trainer",
    "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
    "io.open": "builtins.open",
    "multiprocessing.context.": "multiprocessing.",
    "torch.utils.data.distributed.": "torch.utils.data.",
}


def canonical(name: str) -> str:
    """The public name of a library's function or class."""
    for old, new in _RENAMED.items():
        if name == old or (old.endswith(".") and name.startswith(old)):
            name = new + name[len(old) :] if old.endswith(".") else new
            break
    for prefix in _FLAT:
        if name.startswith(prefix):
            *modules, last = name[len(prefix) :].split(".")
            kept = [part for part in modules if not part.islower() and "_" not in part[:1]]
            return prefix + ".".join([*kept, last])
    return name


# Datasets

ITERABLE_BASES = frozenset(
    {
        "torch.utils.data.IterableDataset",
        "torch.utils.data.IterDataPipe",
        "monai.data.IterableDataset",
        "monai.data.GridPatchDataset",
        "monai.data.PatchDataset",
        "monai.data.ShuffleBuffer",
        "monai.data.CSVIterableDataset",
        "streaming.StreamingDataset",
    }
)

DATASET_BASES = ITERABLE_BASES | frozenset(
    {
        "torch.utils.data.Dataset",
        "torch.utils.data.ConcatDataset",
        "torch.utils.data.Subset",
        "torch.utils.data.TensorDataset",
        "torch.utils.data.StackDataset",
        "torch.utils.data.MapDataPipe",
        "torchvision.datasets.VisionDataset",
        "torchvision.datasets.ImageFolder",
        "torchvision.datasets.DatasetFolder",
        "torchvision.datasets.CocoDetection",
        "torchvision.datasets.CIFAR10",
        "torchvision.datasets.CIFAR100",
        "torchvision.datasets.MNIST",
        "torchvision.datasets.VOCDetection",
        "torch_geometric.data.Dataset",
        "torch_geometric.data.InMemoryDataset",
        "torch_geometric.data.OnDiskDataset",
        "monai.data.Dataset",
        "monai.data.CacheDataset",
        "monai.data.PersistentDataset",
        "monai.data.ArrayDataset",
        "monai.data.ImageDataset",
        "mmengine.dataset.BaseDataset",
        "mmdet.datasets.BaseDetDataset",
        "mmdet.datasets.CocoDataset",
        "fairseq.data.FairseqDataset",
        "fairseq.data.BaseWrapperDataset",
        "detectron2.data.MapDataset",
        "webdataset.WebDataset",
    }
)
"""Library classes whose subclasses are datasets."""

WRAPPERS = frozenset(
    {
        "torch.utils.data.Subset",
        "torch.utils.data.ConcatDataset",
        "torch.utils.data.ChainDataset",
        "torch.utils.data.StackDataset",
        "torch.utils.data.random_split",
        "builtins.list",
    }
)
"""Calls whose result reads the datasets that they are given."""

HOOKS = {
    "torch_geometric.data.Dataset": ("get", "len"),
    "torch_geometric.data.InMemoryDataset": ("get", "len"),
    "torch_geometric.data.OnDiskDataset": ("get", "len"),
    "monai.data.Dataset": ("_transform",),
    "monai.data.CacheDataset": ("_transform",),
    "monai.data.PersistentDataset": ("_transform",),
    "mmengine.dataset.BaseDataset": ("prepare_data", "get_data_info"),
    "mmdet.datasets.BaseDetDataset": ("prepare_data", "get_data_info"),
    "fairseq.data.FairseqDataset": ("collater",),
}
"""Methods that a library's own `__getitem__` calls in the worker."""

NOT_DATASETS = frozenset(
    {
        "torch.utils.data.Sampler",
        "torch.utils.data.BatchSampler",
        "torch.utils.data.DataLoader",
        "lightning.pytorch.LightningDataModule",
    }
)

# Loaders

DATALOADER_PARAMETERS = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
)
"""The positional parameters of torch.utils.data.DataLoader; all others are keyword-only."""

DATALOADER_KEYWORDS = (
    "prefetch_factor",
    "persistent_workers",
    "pin_memory_device",
    "in_order",
    "snapshot_every_n_steps",
)


@dataclass(frozen=True, slots=True)
class LoaderApi:
    """How a library's loader takes its arguments."""

    positional: tuple[str, ...] = DATALOADER_PARAMETERS
    """The names of its positional parameters."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Its keyword names -> DataLoader's."""
    default_workers: int = 0
    service: str = ""
    """The parameter whose value carries `num_workers` (torchdata's reading services)."""


_HF = LoaderApi(
    positional=(),
    renamed=tuple(
        (f"dataloader_{name}", name)
        for name in (
            "num_workers",
            "prefetch_factor",
            "persistent_workers",
            "pin_memory",
            "drop_last",
            "multiprocessing_context",
        )
    ),
)
_TRAINER = LoaderApi(
    positional=("model", "args", "collate_fn", "dataset"),
    renamed=(("data_collator", "collate_fn"), ("train_dataset", "dataset")),
    service="args",
)
_PYG = LoaderApi(positional=("dataset",))
_PYG_BATCH = LoaderApi(positional=("dataset", "batch_size", "shuffle"))

LOADERS: dict[str, LoaderApi] = {
    "torch.utils.data.DataLoader": LoaderApi(),
    "torchdata.stateful_dataloader.StatefulDataLoader": LoaderApi(),
    "monai.data.DataLoader": LoaderApi(positional=("dataset", "num_workers")),
    "monai.data.ThreadDataLoader": _PYG,
    "torch_geometric.loader.DataLoader": _PYG_BATCH,
    "torch_geometric.data.DataLoader": _PYG_BATCH,
    "torch_geometric.loader.DataListLoader": _PYG_BATCH,
    "torch_geometric.loader.DenseDataLoader": _PYG_BATCH,
    "torch_geometric.loader.NeighborLoader": _PYG,
    "torch_geometric.loader.LinkNeighborLoader": _PYG,
    "torch_geometric.loader.HGTLoader": _PYG,
    "torch_geometric.loader.NodeLoader": _PYG,
    "torch_geometric.loader.LinkLoader": _PYG,
    "torch_geometric.loader.ClusterLoader": _PYG,
    "torch_geometric.loader.NeighborSampler": _PYG,
    "torch_geometric.loader.GraphSAINTSampler": _PYG,
    "torch_geometric.loader.GraphSAINTRandomWalkSampler": _PYG,
    "torch_geometric.loader.ShaDowKHopSampler": _PYG,
    "torch_geometric.loader.RandomNodeLoader": _PYG,
    "lightning.pytorch.LightningDataModule.from_datasets": LoaderApi(
        positional=("dataset", "val_dataset", "test_dataset", "predict_dataset", "batch_size", "num_workers"),
        renamed=(("train_dataset", "dataset"),),
    ),
    "transformers.TrainingArguments": _HF,
    "transformers.Seq2SeqTrainingArguments": _HF,
    "trl.SFTConfig": _HF,
    "trl.DPOConfig": _HF,
    "trl.GRPOConfig": _HF,
    "transformers.Trainer": _TRAINER,
    "transformers.Seq2SeqTrainer": _TRAINER,
    "torchdata.dataloader2.DataLoader2": LoaderApi(
        positional=("dataset", "datapipe_adapter_fn", "reading_service"), service="reading_service"
    ),
    "webdataset.WebLoader": LoaderApi(),
}
"""Calls that start DataLoader workers, or carry the arguments of one that does."""

LOADER_WORDS = tuple(sorted({name.rpartition(".")[2] for name in LOADERS}))
"""The last names of the loaders: a file that holds none of them builds none."""

ITERATES = frozenset(
    {
        "builtins.iter",
        "builtins.list",
        "builtins.tuple",
        "builtins.enumerate",
        "builtins.zip",
        "builtins.map",
        "builtins.sum",
        "builtins.next",
        "itertools.islice",
        "itertools.cycle",
        "itertools.chain",
        "tqdm.tqdm",
        "tqdm.auto.tqdm",
        "tqdm.notebook.tqdm",
        "rich.progress.track",
        "builtins.sorted",
        "builtins.set",
    }
)
"""Calls that iterate what they are given, or whose result does when it is looped over."""

# Devices

CUDA_RAISES = frozenset(
    f"torch.cuda.{name}"
    for name in (
        "init",
        "current_device",
        "synchronize",
        "mem_get_info",
        "get_device_name",
        "get_device_properties",
        "get_device_capability",
        "current_stream",
        "default_stream",
        "ipc_collect",
        "initial_seed",
        "get_rng_state",
        "can_device_access_peer",
        "get_sync_debug_mode",
        "set_per_process_memory_fraction",
        "set_device",
        "Stream",
        "device",
    )
)
"""Calls that need a CUDA context: measured to raise in a forked worker once the parent has touched CUDA."""

FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        "tensor",
        "as_tensor",
        "asarray",
        "zeros",
        "ones",
        "empty",
        "full",
        "rand",
        "randn",
        "randint",
        "randperm",
        "arange",
        "linspace",
        "logspace",
        "eye",
        "zeros_like",
        "ones_like",
        "empty_like",
        "full_like",
        "rand_like",
        "randn_like",
        "randint_like",
        "from_numpy",
        "sparse_coo_tensor",
        "tril_indices",
        "triu_indices",
        "normal",
        "Generator",
    )
)
"""Functions that make a tensor on their `device` argument."""

TENSOR_FACTORY_METHODS = frozenset({"new_tensor", "new_zeros", "new_ones", "new_empty", "new_full"})

MOVING_TRANSFORMS = frozenset({"monai.transforms.ToDevice", "monai.transforms.ToDeviced", "monai.transforms.ToDeviceD"})
"""Library transforms that move a sample to their `device` argument."""

# Handles


@dataclass(frozen=True, slots=True)
class HandleApi:
    """A call that opens something which belongs to the process that opened it."""

    label: str
    harm: str
    """What forked workers that share it do, as measured."""
    mild: bool = False
    """Clean under fork: fails only where the dataset is pickled."""
    picklable: bool = False
    derives: tuple[str, ...] = ()
    """Methods whose result keeps using the handle."""
    item_derives: bool = False
    """Whether `handle["key"]` keeps using it."""
    attribute_derives: bool = False
    """Whether `handle.name` keeps using it."""
    pickle_error: str = ""


_SHARED_OFFSET = "all workers move one shared file position, so records are read from wrong places, silently"
_ZIP = "all workers move one shared file position: BadZipFile (bad magic number, bad CRC-32) on some reads"
_H5 = (
    "the handle cannot be pickled (TypeError: h5py objects cannot be pickled) under spawn and forkserver, the Linux "
    "default from Python 3.14; with HDF5 older than 1.12 forked workers read corrupt data"
)
_SQL = "SQLite forbids carrying a connection over a fork, and it cannot be pickled under spawn and forkserver"
_ANSWERS = "workers read the answers to one another's requests"

_OPEN = HandleApi("an open file", _SHARED_OFFSET, pickle_error="cannot pickle '_io.BufferedReader' object")
_ARCHIVE = HandleApi("an open archive", _ZIP, derives=("open", "extractfile"))
_DB = HandleApi("a database connection", _ANSWERS, derives=("cursor", "execute"))

HANDLES: dict[str, HandleApi] = {
    "builtins.open": _OPEN,
    "os.fdopen": _OPEN,
    "codecs.open": _OPEN,
    "gzip.open": HandleApi("an open gzip file", _SHARED_OFFSET),
    "gzip.GzipFile": HandleApi("an open gzip file", _SHARED_OFFSET),
    "bz2.open": HandleApi("an open bzip2 file", _SHARED_OFFSET),
    "bz2.BZ2File": HandleApi("an open bzip2 file", _SHARED_OFFSET),
    "lzma.open": HandleApi("an open xz file", _SHARED_OFFSET),
    "zipfile.ZipFile": _ARCHIVE,
    "tarfile.open": HandleApi("an open tar file", _SHARED_OFFSET, derives=("extractfile",)),
    "tarfile.TarFile": HandleApi("an open tar file", _SHARED_OFFSET, derives=("extractfile",)),
    "tarfile.TarFile.open": HandleApi("an open tar file", _SHARED_OFFSET, derives=("extractfile",)),
    "zarr.ZipStore": _ARCHIVE,
    "zarr.storage.ZipStore": _ARCHIVE,
    "h5py.File": HandleApi(
        "an open HDF5 file",
        _H5,
        mild=True,
        derives=("get", "require_group", "require_dataset"),
        item_derives=True,
        pickle_error="h5py objects cannot be pickled",
    ),
    "tables.open_file": HandleApi("an open HDF5 file", _H5, mild=True, derives=("get_node",)),
    "netCDF4.Dataset": HandleApi("an open netCDF file", _H5, mild=True, item_derives=True),
    "sqlite3.connect": HandleApi("a SQLite connection", _SQL, mild=True, derives=("cursor", "execute")),
    "lmdb.open": HandleApi(
        "an LMDB environment",
        "each forked worker takes reader slots of the shared lock file: MDB_READERS_FULL (py-lmdb 1.7.5 and newer)",
        derives=("begin",),
        pickle_error="cannot pickle 'Environment' object",
    ),
    "lmdb.Environment": HandleApi(
        "an LMDB environment",
        "each forked worker takes reader slots of the shared lock file: MDB_READERS_FULL (py-lmdb 1.7.5 and newer)",
        derives=("begin",),
        pickle_error="cannot pickle 'Environment' object",
    ),
    "cv2.VideoCapture": HandleApi(
        "an open video",
        "all workers move one shared position: wrong frames, or read() gives False",
        pickle_error="cannot pickle 'cv2.VideoCapture' object",
    ),
    "decord.VideoReader": HandleApi(
        "an open video", "the decoder's threads do not exist in a forked worker: it stalls"
    ),
    "torchvision.io.VideoReader": HandleApi("an open video", "all workers move one shared position: wrong frames"),
    "av.open": HandleApi(
        "an open video", "all workers move one shared position: wrong frames", derives=("decode", "demux")
    ),
    "imageio.get_reader": HandleApi("an open video", "all workers move one shared position: wrong frames"),
    "tensorstore.open": HandleApi(
        "a TensorStore",
        "its thread pool does not exist in a forked worker: a stall or a segmentation fault",
        derives=("result",),
    ),
    "socket.socket": HandleApi("a socket", _ANSWERS),
    "socket.create_connection": HandleApi("a socket", _ANSWERS),
    "psycopg2.connect": _DB,
    "psycopg.connect": _DB,
    "pymysql.connect": _DB,
    "MySQLdb.connect": _DB,
    "mysql.connector.connect": _DB,
    "pymongo.MongoClient": HandleApi(
        "a MongoDB client", "MongoClient is not fork-safe: its locks and sockets are shared", item_derives=True, attribute_derives=True
    ),
    "redis.Redis": HandleApi("a Redis client", _ANSWERS),
    "redis.StrictRedis": HandleApi("a Redis client", _ANSWERS),
    "duckdb.connect": HandleApi("a DuckDB connection", _ANSWERS, derives=("cursor", "execute")),
    "requests.Session": HandleApi("an HTTP session", _ANSWERS, picklable=True),
}
"""What may not be carried into workers. Always fine, and so not here: np.memmap, mmap, BytesIO, os.pread."""

HANDLE_WRAPPERS = frozenset({
    "csv.reader", "csv.DictReader", "io.TextIOWrapper", "io.BufferedReader", "zarr.group", "zarr.open", "zarr.open_group",
    "zarr.Group", "pandas.HDFStore",
})
"""Library objects that keep using the handle they are made over."""

# Reading the contents of one sample

DECODES = frozenset(
    {
        "PIL.Image.open",
        "cv2.imread",
        "cv2.imdecode",
        "imageio.imread",
        "imageio.v2.imread",
        "imageio.v3.imread",
        "skimage.io.imread",
        "matplotlib.pyplot.imread",
        "tifffile.imread",
        "numpy.load",
        "numpy.loadtxt",
        "numpy.genfromtxt",
        "numpy.fromfile",
        "torch.load",
        "torchaudio.load",
        "librosa.load",
        "soundfile.read",
        "scipy.io.wavfile.read",
        "scipy.io.loadmat",
        "nibabel.load",
        "SimpleITK.ReadImage",
        "pydicom.dcmread",
        "torchvision.io.read_image",
        "torchvision.io.decode_image",
        "torchvision.io.read_video",
        "torchvision.datasets.default_loader",
        "pandas.read_csv",
        "pandas.read_parquet",
        "pandas.read_pickle",
        "safetensors.torch.load_file",
        "trimesh.load",
        "rasterio.open",
        "open3d.io.read_point_cloud",
        "h5py.File",
        "builtins.open",
    }
)
"""Calls that bring the contents of a file into memory. `open` and `h5py.File` only count when what they give is read."""

PARSES = frozenset({"json.load", "pickle.load", "yaml.safe_load", "joblib.load", "msgpack.load", "numpy.genfromtxt"})
"""Calls that turn a whole open file into Python objects."""

LAZY_READS = frozenset({"nibabel.load", "PIL.Image.open", "rasterio.open", "h5py.File", "builtins.open"})
"""Of these, calls that read the header alone: the contents come with a later access."""

FORCES_CONTENTS = frozenset(
    {
        "convert",
        "load",
        "copy",
        "resize",
        "crop",
        "get_fdata",
        "read",
        "readlines",
        "transpose",
        "rotate",
        "thumbnail",
        "tobytes",
        "getdata",
    }
)
"""Methods of such an object that read the contents."""

LISTS_FILES = frozenset(
    {
        "glob.glob",
        "os.listdir",
        "os.scandir",
        "os.walk",
        "json.load",
        "json.loads",
        "pickle.load",
        "csv.reader",
        "csv.DictReader",
        "yaml.safe_load",
        "yaml.load",
        "joblib.load",
        "linecache.getlines",
    }
)
"""Calls that give one Python object for each sample: paths, records, lines."""

# Pickling

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

# Random numbers, processes

WORKER_QUERIES = frozenset(
    {
        "torch.utils.data.get_worker_info",
        "webdataset.split_by_worker",
        "webdataset.utils.pytorch_worker_info",
        "streaming.base.world.World",
        "streaming.World",
        "streaming.base.World",
    }
)
"""Calls that ask which worker this is."""

MP_PREFIXES = ("multiprocessing.", "torch.multiprocessing.")
