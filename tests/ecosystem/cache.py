"""The folder where wheels are kept, each checked by its hash and unpacked once. Nothing of them is ever run."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from ecosystem.pins import Pin

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "DLLINT_ECOSYSTEM_CACHE"
LARGEST = 500_000_000
"""Bytes that a wheel may hold when unpacked."""
# Wheels for one interpreter and one platform, whichever are running here: the same files everywhere, and no setup.py.
_CHOICE = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", "--implementation=cp", "--abi=cp311"]
_PLATFORMS = ["--platform=manylinux_2_28_x86_64", "--platform=manylinux2014_x86_64", "--platform=manylinux1_x86_64"]


class CacheError(Exception):
    """A wheel that cannot be had, or is not what it should be."""


def default_folder() -> Path:
    """Where the cache is, if no option says so."""
    return Path(os.environ.get(VARIABLE) or ROOT / ".cache" / "ecosystem")


def unpacked(pins: Sequence[Pin], cache: Path) -> dict[str, Path]:
    """Name -> folder with the files of that package. Downloads what is not there yet."""
    folders = {pin.name: cache / "unpacked" / f"{pin.name}-{pin.version}" for pin in pins}
    missing = [pin for pin in pins if not folders[pin.name].exists()]
    wheels = cache / "wheels"
    download([pin for pin in missing if _wheel(pin, wheels) is None], wheels)
    for pin in missing:
        wheel = _wheel(pin, wheels)
        if wheel is None:
            raise CacheError(f"no wheel in {wheels} is {pin.requirement}")
        _unpack(wheel, folders[pin.name])
    return folders


def download(pins: Iterable[Pin], wheels: Path) -> None:
    """Let pip fetch these wheels, from the index that it is set up for, and compare their hashes."""
    lines = [pin.requirement for pin in pins]
    if not lines:
        return
    wheels.mkdir(parents=True, exist_ok=True)
    print(f"downloading {len(lines)} packages to {wheels}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="dllint-") as name:
        wanted = Path(name, "pins.txt")
        wanted.write_text("\n".join(lines), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", *_CHOICE, *_PLATFORMS]
        run = subprocess.run([*pip, "--dest", wheels, "-r", wanted], capture_output=True, text=True)
    if run.returncode:
        raise CacheError(f"pip could not download what is pinned:\n{run.stderr.strip()}")


def _wheel(pin: Pin, wheels: Path) -> Path | None:
    """The very wheel of the pin, if the cache has it."""
    fitting = (path for path in sorted(wheels.glob("*.whl")) if _is_of(path.name, pin))
    return next((path for path in fitting if hash_of(path) == pin.sha256), None)


def _is_of(file_name: str, pin: Pin) -> bool:
    """Does a wheel of this name belong to the pin? Wheels write `_` where the index writes `-`."""
    name, version, *_ = file_name.split("-")
    return (re.sub(r"[-_.]+", "-", name).lower(), version) == (pin.name, pin.version)


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unpack(wheel: Path, folder: Path) -> None:
    """Unpack beside the target and rename: a run that is interrupted leaves no half of a package."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory(dir=folder.parent) as name:
        refuse_what_is_unsafe(archive.infolist(), wheel.name)
        fresh = Path(name, "package")
        archive.extractall(fresh)
        # Marks the root of a project: neither the settings nor the .gitignore above the cache have a say.
        (fresh / ".git").mkdir(exist_ok=True)
        fresh.rename(folder)


def refuse_what_is_unsafe(members: Sequence[zipfile.ZipInfo], name: str) -> None:
    """Raise CacheError on a path that leads out of the folder, and on more bytes than a package has."""
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise CacheError(f"{name} holds the path {member.filename!r}")
    if sum(member.file_size for member in members) > LARGEST:
        raise CacheError(f"{name} is larger than {LARGEST} bytes when unpacked")
