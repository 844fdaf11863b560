"""What dllint knows of libraries: which classes are datasets and loaders, which calls open, read, transfer, draw.

Names are canonical dotted names (`canonical` drops the private modules that a library re-exports from). Sources: the
PyTorch 2.13 sources and documentation, and measurements on it, unless an entry says otherwise.
"""

from __future__ import annotations

from dllint.code.apis.arrays import ALLOCATES, ARRAY_VIEWS, GRAPHS, MEMORY_MAPS, MODELS, TENSOR_MAKERS, TENSOR_VIEWS
from dllint.code.apis.autograd import (
    FORWARDS,
    GIVES_MODULE,
    KEEPS_GRAD,
    KEEPS_GRAD_CALLS,
    KEEPS_SPARSE,
    MAKES_SPARSE,
    MAKES_SPARSE_METHODS,
    MODULE_CONTAINERS,
    TRAINABLE_LAYERS,
)
from dllint.code.apis.datasets import DATASET_BASES, HOOKS, ITERABLE_BASES, NOT_DATASETS, wraps_datasets
from dllint.code.apis.devices import CUDA_RAISES, FACTORIES, JOINS, MOVING_TRANSFORMS, TENSOR_FACTORY_METHODS
from dllint.code.apis.distributed import COLLECTIVES, GROUP_QUERIES, RANK_QUERIES
from dllint.code.apis.forking import POLARS_QUERIES, POLARS_READS, RAY_WAITS
from dllint.code.apis.handles import (
    ALSO_DESCRIPTORS,
    COLLECTED_LATE,
    HANDLE_WRAPPERS,
    HANDLES,
    RAW_DESCRIPTORS,
    SAME_BY_ANY_NAME,
    TAKES_DESCRIPTOR,
    HandleApi,
)
from dllint.code.apis.iterating import ENDLESS, FIRST_IS_FUNCTION, MAY_BE_EMPTY, ONE_SHOT
from dllint.code.apis.loaders import (
    DATALOADER_PARAMETERS,
    GUARDED_LOADERS,
    ITERATES,
    LOADER_WORDS,
    LOADERS,
    PREPARING,
    WEB_PIPES,
    LoaderApi,
)
from dllint.code.apis.names import BUILTINS, canonical
from dllint.code.apis.opencv import SETS_CV2_THREADS, THREADED_CV2
from dllint.code.apis.pickling import GENERATOR_METHODS, SUBMODULES, UNPICKLABLE
from dllint.code.apis.processes import CONTEXTS, POOL_MAPS, POOLS, PROCESSES, STARTS_PROCESSES
from dllint.code.apis.pure import DATA_PACKAGES, KEEPS_FUNCTIONS, PURE_FUNCTIONS, PURE_METHODS, REMEMBERS
from dllint.code.apis.reading import (
    DECODES,
    FORCES_CONTENTS,
    FROM_OPEN_FILES,
    FROM_PATHS,
    LAZY_READS,
    LISTS_FILES,
    PARSES,
    READ_FROM_DISK,
    READS_A_PART,
)
from dllint.code.apis.sharding import WORKER_QUERIES
from dllint.code.apis.storages import (
    BATCH_STEPS,
    JOINS_TENSORS,
    PLAIN_ATTRIBUTES,
    SHARES_FIRST_ARGUMENT,
    SHARES_STORAGE,
)
from dllint.code.apis.threads import HANDS_TO_LOOP, REMOTE_PROTOCOLS, THREADED, WAITED_FOR, ThreadedApi
from dllint.code.apis.writing import (
    MOVES_INTO_PLACE,
    OPENS_TO_WRITE,
    OUTPUT_IS_LAST,
    OUTPUT_OPTIONS,
    PATH_ARGUMENTS,
    RUNS_COMMANDS,
    WRITES,
    WRITES_ITSELF,
    WRITING_METHODS,
)

__all__ = [
    "ALLOCATES",
    "ALSO_DESCRIPTORS",
    "ARRAY_VIEWS",
    "BATCH_STEPS",
    "BUILTINS",
    "COLLECTED_LATE",
    "COLLECTIVES",
    "CONTEXTS",
    "CUDA_RAISES",
    "DATALOADER_PARAMETERS",
    "DATASET_BASES",
    "DATA_PACKAGES",
    "DECODES",
    "ENDLESS",
    "FACTORIES",
    "FIRST_IS_FUNCTION",
    "FORCES_CONTENTS",
    "FORWARDS",
    "FROM_OPEN_FILES",
    "FROM_PATHS",
    "GENERATOR_METHODS",
    "GIVES_MODULE",
    "GRAPHS",
    "GROUP_QUERIES",
    "GUARDED_LOADERS",
    "HANDLES",
    "HANDLE_WRAPPERS",
    "HANDS_TO_LOOP",
    "HOOKS",
    "ITERABLE_BASES",
    "ITERATES",
    "JOINS",
    "JOINS_TENSORS",
    "KEEPS_FUNCTIONS",
    "KEEPS_GRAD",
    "KEEPS_GRAD_CALLS",
    "KEEPS_SPARSE",
    "LAZY_READS",
    "LISTS_FILES",
    "LOADERS",
    "LOADER_WORDS",
    "MAKES_SPARSE",
    "MAKES_SPARSE_METHODS",
    "MAY_BE_EMPTY",
    "MEMORY_MAPS",
    "MODELS",
    "MODULE_CONTAINERS",
    "MOVES_INTO_PLACE",
    "MOVING_TRANSFORMS",
    "NOT_DATASETS",
    "ONE_SHOT",
    "OPENS_TO_WRITE",
    "OUTPUT_IS_LAST",
    "OUTPUT_OPTIONS",
    "PARSES",
    "PATH_ARGUMENTS",
    "PLAIN_ATTRIBUTES",
    "POLARS_QUERIES",
    "POLARS_READS",
    "POOLS",
    "POOL_MAPS",
    "PREPARING",
    "PROCESSES",
    "PURE_FUNCTIONS",
    "PURE_METHODS",
    "RANK_QUERIES",
    "RAW_DESCRIPTORS",
    "RAY_WAITS",
    "READS_A_PART",
    "READ_FROM_DISK",
    "REMEMBERS",
    "REMOTE_PROTOCOLS",
    "RUNS_COMMANDS",
    "SAME_BY_ANY_NAME",
    "SETS_CV2_THREADS",
    "SHARES_FIRST_ARGUMENT",
    "SHARES_STORAGE",
    "STARTS_PROCESSES",
    "SUBMODULES",
    "TAKES_DESCRIPTOR",
    "TENSOR_FACTORY_METHODS",
    "TENSOR_MAKERS",
    "TENSOR_VIEWS",
    "THREADED",
    "THREADED_CV2",
    "TRAINABLE_LAYERS",
    "UNPICKLABLE",
    "WAITED_FOR",
    "WEB_PIPES",
    "WORKER_QUERIES",
    "WRITES",
    "WRITES_ITSELF",
    "WRITING_METHODS",
    "HandleApi",
    "LoaderApi",
    "ThreadedApi",
    "canonical",
    "wraps_datasets",
]
