"""Several files that are added to a folder together; other files in the folder stay."""

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
    """Check in advance that files can be written to a folder, which need not exist yet.

    Parameters
    ----------
    option
        The option that names the folder, for the message.
    folder
        The folder.

    Raises
    ------
    InputError
        The path is a file, or the folder cannot be written to or created.

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
def add_to_folder(folder: Path, option: str) -> Iterator[Path]:
    """Yield an empty temporary folder, whose files are moved into the target folder at the end.

    Each file replaces the existing one of its name. All files are on the disk before the first is moved, so a full disk
    changes none of them. If the process is killed between two renames, some files are new and the others unchanged.

    Parameters
    ----------
    folder
        The target folder, created if necessary. Files with other names stay.
    option
        The option that names the folder, for messages.

    Raises
    ------
    InputError
        The folder cannot be written; its files are unchanged.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with add_to_folder(Path(folder) / "out", "--out") as fresh:
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
        # The original error names the temporary folder, which the user does not know.
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
