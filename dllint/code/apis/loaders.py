"""Library calls that start DataLoader workers, and those that iterate a loader."""

from __future__ import annotations

from dllint.records import dataclass, replace

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
    knows: tuple[str, ...] = ()
    """The only arguments that mean what DataLoader's of the same name do; all of them if this is empty."""
    callables: tuple[str, ...] = ()
    """The arguments that its workers call, besides DataLoader's."""
    forks_in_notebooks: bool = False
    """Whether it sees to it that in notebooks its workers are forked, or there are none."""
    called_if: tuple[tuple[str, str], ...] = ()
    """Arguments that its workers call where a switch is on: (argument, switch)."""

    @property
    def is_of_trainer(self) -> bool:
        """Whether it is made of the arguments of a trainer, which are attributes that may still be set."""
        return any(name.startswith("dataloader_") for name, _ in self.renamed)


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
_PYG = LoaderApi(positional=("dataset",), callables=("transform_sampler_output",))
_PYG_SAMPLING = replace(_PYG, called_if=(("transform", "filter_per_worker"),))
_PYG_BATCH = LoaderApi(positional=("dataset", "batch_size", "shuffle"))

_FASTAI_CALLS = ("item_tfms", "label_func", "get_x", "get_y", "after_item", "before_batch")
_FASTAI = LoaderApi(
    positional=(),
    default_workers=1,
    knows=("dataset", "num_workers", *_FASTAI_CALLS),
    callables=_FASTAI_CALLS,
    forks_in_notebooks=True,
)
"""fastai has a DataLoader of its own, which checks none of its arguments, and takes the processors for None.
What it does to whole batches (`batch_tfms`, `after_batch`) it does in main."""
_FASTAI_LABELS = replace(_FASTAI, positional=("path", "fnames", "label_func"))
_FASTAI_OVER = replace(_FASTAI, positional=("dataset",))

LOADERS: dict[str, LoaderApi] = {
    "torch.utils.data.DataLoader": LoaderApi(),
    "torchdata.stateful_dataloader.StatefulDataLoader": LoaderApi(),
    "monai.data.DataLoader": LoaderApi(positional=("dataset", "num_workers")),
    "monai.data.ThreadDataLoader": _PYG,
    "torch_geometric.loader.DataLoader": _PYG_BATCH,
    "torch_geometric.data.DataLoader": _PYG_BATCH,
    "torch_geometric.loader.DataListLoader": _PYG_BATCH,
    "torch_geometric.loader.DenseDataLoader": _PYG_BATCH,
    "torch_geometric.loader.NeighborLoader": _PYG_SAMPLING,
    "torch_geometric.loader.LinkNeighborLoader": _PYG_SAMPLING,
    "torch_geometric.loader.HGTLoader": _PYG_SAMPLING,
    "torch_geometric.loader.NodeLoader": _PYG_SAMPLING,
    "torch_geometric.loader.LinkLoader": _PYG_SAMPLING,
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
    "sentence_transformers.SentenceTransformerTrainingArguments": _HF,
    "sentence_transformers.training_args.SentenceTransformerTrainingArguments": _HF,
    "trl.SFTConfig": _HF,
    "trl.DPOConfig": _HF,
    "trl.GRPOConfig": _HF,
    "transformers.Trainer": _TRAINER,
    "transformers.Seq2SeqTrainer": _TRAINER,
    "torchdata.dataloader2.DataLoader2": LoaderApi(
        positional=("dataset", "datapipe_adapter_fn", "reading_service"), service="reading_service"
    ),
    "webdataset.WebLoader": LoaderApi(),
    "ignite.distributed.auto_dataloader": LoaderApi(positional=("dataset",)),
    "fastai.DataLoaders.from_dblock": _FASTAI,
    "fastai.DataLoaders.from_dsets": _FASTAI,
    "fastai.ImageDataLoaders.from_folder": _FASTAI,
    "fastai.ImageDataLoaders.from_name_func": _FASTAI_LABELS,
    "fastai.ImageDataLoaders.from_path_func": _FASTAI_LABELS,
    "fastai.ImageDataLoaders.from_csv": _FASTAI,
    "fastai.ImageDataLoaders.from_df": _FASTAI,
    "fastai.ImageDataLoaders.from_lists": _FASTAI,
    "fastai.TextDataLoaders.from_folder": _FASTAI,
    "fastai.TextDataLoaders.from_df": _FASTAI,
    "fastai.TabularDataLoaders.from_df": _FASTAI,
    "fastai.TabularDataLoaders.from_csv": _FASTAI,
    "fastai.SegmentationDataLoaders.from_label_func": _FASTAI_LABELS,
    "fastai.DataBlock.dataloaders": _FASTAI,
    "fastai.Datasets.dataloaders": _FASTAI,
    "fastai.TfmdLists.dataloaders": _FASTAI,
    "fastai.DataLoader": replace(_FASTAI_OVER, default_workers=0),
    "fastai.TfmdDL": _FASTAI_OVER,
}
"""Calls that start DataLoader workers, or carry the arguments of one that does."""

WEB_PIPES = frozenset(
    f".{name}()" for name in ("slice", "with_epoch", "with_length", "repeat", "shuffle", "unbatched", "batched")
)
"""Methods of webdataset's WebLoader that give a longer pipeline: going through it goes through the loader."""

GUARDED_LOADERS = frozenset(
    name for name in LOADERS if name.startswith(("torch.", "torch_geometric.", "torchdata.stateful", "monai."))
)
"""The loaders that derive from torch's DataLoader: they refuse late changes of their attributes."""

LOADER_WORDS = tuple(sorted({name.rpartition(".")[2] for name in LOADERS}))
"""The last names of the loaders: a file that holds none of them builds none."""

PREPARING = {
    "accelerate.Accelerator": frozenset({"prepare", "prepare_data_loader"}),
    "lightning.fabric.Fabric": frozenset({"setup_dataloaders"}),
    "lightning.Fabric": frozenset({"setup_dataloaders"}),
}
"""Classes with methods that give back the loaders that they are given, wrapped."""

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
        "builtins.dict",
        "collections.deque",
    }
)
"""Calls that iterate what they are given, or whose result does when it is looped over."""
