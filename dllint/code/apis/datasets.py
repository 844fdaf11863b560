"""Library classes and functions that are, make or wrap datasets."""

from __future__ import annotations

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

_OPENMMLAB = (
    "mmdet.datasets.BaseDetDataset",
    "mmdet3d.datasets.Det3DDataset",
    "mmdet3d.datasets.Seg3DDataset",
    "mmpose.datasets.BaseCocoStyleDataset",
    "mmpretrain.datasets.BaseDataset",
    "mmpretrain.datasets.CustomDataset",
    "mmseg.datasets.BaseSegDataset",
)
"""What the libraries of OpenMMLab derive from mmengine's BaseDataset for projects to derive from."""

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
        *_OPENMMLAB,
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
_WRAPPER_NAMES = frozenset({"ConcatDataset", "Subset", "random_split"})
"""What other libraries call theirs, too."""


def wraps_datasets(name: str) -> bool:
    """Whether what a library's call gives reads the datasets that the call is given."""
    return name in WRAPPERS or name.rpartition(".")[2] in _WRAPPER_NAMES


HOOKS = {
    "torch_geometric.data.Dataset": ("get", "len"),
    "torch_geometric.data.InMemoryDataset": ("get", "len"),
    "torch_geometric.data.OnDiskDataset": ("get", "len"),
    "monai.data.Dataset": ("_transform",),
    "monai.data.CacheDataset": ("_transform",),
    "monai.data.PersistentDataset": ("_transform",),
    **dict.fromkeys(("mmengine.dataset.BaseDataset", *_OPENMMLAB), ("prepare_data", "get_data_info")),
    "fairseq.data.FairseqDataset": ("collater",),
}
"""Methods that a library's own `__getitem__` calls in the worker."""

INIT_HOOKS = {
    **dict.fromkeys(("mmengine.dataset.BaseDataset", *_OPENMMLAB), ("full_init", "load_data_list")),
}
"""Methods that a library's own `__init__` calls; read in mmengine 0.10."""

NOT_DATASETS = frozenset(
    {
        "torch.utils.data.Sampler",
        "torch.utils.data.BatchSampler",
        "torch.utils.data.DataLoader",
        "lightning.pytorch.LightningDataModule",
    }
)
