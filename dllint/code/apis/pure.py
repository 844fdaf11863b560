"""Functions whose result depends on nothing but what they are given, and decorators that keep results."""

from __future__ import annotations

PURE_FUNCTIONS = frozenset(
    {
        "os.path.join",
        "os.path.abspath",
        "os.path.basename",
        "os.path.dirname",
        "os.path.expanduser",
        "os.path.normpath",
        "os.path.realpath",
        "os.path.splitext",
        "os.fspath",
        "os.getcwd",
        "os.getenv",
        "tempfile.gettempdir",
        "os.environ.get",
        "pathlib.Path",
        "pathlib.PurePath",
        "builtins.str",
        "builtins.int",
        "builtins.tuple",
        "builtins.list",
        "builtins.open",
        "builtins.len",
        "builtins.getattr",
        "builtins.isinstance",
        "builtins.hasattr",
        "gzip.open",
        "bz2.open",
        "lzma.open",
        "codecs.open",
    }
)
"""Of paths, strings and numbers; an open file stands for its path."""

PURE_METHODS = frozenset(
    {
        "format",
        "join",
        "joinpath",
        "replace",
        "strip",
        "rstrip",
        "lstrip",
        "lower",
        "upper",
        "zfill",
        "with_suffix",
        "with_name",
        "with_stem",
        "as_posix",
        "resolve",
        "expanduser",
        "absolute",
        "removesuffix",
        "removeprefix",
        "open",
        "item",
    }
)
"""Methods of strings, paths and numbers."""

REMEMBERS = frozenset({"functools.cache", "functools.lru_cache", "cachetools.cached"})
"""Decorators that keep the results of a function: all of them, unless their arguments set a bound."""

DATA_PACKAGES = frozenset({"numpy", "cv2", "PIL", "imageio", "skimage", "nibabel", "soundfile", "math", "struct"})
"""Packages whose functions give arrays and numbers: nothing that calls what they were given later on."""

KEEPS_FUNCTIONS = frozenset(
    {
        "numpy.vectorize",
        "numpy.frompyfunc",
        "torch.vmap",
        "torch.compile",
        "torch.cond",
        "torch.no_grad",
        "torch.enable_grad",
        "torch.inference_mode",
        "torch.autocast",
    }
)
"""The exceptions among these, and among torch's own functions such as `torch.stack`."""
