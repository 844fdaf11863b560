"""Library calls that speak to the other ranks of a distributed run, or ask which rank this is."""

from __future__ import annotations

_TORCH_COLLECTIVES = (
    "barrier",
    "monitored_barrier",
    "all_reduce",
    "all_reduce_coalesced",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "recv",
    "isend",
    "irecv",
    "send_object_list",
    "recv_object_list",
    "batch_isend_irecv",
    "new_group",
    "new_subgroups",
    "init_process_group",
    "init_device_mesh",
    "destroy_process_group",
)
_MMENGINE_COLLECTIVES = (
    "barrier",
    "all_reduce",
    "all_reduce_dict",
    "all_reduce_params",
    "all_gather",
    "all_gather_object",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "sync_random_seed",
    "collect_results",
)
_DETECTRON_COLLECTIVES = ("synchronize", "all_gather", "gather", "shared_random_seed", "reduce_dict")

COLLECTIVES = frozenset(
    [
        *(f"torch.distributed.{name}" for name in _TORCH_COLLECTIVES),
        *(f"mmengine.dist.{name}" for name in _MMENGINE_COLLECTIVES),
        *(f"detectron2.utils.comm.{name}" for name in _DETECTRON_COLLECTIVES),
        *(f"torch.distributed.nn.{name}" for name in ("all_reduce", "all_gather", "broadcast", "gather")),
        *(f"accelerate.utils.{name}" for name in ("gather", "gather_object", "broadcast", "wait_for_everyone")),
    ]
)
"""Calls that wait for all ranks, or make a group of them. Measured with gloo: barrier, all_reduce and
broadcast_object_list hang in a forked worker, past the time-out of the group too; without a group they raise."""

RANK_QUERIES = frozenset(
    [
        *(f"torch.distributed.{name}" for name in ("get_rank", "get_world_size")),
        *(f"mmengine.dist.{name}" for name in ("get_rank", "get_world_size", "get_dist_info")),
        *(f"mmcv.runner.{name}" for name in ("get_dist_info",)),
        *(f"detectron2.utils.comm.{name}" for name in ("get_rank", "get_world_size")),
    ]
)
"""Calls that ask the process group of this process who it is: a spawned worker has none."""

GROUP_QUERIES = frozenset({"torch.distributed.is_initialized", "mmengine.dist.is_distributed"})
"""Calls that ask whether there is a process group."""
