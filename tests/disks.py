"""Disks that are small, and full when a test wants them to be."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

#: Memory that is a disk is handed out in pages, bytes.
PAGE = 4096


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path]:
    """A file system of so many bytes, in a folder that is made for it; skips where none can be mounted."""
    if shutil.which("mount") is None:
        pytest.skip("there is no `mount` here")
    place.mkdir()
    words = ("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place))
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        # What a test that failed has left open there does not keep it from going.
        subprocess.run(("umount", "--lazy", str(place)), check=True)
        place.rmdir()


@contextmanager
def filled(disk: Path, free: int = 0) -> Iterator[None]:
    """A disk on which so many bytes are free for a while, in whole pages."""
    ballast = disk / "ballast"
    found = os.statvfs(disk)
    ballast.write_bytes(bytes(max(0, found.f_bavail * found.f_frsize - free) // PAGE * PAGE))
    try:
        yield
    finally:
        ballast.unlink()


def names(folder: Path) -> set[str]:
    """What is there, but for what fills the disk."""
    return {each.name for each in folder.iterdir()} - {"ballast"}
