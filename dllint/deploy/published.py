"""Images that a project publishes and then runs by name: `ghcr.io/lab/plants` of the project `plants`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.images import Image
    from dllint.deploy.plan import Plan

_NAME = pattern(r"^[ \t]*name[ \t]*=[ \t]*[\"']([\w.-]+)[\"']", re.MULTILINE)
_CLONE = pattern(r"\bgit clone\b[^\n&;|]*?[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?(?=[\s\"'&;|]|$)")
_BUILD_FOLDERS = frozenset({"docker", "build", "container", "containers", "images", "deploy", "ci"})
"""What folders are called that hold what an image is built from, whatever is in it."""
_ALL = (".", "./")
_COMMON = frozenset(
    "app apps code home opt project repo root source src work workdir workspace".split()  # noqa: SIM905 - reads better
)
"""What the folder of an image is called that holds any project."""
_FEW = 3
"""Letters that a name has at least, if it is to tell anything."""


def published_as(tag: str, images: Iterable[Image], plan: Plan) -> Image | None:
    """The one image of the project's Dockerfiles that is called as a name in a registry says; None for a name of one
    part, which docker looks for on the machine, and where no image or several are called so."""
    path, _, last = tag.partition("@")[0].rpartition("/")
    own = _plain(last.partition(":")[0])
    if not path or "$" in tag or not own:
        return None
    wanted = {own, _plain(path.rpartition("/")[2]) + own}  # `plants-train`, `plants/train`, `owner/plants`
    project = plan.shared(_project_names)
    found = [image for image in images if not wanted.isdisjoint(_names_of(image, project, plan))]
    return found[0] if len(found) == 1 else None


def _names_of(image: Image, project: frozenset[str], plan: Plan) -> set[str]:
    """What an image may be called: the project, as it is called in the image, too, and the label of its Dockerfile."""
    held = {_plain("".join(owner_and_name)) for run in image.runs for owner_and_name in _CLONE.findall(run.text)}
    held |= {_plain(os.path.basename(copy.target.rstrip("/"))) for copy in image.copies if copy.source in _ALL}
    names = {name for name in project | (held - _COMMON) if len(name) >= _FEW}
    label = label_of(image, plan)
    if not label:
        return names
    return {made for name in names for made in (name + label, label + name)}


def label_of(image: Image, plan: Plan) -> str:
    """What tells a Dockerfile from others: `train` of `Dockerfile.train`, `train.Dockerfile` and `train/Dockerfile`."""
    words = re.split(r"[.\-_]", image.file.name.lower())
    parts = [word for word in words if word not in ("dockerfile", "containerfile")]
    if parts:
        return _plain("".join(parts))
    folder = os.path.relpath(image.file.folder, plan.root)
    name = os.path.basename(folder)
    return "" if folder == "." or name.lower() in _BUILD_FOLDERS else _plain(name)


def _project_names(plan: Plan) -> frozenset[str]:
    return frozenset(map(_plain, (os.path.basename(plan.root.rstrip("/\\")), *_declared(plan))))


def _declared(plan: Plan) -> Iterator[str]:
    """The names that pyproject.toml and setup.py give the project."""
    for file, before in (("pyproject.toml", "[project]"), ("pyproject.toml", "[tool.poetry]"), ("setup.py", "setup(")):
        text = plan.read_aside(file, plan.root) or ""
        found = _NAME.search(text, text.index(before)) if before in text else None
        if found is not None:
            yield found[1]


def _plain(name: str) -> str:
    """The letters and digits of a name alone: `EveryThing_trainer` and `every-thing-trainer` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
