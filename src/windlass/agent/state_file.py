"""The agent's state file, which is complete at all times, even if its writer is killed or the machine stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from windlass.agent.envelope import Envelope, is_agent_file, opened
from windlass.io import write_bytes
from windlass.model import InputError

_Found = TypeVar("_Found")


class Keeper:
    """Loads and saves learned state.

    Parameters
    ----------
    path
        The file; None to save nothing.

    Examples
    --------
    >>> Keeper(None).load(lambda envelope: envelope, print) is None
    True
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def load(self, make: Callable[[Envelope], _Found], notify: Callable[[str], None]) -> _Found | None:
        """Load the file; return None if it does not exist or its state is unusable.

        An unusable file is reported and renamed to ``NAME.refused``, and learning starts over.

        Parameters
        ----------
        make
            Makes the result from an envelope; raises InputError if it cannot.
        notify
            Called with a message to the user.

        Raises
        ------
        InputError
            The file belongs to another program and is left unchanged, or it cannot be read or renamed.
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
            if not is_agent_file(data):
                raise InputError(f"{self.path}: {error}; the file is left unchanged") from error
            aside = self.path.with_name(self.path.name + ".refused")
            _replace(self.path, aside)
            notify(f"{self.path}: {error}; renamed to {aside.name}, learning starts over")
            return None

    def save(self, envelope: Envelope) -> None:
        """Write the state to the file and the disk.

        Raises
        ------
        InputError
            It cannot be written; the previous content is kept.
        """
        if self.path is not None:
            write_bytes(envelope.seal(), self.path)


def _replace(path: Path, by: Path) -> None:
    try:
        os.replace(path, by)
    except OSError as error:
        raise InputError(f"{path}: cannot be moved to {by.name}: {error.strerror}") from error
