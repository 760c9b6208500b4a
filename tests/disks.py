"""Small file systems that a test can fill."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

#: A memory file system allocates pages of this size (bytes).
PAGE = 4096


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path]:
    """Mount a file system of `size` bytes in a new folder; skip the test if mounting is not possible."""
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
        # Lazy, because a failed test may have left files open.
        subprocess.run(("umount", "--lazy", str(place)), check=True)
        place.rmdir()


@contextmanager
def filled(disk: Path, free: int = 0) -> Iterator[None]:
    """Fill a disk so that only `free` bytes remain, rounded to whole pages."""
    ballast = disk / "ballast"
    found = os.statvfs(disk)
    ballast.write_bytes(bytes(max(0, found.f_bavail * found.f_frsize - free) // PAGE * PAGE))
    try:
        yield
    finally:
        ballast.unlink()


def names(folder: Path) -> set[str]:
    """Return the names of the files in a folder, without the ballast."""
    return {each.name for each in folder.iterdir()} - {"ballast"}
