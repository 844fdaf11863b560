"""The texts that every file of a project is searched for, whatever there is to find in it."""

from __future__ import annotations

_RECIPE = b"_dataloader = dict("
_LOADERS = (b"DataLoader", b"dataloader_", b"torch_geometric.loader", b"WebLoader", b".dataloaders(", _RECIPE)
DATA = frozenset((b"Dataset", b"num_workers", b"set_start_method", *_LOADERS))
"""A file that holds none of these texts, defines no dataset, and that nobody's worker code leads to, cannot matter."""
OF_A_LOADER = (b"oader.", b"oaders[")
"""What stands before an attribute of something that is called a loader."""
DATA_PACKAGE = b"torch.utils.data"
"""What imports of datasets and loaders name, by whichever of their names: `from torch.utils.data.dataset import *`."""
NUL = b"\0"
"""Stands in no Python that can be read: text in UTF-16 is full of them."""
UNKNOWN_ENCODING = b"\0coding"
"""Stands for a file that says of itself to be in an encoding which there is not."""
FORK = b"fork"
FORKED_RANKS = (b"notebook_launcher", b"start_processes", b"ddp_notebook")
"""What starts ranks by forking, whether it says "fork" or not."""
CONTAINERS = (b"docker", b"podman", b"metaflow", b"kfp", b"kubernetes")
"""What Python code starts containers by."""

GATES: dict[bytes, tuple[bytes, ...]] = {
    b"Dataset": (),
    b"num_workers": (),
    b"oader": (*_LOADERS, *OF_A_LOADER),
    b"set_s": (b"set_start_method", b"set_sharing_strategy"),
    DATA_PACKAGE: (),
    NUL: (),
    FORK: (),
    b"start_processes": (),
    b"notebook": (b"notebook_launcher", b"ddp_notebook"),
    **dict.fromkeys(CONTAINERS, ()),
}
"""Each key costs a search through all bytes of a project: a text belongs here if it is asked of every file anyway. The
texts behind a key all hold it, and are searched for where it is found."""
WATCHED = frozenset(GATES).union((UNKNOWN_ENCODING,), *GATES.values())
"""All texts that are known to stand in a file, or not to."""
