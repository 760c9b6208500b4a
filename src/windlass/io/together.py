"""A few files that go into a folder together, where a folder may hold others that stay."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windlass.io.files import reason, sync_folder
from windlass.model import InputError


def check_folder(option: str, folder: Path) -> None:
    """Check before the work that files can be written to a folder, which need not exist yet.

    Parameters
    ----------
    option
        How the user named it, for the message.
    folder
        The folder.

    Raises
    ------
    InputError
        It is a file, or it cannot be written or made.

    Examples
    --------
    >>> check_folder("--out", Path("/dev/null"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: --out: /dev/null is a file, expected a folder
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option}: {folder} is a file, expected a folder")
    place = Path(os.path.realpath(folder))
    there = next(each for each in (place, *place.parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{option}: {there} cannot be written")


@contextmanager
def added_to(folder: Path, option: str) -> Iterator[Path]:
    """Yield an empty folder, whose files are moved into another one at the end, all of them or none.

    Each file replaces the one of its name. All are on the disk by then, so that a full disk changes none. A process
    that is killed between two renames leaves the first file new and the second unchanged.

    Parameters
    ----------
    folder
        Where they go; it is made. What is there under other names stays.
    option
        How the user named it, for messages.

    Raises
    ------
    InputError
        It cannot be written; what was there before is there still.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with added_to(Path(folder) / "out", "--out") as fresh:
    ...         (fresh / "a").touch()
    ...     [each.name for each in (Path(folder) / "out").iterdir()]
    ['a']
    """
    fresh: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".", suffix=".new", dir=folder))
        yield fresh
        written = sorted(fresh.iterdir())
        for each in written:
            _sync(each)
        for each in written:
            os.replace(each, folder / each.name)
        sync_folder(folder)
    except (OSError, InputError) as error:
        # The error of a write names the temporary folder, which the user does not know.
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        raise InputError(f"{option}: {folder} cannot be written: {reason(cause)}") from error
    finally:
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
