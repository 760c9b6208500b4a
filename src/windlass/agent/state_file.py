"""A file that is whole at any instant: also when its writer is killed, or the machine stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from windlass.agent.envelope import Envelope, is_ours, opened
from windlass.io import write_bytes
from windlass.model import InputError

_Found = TypeVar("_Found")


class Keeper:
    """Where an agent keeps what it has learned.

    Parameters
    ----------
    path
        The file; None to keep nothing.

    Examples
    --------
    >>> Keeper(None).load(lambda envelope: envelope, print) is None
    True
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def load(self, make: Callable[[Envelope], _Found], tell: Callable[[str], None]) -> _Found | None:
        """What the file holds; None where there is none yet, or what it holds cannot be used any more.

        Such a file is told of, and put aside as ``NAME.refused``: learning begins anew.

        Parameters
        ----------
        make
            Makes what is wanted of an envelope; raises InputError where it cannot.
        tell
            Says a line to the user.

        Raises
        ------
        InputError
            The file is somebody else's, or cannot be read or moved: then it is left alone.
        """
        if self.path is None:
            return None
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        try:
            return make(opened(data))
        except InputError as error:
            if not is_ours(data):
                raise InputError(f"{self.path}: {error}; it is left alone") from error
            aside = self.path.with_name(self.path.name + ".refused")
            _replace(self.path, aside)
            tell(f"{self.path}: {error}; it is put aside as {aside.name}, and learning begins anew")
            return None

    def save(self, envelope: Envelope) -> None:
        """Have this in the file, and on the disk.

        Raises
        ------
        InputError
            It cannot be written; what was there before is there still.
        """
        if self.path is not None:
            write_bytes(envelope.seal(), self.path)


def _replace(path: Path, by: Path) -> None:
    try:
        os.replace(path, by)
    except OSError as error:
        raise InputError(f"{path}: cannot be moved to {by.name}: {error.strerror}") from error
