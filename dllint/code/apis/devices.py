"""Library calls that need or use a device."""

from __future__ import annotations

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

JOINS = frozenset(
    [
        *(f"torch.{name}" for name in ("stack", "cat", "concat", "concatenate", "vstack", "hstack", "as_tensor")),
        "torch.nn.utils.rnn.pad_sequence",
        "torch.nn.functional.pad",
    ]
)
"""Functions whose result is on the device of what they are given."""

MOVING_TRANSFORMS = frozenset({"monai.transforms.ToDevice", "monai.transforms.ToDeviced", "monai.transforms.ToDeviceD"})
"""Library transforms that move a sample to their `device` argument."""

MODELS_ON_DEVICE = frozenset(
    {
        "sentence_transformers.SentenceTransformer",
        "sentence_transformers.CrossEncoder",
        "whisper.load_model",
        "faster_whisper.WhisperModel",
        "open_clip.create_model",
        "facenet_pytorch.MTCNN",
        "facenet_pytorch.InceptionResnetV1",
        "transformers.pipeline",
    }
)
"""What builds a model of a library on its `device` argument (their documentation)."""

TAKE_NO_CUDA = frozenset(
    [
        *(
            f"numpy.{name}"
            for name in ("array", "asarray", "ascontiguousarray", "stack", "concatenate", "vstack", "hstack")
        ),
        "torch.from_numpy",
        "PIL.Image.fromarray",
    ]
)
"""Functions that raise for a CUDA tensor in any process: who calls them has arrays or CPU tensors."""
