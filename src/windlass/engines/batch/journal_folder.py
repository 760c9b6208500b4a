"""The folder of a driver's journal."""

from __future__ import annotations

from pathlib import Path

from windlass.model import InputError


def make_journal_folder(journal: Path, label: str) -> None:
    """Make the folder of a journal, unless it exists.

    Parameters
    ----------
    journal
        The journal's file.
    label
        The name of the setting, for the error.

    Raises
    ------
    InputError
        The folder cannot be made.
    """
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{label}: {journal.parent}: {error.strerror}") from error
