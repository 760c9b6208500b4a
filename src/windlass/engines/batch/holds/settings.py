"""Settings of a driver that releases held jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from windlass.drive import Named
from windlass.model.state_folder import state_folder

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HoldOptions:
    """How a driver polls its system.

    Parameters
    ----------
    pace
        Polling interval while jobs of the queue wait or run, s.
    until_idle
        True to end when no such job is left; False to run as a service.
    dry_run
        True to change nothing.
    """

    pace: float = 1.0
    until_idle: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class HoldDriving:
    """The settings of a driver.

    Parameters
    ----------
    policies
        Policies by the name of their decision; only ``order`` is used.
    journal
        The journal's file.
    options
        How the system is polled.
    keep_held
        True to leave waiting jobs held when the driver stops; False to release them to the system's scheduler.
    forgets
        True to forget ended jobs, as a service must; the outcome then lacks most of them.
    """

    policies: Mapping[str, Named]
    journal: Path
    options: HoldOptions
    keep_held: bool = False
    forgets: bool = False


def default_journal(command: str, identity: str) -> Path:
    """Return the default path of a queue's journal, in the user's state folder."""
    plain = "".join(sign if sign.isalnum() else "-" for sign in identity)
    return state_folder() / f"{command}-{plain}.journal"
