"""Library calls by which a worker learns its share, and pipelines of libraries that share out only if told to."""

from __future__ import annotations

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

WEB_STAGES = frozenset(
    {
        "associate",
        "batched",
        "decode",
        "detshuffle",
        "extract_keys",
        "getfirst",
        "info",
        "map",
        "map_dict",
        "map_tuple",
        "non_empty",
        "rename",
        "rename_keys",
        "rsample",
        "select",
        "shuffle",
        "single_node_only",
        "slice",
        "split_by_node",
        "tarfile_samples",
        "tarfile_to_samples",
        "to_tuple",
        "unbatched",
        "xdecode",
    }
)
"""Stages of webdataset's pipelines that give each worker what they are given: run on webdataset 1.0.2."""

WEB_METHODS = WEB_STAGES | {"listed", "unlisted", "with_length"}
"""Methods of webdataset's pipelines that add such a stage. `with_epoch` and `repeat` make an endless stream."""

_DATAPIPE_METHODS = {
    "batch": "Batcher",
    "bucketbatch": "BucketBatcher",
    "collate": "Collator",
    "decompress": "Decompressor",
    "drop": "Dropper",
    "enumerate": "Enumerator",
    "filter": "Filter",
    "flatmap": "FlatMapper",
    "flatten": "Flattener",
    "groupby": "Grouper",
    "header": "Header",
    "in_memory_cache": "InMemoryCacheHolder",
    "load_from_tar": "TarArchiveLoader",
    "load_from_zip": "ZipArchiveLoader",
    "map": "Mapper",
    "open_files": "FileOpener",
    "open_files_by_fsspec": "FSSpecFileOpener",
    "parse_csv": "CSVParser",
    "parse_csv_as_dict": "CSVDictParser",
    "parse_json_files": "JsonParser",
    "prefetch": "Prefetcher",
    "read_from_stream": "StreamReader",
    "readlines": "LineReader",
    "routed_decode": "RoutedDecoder",
    "rows2columnar": "Rows2Columnar",
    "set_length": "LengthSetter",
    "shuffle": "Shuffler",
    "unbatch": "UnBatcher",
}
DATAPIPE_METHODS = frozenset(_DATAPIPE_METHODS) | {"set_seed", "set_shuffle"}
"""Methods of iterable DataPipes that give each worker what they are given: torch shares out behind `sharding_filter`
alone."""
DATAPIPE_CLASSES = frozenset(_DATAPIPE_METHODS.values())
"""The same, written as classes around another pipe."""

DATAPIPE_JOINS = {"concat": "Concater", "mux": "Multiplexer", "zip": "Zipper"}
"""Methods and classes that go through several pipes."""

DATAPIPE_PACKAGES = ("torch.utils.data.", "torchdata.datapipes.iter.")
