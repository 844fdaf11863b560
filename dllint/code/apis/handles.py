"""Library calls that open what belongs to one process, with the harm of sharing it."""

from __future__ import annotations

from dllint.records import dataclass


@dataclass(frozen=True, slots=True)
class HandleApi:
    """A call that opens something which belongs to the process that opened it."""

    label: str
    harm: str
    """What forked workers that share it do, as measured."""
    mild: bool = False
    """Clean under fork: fails only where the dataset is pickled."""
    derives: tuple[str, ...] = ()
    """Methods whose result keeps using the handle."""
    item_derives: bool = False
    """Whether `handle["key"]` keeps using it."""
    attribute_derives: bool = False
    """Whether `handle.name` keeps using it."""
    parts: tuple[str, ...] = ()
    """Attributes that keep using it, and so does what is counted out of them: `handle.pages[0]`."""


_SHARED_OFFSET = "all workers move one shared file position, so records are read from wrong places, silently"
_ZIP = "all workers move one shared file position: BadZipFile (bad magic number, bad CRC-32) on some reads"
_H5 = (
    "the handle cannot be pickled (TypeError: h5py objects cannot be pickled) under spawn and forkserver, the Linux "
    "default from Python 3.14; with HDF5 older than 1.12 forked workers read corrupt data"
)
_SQL = "SQLite forbids carrying a connection over a fork, and it cannot be pickled under spawn and forkserver"
_ANSWERS = "workers read the answers to one another's requests"

_OPEN = HandleApi("an open file", _SHARED_OFFSET)
_ARCHIVE = HandleApi("an open archive", _ZIP, derives=("open", "extractfile"))
_TIFF = HandleApi(
    "an open TIFF file", _SHARED_OFFSET, derives=("aszarr",), parts=("pages", "series", "levels", "filehandle")
)
_DB = HandleApi("a database connection", _ANSWERS, derives=("cursor", "execute"))

HANDLES: dict[str, HandleApi] = {
    "builtins.open": _OPEN,
    "os.fdopen": _OPEN,
    "io.FileIO": _OPEN,
    "codecs.open": _OPEN,
    "gzip.open": HandleApi("an open gzip file", _SHARED_OFFSET),
    "gzip.GzipFile": HandleApi("an open gzip file", _SHARED_OFFSET),
    "bz2.open": HandleApi("an open bzip2 file", _SHARED_OFFSET),
    "bz2.BZ2File": HandleApi("an open bzip2 file", _SHARED_OFFSET),
    "lzma.open": HandleApi("an open xz file", _SHARED_OFFSET),
    "lzma.LZMAFile": HandleApi("an open xz file", _SHARED_OFFSET),
    "wave.open": HandleApi("an open sound file", _SHARED_OFFSET),
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
        derives=("get", "require_group", "require_dataset", "values", "items"),
        item_derives=True,
    ),
    "tables.open_file": HandleApi("an open HDF5 file", _H5, mild=True, derives=("get_node",)),
    "netCDF4.Dataset": HandleApi("an open netCDF file", _H5, mild=True, item_derives=True),
    "sqlite3.connect": HandleApi("a SQLite connection", _SQL, mild=True, derives=("cursor", "execute")),
    "lmdb.open": HandleApi(
        "an LMDB environment",
        "each forked worker takes reader slots of the shared lock file: MDB_READERS_FULL (py-lmdb 1.7.5 and newer)",
        derives=("begin",),
    ),
    "lmdb.Environment": HandleApi(
        "an LMDB environment",
        "each forked worker takes reader slots of the shared lock file: MDB_READERS_FULL (py-lmdb 1.7.5 and newer)",
        derives=("begin",),
    ),
    "cv2.VideoCapture": HandleApi(
        "an open video",
        "all workers move one shared position: wrong frames, or read() gives False",
    ),
    "decord.VideoReader": HandleApi(
        "an open video", "the decoder's threads do not exist in a forked worker: it stalls"
    ),
    "torchvision.io.VideoReader": HandleApi("an open video", "all workers move one shared position: wrong frames"),
    "av.open": HandleApi(
        "an open video", "all workers move one shared position: wrong frames", derives=("decode", "demux")
    ),
    "imageio.get_reader": HandleApi("an open video", "all workers move one shared position: wrong frames"),
    "pyfaidx.Fasta": HandleApi("an open FASTA file", _SHARED_OFFSET, item_derives=True),
    "pyfaidx.Faidx": HandleApi("an open FASTA file", _SHARED_OFFSET),
    "pysam.FastaFile": HandleApi("an open FASTA file", _SHARED_OFFSET),
    "pysam.AlignmentFile": HandleApi("an open alignment file", _SHARED_OFFSET),
    "pysam.VariantFile": HandleApi("an open variant file", _SHARED_OFFSET),
    "pysam.TabixFile": HandleApi("an open Tabix file", _SHARED_OFFSET),
    "pyBigWig.open": HandleApi("an open bigWig file", _SHARED_OFFSET),
    "soundfile.SoundFile": HandleApi("an open sound file", _SHARED_OFFSET),
    "tifffile.TiffFile": _TIFF,
    "tifffile.imread": _TIFF,
    "rasterio.open": HandleApi(
        "an open raster file",
        "it cannot be pickled (TypeError: self._hds cannot be converted to a Python object for pickling) under spawn "
        "and forkserver, the Linux default from Python 3.14",
        mild=True,
    ),
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
        "a MongoDB client",
        "MongoClient is not fork-safe: its locks and sockets are shared",
        item_derives=True,
        attribute_derives=True,
    ),
    "redis.Redis": HandleApi("a Redis client", _ANSWERS),
    "redis.StrictRedis": HandleApi("a Redis client", _ANSWERS),
    "duckdb.connect": HandleApi("a DuckDB connection", _ANSWERS, derives=("cursor", "execute")),
}
"""What may not be carried into workers. Always fine, and so not here: np.memmap, mmap, BytesIO, os.pread, and a
requests.Session that main has not used (measured: its connections are opened by use)."""

