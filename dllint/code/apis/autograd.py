"""Library calls and methods by which a tensor comes to carry a graph of gradients, keeps it, or is sparse."""

from __future__ import annotations

from dllint.code.apis.arrays import ALLOCATES, TENSOR_VIEWS

TRAINABLE_LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Linear",
        "LazyLinear",
        "Bilinear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose1d",
        "ConvTranspose2d",
        "ConvTranspose3d",
        "Embedding",
        "EmbeddingBag",
        "RNN",
        "LSTM",
        "GRU",
        "RNNCell",
        "LSTMCell",
        "GRUCell",
        "LayerNorm",
        "GroupNorm",
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "PReLU",
        "MultiheadAttention",
        "Transformer",
        "TransformerEncoder",
        "TransformerEncoderLayer",
        "TransformerDecoder",
        "TransformerDecoderLayer",
    )
)
"""Modules with parameters, whose result needs a gradient. Those without (activations, pooling, most transforms) do not
make one."""

MODULE_CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList"})

GIVES_MODULE = frozenset(
    f".{name}()" for name in ("eval", "train", "to", "cpu", "cuda", "float", "double", "half", "bfloat16")
)
"""Methods of a module that give the module."""

FORWARDS = frozenset({"()", ".forward()", ".encode_image()", ".encode_text()", ".get_image_features()"})
"""What runs a module."""

KEEPS_GRAD = (
    (ALLOCATES | TENSOR_VIEWS)
    - frozenset({".data", ".detach()", ".long()", ".int()", ".bool()", ".byte()", ".argmax()", ".type()"})
) | frozenset(
    [
        ".relu()",
        ".sigmoid()",
        ".tanh()",
        ".log_softmax()",
        ".norm()",
        ".pow()",
        ".matmul()",
        ".cuda()",
        ".requires_grad_()",
        ".logits",
        ".last_hidden_state",
        ".pooler_output",
        ".hidden_states",
        ".image_embeds",
        ".text_embeds",
        ".loss",
    ]
)
"""Steps after which a tensor, or the output of a model that holds it, still carries its graph."""

KEEPS_GRAD_CALLS = frozenset(
    [
        *(
            f"torch.{name}"
            for name in (
                "stack",
                "cat",
                "concat",
                "hstack",
                "vstack",
                "squeeze",
                "unsqueeze",
                "flatten",
                "mean",
                "sum",
                "relu",
                "sigmoid",
                "softmax",
                "log_softmax",
                "tanh",
                "exp",
                "log",
                "abs",
                "matmul",
                "mul",
                "add",
                "clamp",
                "reshape",
                "transpose",
                "permute",
            )
        ),
        *(
            f"torch.nn.functional.{name}"
            for name in (
                "relu",
                "gelu",
                "normalize",
                "softmax",
                "log_softmax",
                "sigmoid",
                "tanh",
                "dropout",
                "pad",
                "interpolate",
                "layer_norm",
                "avg_pool2d",
                "max_pool2d",
                "adaptive_avg_pool2d",
            )
        ),
        "torch.nn.utils.rnn.pad_sequence",
    ]
)
"""Functions whose result carries the graph of what they are given."""

MAKES_SPARSE = frozenset(
    [
        *(f"torch.sparse_{layout}_tensor" for layout in ("coo", "csr", "csc", "bsr", "bsc", "compressed")),
        *(f"torch.sparse.{name}" for name in ("FloatTensor", "DoubleTensor", "LongTensor", "mm", "spdiags")),
    ]
)
MAKES_SPARSE_METHODS = frozenset(f".to_sparse{layout}()" for layout in ("", "_coo", "_csr", "_csc", "_bsr", "_bsc"))
KEEPS_SPARSE = frozenset(
    f".{name}()" for name in ("coalesce", "t", "transpose", "float", "double", "half", "to", "cpu", "clone", "detach")
)
"""Methods of a sparse tensor that give a sparse one. Batches of them are refused by the default collate (measured; with
a custom one they reach the main process on torch 2.13)."""
