"""The texts that every file of a project is searched for, whatever there is to find in it."""

from __future__ import annotations

DATA = (b"DataLoader", b"Dataset", b"num_workers", b"set_start_method")
"""A file that holds none of these texts nor one of LOADERS, defines no dataset, and that nobody's worker code leads to,
cannot matter."""
LOADERS = (b"dataloader_", b"torch_geometric.loader", b"WebLoader")
"""Further texts of loaders. They are rare, and all hold LOADER: searched for where that is found."""
LOADER = b"oader"
FORK = b"fork"
FORKED_RANKS = (b"notebook_launcher", b"start_processes", b"ddp_notebook")
"""What starts ranks by forking, whether it says "fork" or not."""
CONTAINERS = (b"docker", b"podman", b"metaflow", b"kfp")
"""What Python code starts containers by."""

WATCHED = (*DATA, LOADER, FORK, *FORKED_RANKS, *CONTAINERS, b"set_sharing_strategy")
"""Each costs a search through all bytes of a project: a text belongs here if it is asked of every file anyway."""