SESSIONS = frozenset({"requests.Session", "requests.session", "requests.sessions.Session", "httpx.Client"})
"""Clients that keep a connection open once they have been used: of four forked workers each got errors or the answer to
another's request (measured with requests 2.32). They pickle without it."""

REQUESTS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request", "send"})
"""Methods by which such a client is used."""

HARMFUL_OVER_MEMORY = frozenset({"decord.VideoReader"})
"""What cannot be shared even where it is opened over an `io.BytesIO`: for its threads, not for a file position."""

SAME_BY_ANY_NAME = {"VideoCapture": HANDLES["cv2.VideoCapture"]}
"""Classes that several libraries offer under OpenCV's name, to be used as OpenCV's is."""

HANDLE_WRAPPERS = frozenset(
    {
        "builtins.iter",
        "builtins.enumerate",
        "csv.reader",
        "csv.DictReader",
        "io.TextIOWrapper",
        "io.BufferedReader",
        "io.BufferedRandom",
        "zarr.group",
        "zarr.open",
        "zarr.open_group",
        "zarr.open_array",
        "zarr.open_consolidated",
        "zarr.Array",
        "zarr.Group",
        "dask.array.from_array",
        "dask.array.from_zarr",
        "pandas.HDFStore",
    }
)
"""Library objects that keep using the handle they are made over."""

ONLY_WITH = {"tifffile.imread": "aszarr"}
"""Calls that open a handle only where this argument is true; else they read."""

ALSO_DESCRIPTORS = frozenset(
    {
        "PIL.Image.open",
        "tempfile.NamedTemporaryFile",
        "tempfile.TemporaryFile",
        "rasterio.open",
        "soundfile.SoundFile",
        "wave.open",
        "mmap.mmap",
        "tifffile.TiffFile",
        "openslide.OpenSlide",
        "av.open",
    }
)
"""Calls whose result holds a descriptor as long as it lives, though it may be fine to share."""

COLLECTED_LATE = frozenset({"av.open"})
"""Of these, what only the garbage collector frees: measured with PyAV 18.1, 300 calls kept 300 descriptors."""

RAW_DESCRIPTORS = frozenset({"os.open", "os.dup", "os.memfd_create", "tempfile.mkstemp"})
"""Calls that give a number: nothing closes it but `os.close`, or a file object made over it."""

TAKES_DESCRIPTOR = frozenset({"close", "closerange", "fdopen", "open", "FileIO", "closing", "enter_context"})
"""Last names of the calls that close a descriptor, or see to it."""
