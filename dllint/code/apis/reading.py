"""Library calls that read the contents of a sample, and those that list samples."""

from __future__ import annotations

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
"""Calls that bring the contents of a file into memory. `open` and `h5py.File` count when what they give is read."""

_PICKLERS = ("pickle", "dill", "cloudpickle", "joblib", "msgpack")
_PICKLES = frozenset(f"{package}.{name}" for package in _PICKLERS for name in ("load", "loads"))
PARSES = _PICKLES | {
    "json.load",
    "json.loads",
    "yaml.load",
    "yaml.safe_load",
    "tomllib.load",
    "tomllib.loads",
    "numpy.genfromtxt",
}
"""Calls that turn a whole file into Python objects."""
PARSES_BINARY = _PICKLES
"""Of these, calls whose objects may be arrays: what they are used for tells."""

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

READ_FROM_DISK = frozenset(
    f"torchvision.datasets.{name}"
    for name in (
        "ImageFolder",
        "DatasetFolder",
        "ImageNet",
        "CocoDetection",
        "CocoCaptions",
        "VOCDetection",
        "VOCSegmentation",
        "Cityscapes",
        "CelebA",
        "Places365",
        "LSUN",
        "Flowers102",
        "Food101",
        "Kinetics",
        "UCF101",
    )
)
"""Datasets of libraries that read and decode a file for each sample."""
FROM_OPEN_FILES = frozenset(
    {
        "json.load",
        "pickle.load",
        "dill.load",
        "cloudpickle.load",
        "marshal.load",
        "yaml.load",
        "yaml.safe_load",
        "yaml.full_load",
        "msgpack.load",
        "toml.load",
        "tomllib.load",
        "csv.reader",
        "csv.DictReader",
    }
)
"""Calls that read an open file from where it stands to its end, or the one object that stands there."""

FROM_PATHS = (DECODES - {"builtins.open", "h5py.File", "torchvision.datasets.default_loader", "rasterio.open"}) | {
    "joblib.load",
    "imageio.v2.mimread",
    "pandas.read_json",
    "pandas.read_excel",
    "pandas.read_feather",
    "pandas.read_table",
    "pandas.read_hdf",
    "polars.read_csv",
    "polars.read_parquet",
    "polars.read_ipc",
    "pyarrow.parquet.read_table",
    "pyarrow.csv.read_csv",
    "scipy.sparse.load_npz",
    "safetensors.numpy.load_file",
    "torch.jit.load",
    "laspy.read",
    "plyfile.PlyData.read",
    "pyvista.read",
}
"""Calls that open a file by its path and read all of it."""

READS_A_PART = frozenset(
    {
        "chunksize",
        "count",
        "duration",
        "end_pts",
        "filters",
        "frame_offset",
        "frames",
        "iterator",
        "max_rows",
        "mmap",
        "mmap_mode",
        "n_rows",
        "nrows",
        "num_frames",
        "offset",
        "row_groups",
        "skip_rows",
        "skiprows",
        "start",
        "start_pts",
        "stop",
        "where",
    }
)
"""Arguments of these that read a part of the file, or that map it."""

READS_A_PART_OF = {
    "tifffile.imread": frozenset({"aszarr", "key", "level", "selection", "series"}),
    **dict.fromkeys(("imageio.imread", "imageio.v2.imread", "imageio.v3.imread"), frozenset({"index", "page"})),
    "skimage.io.imread": frozenset({"img_num", "key"}),
}
"""Arguments that do so for one call only."""
