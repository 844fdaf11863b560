"""Base classes whose `__call__` the library has written: it runs the method that a project fills in."""

from __future__ import annotations

_PACKAGES = (
    "albumentations.",
    "audiomentations.",
    "imgaug.augmenters.",
    "kornia.augmentation.",
    "monai.transforms.",
    "torch_audiomentations.",
    "torchaudio.transforms.",
    "torchio.transforms.",
    "torchvision.transforms.",
)
_PROCESSORS = ("Processor", "FeatureExtractor")
_PIXELS = ("input_features", "input_values", "pixel_values")
"""What the processors of transformers call what they make of an image or of sound."""
GIVES_DATA = frozenset(f".{name}" for name in _PIXELS)

_MODULE = ("forward",)
_VISION = ("forward", "transform", "_transform", "make_params", "_get_params")
_ALBUMENTATIONS = (
    *("apply", "apply_to_images", "apply_to_mask", "apply_to_masks", "apply_with_params"),
    *("get_params", "get_params_dependent_on_data", "get_params_dependent_on_targets"),
)
_AUDIO = ("apply", "apply_transform", "randomize_parameters")

MADE_OF_CLASSES = frozenset(f"fastai.{name}Transform" for name in ("", "Displayed", "Inplace", "Item", "Rand"))
"""fastai's transforms, which may be named by their class."""

CALLED_METHODS: dict[str, tuple[str, ...]] = {
    "torch.nn.Module": _MODULE,
    "torch.nn.modules.module.Module": _MODULE,
    "lightning.pytorch.LightningModule": _MODULE,
    "torchvision.transforms.v2.Transform": _VISION,
    "torchvision.transforms.Transform": _VISION,
    "torch_geometric.transforms.BaseTransform": _MODULE,
    "torchio.Transform": ("apply_transform",),
    "torchio.transforms.Transform": ("apply_transform",),
    "torchio.transforms.transform.Transform": ("apply_transform",),
    "mmcv.transforms.BaseTransform": ("transform",),
    "mmcv.transforms.base.BaseTransform": ("transform",),
    **dict.fromkeys(
        (
            f"albumentations.{name}"
            for name in ("BasicTransform", "ImageOnlyTransform", "DualTransform", "NoOp", "Transform3D")
        ),
        _ALBUMENTATIONS,
    ),
    **dict.fromkeys(MADE_OF_CLASSES, ("before_call", "encodes")),
    "audiomentations.BaseWaveformTransform": _AUDIO,
    "torch_audiomentations.BaseWaveformTransform": _AUDIO,
}
"""Base class -> the methods that its `__call__` runs; read in torchvision 0.29,
albumentations 2.0, PyG 2.8, torchio 1.2, mmcv 2.2, audiomentations 0.43, torch-audiomentations 0.12 and fastai 2.8."""


def transforms_data(name: str) -> bool:
    """Whether a library's function or class turns an image or sound into data of about its size."""
    if name.startswith("transformers."):
        return any(part.endswith(_PROCESSORS) for part in name.split("."))
    return name.startswith(_PACKAGES)
