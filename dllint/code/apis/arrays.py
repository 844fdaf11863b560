"""What gives arrays and tensors: calls that map files, and the views that NumPy takes of an array."""

from __future__ import annotations

MEMORY_MAPS = frozenset({"numpy.memmap", "numpy.lib.format.open_memmap"})
"""Calls that always give an array mapped from a file; `np.load` does with `mmap_mode`.

Measured on NumPy 2.4: pickle writes out the whole array, for `np.memmap.__reduce__` is that of any array."""

ARRAY_VIEWS = frozenset(
    {".reshape()", ".view()", ".transpose()", ".T", ".ravel()", ".swapaxes()", ".squeeze()"},
)
"""What shows the same pages of a mapped file."""

TENSOR_MAKERS = frozenset(
    {
        "torch.tensor",
        "torch.from_numpy",
        "torch.as_tensor",
        "torch.asarray",
        "torch.frombuffer",
        "torch.zeros",
        "torch.ones",
        "torch.full",
        "torch.empty",
        "torch.rand",
        "torch.randn",
        "torch.randint",
        "torch.randperm",
        "torch.arange",
        "torch.linspace",
        "torch.logspace",
        "torch.eye",
        "torch.zeros_like",
        "torch.ones_like",
        "torch.full_like",
        "torch.empty_like",
        "torch.rand_like",
        "torch.randn_like",
        "torch.stack",
        "torch.cat",
        "torch.concat",
        "torch.hstack",
        "torch.vstack",
        "torch.where",
        "torch.normal",
        "torch.bernoulli",
        "torch.poisson",
        "torch.multinomial",
        "torch.clone",
        "torch.Tensor",
        "torch.FloatTensor",
        "torch.DoubleTensor",
        "torch.HalfTensor",
        "torch.LongTensor",
        "torch.IntTensor",
        "torch.ShortTensor",
        "torch.ByteTensor",
        "torch.BoolTensor",
        "torch.complex",
        "torch.polar",
        "torch.nn.functional.one_hot",
        "torch.nn.functional.interpolate",
        "torch.nn.functional.normalize",
        "torchvision.io.read_image",
        "torchvision.io.decode_image",
        "torchvision.transforms.functional.to_tensor",
        "torchvision.transforms.functional.pil_to_tensor",
        "torchvision.transforms.ToTensor",
        "torchvision.transforms.PILToTensor",
        "torchvision.transforms.v2.functional.to_image",
        "torchvision.transforms.v2.ToImage",
    }
)
"""Calls that give a tensor with a storage of its own. `torch.from_numpy` is one: the storage is new, not the memory.

The classes among the transforms do when their objects are called."""

ALLOCATES = frozenset(
    {
        "op",
        ".clone()",
        ".repeat()",
        ".mean()",
        ".sum()",
        ".std()",
        ".max()",
        ".min()",
        ".abs()",
        ".exp()",
        ".log()",
        ".div()",
        ".mul()",
        ".add()",
        ".sub()",
        ".clamp()",
        ".round()",
        ".sqrt()",
        ".softmax()",
        ".argmax()",
        ".gather()",
        ".index_select()",
        ".masked_select()",
        ".flip()",
        ".roll()",
    }
)
"""What gives a tensor that is computed from another, in a storage of its own."""

TENSOR_VIEWS = frozenset(
    {
        "[]",
        "each",
        ".T",
        ".mT",
        ".data",
        ".view()",
        ".reshape()",
        ".unsqueeze()",
        ".squeeze()",
        ".permute()",
        ".transpose()",
        ".t()",
        ".flatten()",
        ".expand()",
        ".contiguous()",
        ".detach()",
        ".cpu()",
        ".float()",
        ".double()",
        ".half()",
        ".bfloat16()",
        ".long()",
        ".int()",
        ".bool()",
        ".byte()",
        ".to()",
        ".type()",
        ".narrow()",
        ".select()",
        ".unfold()",
        ".split()",
        ".chunk()",
        ".unbind()",
        ".requires_grad_()",
        ".share_memory_()",
        ".float16()",
    }
)
"""What gives a tensor that may keep the storage of the one that it is taken from: so do conversions not needed."""

GRAPHS = frozenset({"torch_geometric.data.Data", "torch_geometric.data.HeteroData"})
"""Objects that hold the tensors that they are given by name."""

MODELS = {
    "torchvision.models." + name: tensors
    for name, tensors in {
        "convnext_small": 344,
        "convnext_base": 344,
        "convnext_large": 344,
        "densenet121": 727,
        "densenet161": 967,
        "densenet169": 1015,
        "densenet201": 1207,
        "efficientnet_b0": 360,
        "efficientnet_b1": 508,
        "efficientnet_b2": 508,
        "efficientnet_b3": 574,
        "efficientnet_b4": 706,
        "efficientnet_b5": 854,
        "efficientnet_b6": 986,
        "efficientnet_b7": 1200,
        "efficientnet_v2_s": 782,
        "efficientnet_v2_m": 1120,
        "efficientnet_v2_l": 1548,
        "googlenet": 364,
        "inception_v3": 580,
        "maxvit_t": 582,
        "mnasnet1_0": 314,
        "mobilenet_v2": 314,
        "mobilenet_v3_large": 312,
        "resnet50": 320,
        "resnet101": 626,
        "resnet152": 932,
        "resnext50_32x4d": 320,
        "resnext101_32x8d": 626,
        "resnext101_64x4d": 626,
        "shufflenet_v2_x1_0": 338,
        "swin_s": 353,
        "swin_b": 353,
        "swin_v2_s": 449,
        "swin_v2_b": 449,
        "vit_l_16": 296,
        "vit_l_32": 296,
        "vit_h_14": 392,
        "wide_resnet50_2": 320,
        "wide_resnet101_2": 626,
        "detection.fasterrcnn_resnet50_fpn": 348,
        "detection.maskrcnn_resnet50_fpn": 360,
        "detection.keypointrcnn_resnet50_fpn": 366,
        "detection.retinanet_resnet50_fpn": 354,
        "segmentation.fcn_resnet50": 326,
        "segmentation.fcn_resnet101": 632,
        "segmentation.deeplabv3_resnet50": 362,
        "segmentation.deeplabv3_resnet101": 668,
    }.items()
}
"""Models by the tensors in their state (parameters and buffers), counted in torchvision 0.29."""
