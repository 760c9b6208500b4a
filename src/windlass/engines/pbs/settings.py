"""Settings of a driver for PBS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from windlass.drive import Named
from windlass.engines.pbs.client import PbsClient
from windlass.engines.pbs.system import PbsOptions
from windlass.model.state_folder import state_folder

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PbsDriving:
    """The settings of a driver.

    Parameters
    ----------
    policies
        Policies by the name of their decision; only ``order`` is used.
    journal
        The journal's file.
    options
        The queue, and how PBS is polled.
    keep_held
        True to leave waiting jobs held when the driver stops; False to release them to PBS's scheduler.
    forgets
        True to forget ended jobs, as a service must; the outcome then lacks most of them.
    """

    policies: Mapping[str, Named]
    journal: Path
    options: PbsOptions
    keep_held: bool = False
    forgets: bool = False


def queue_name(client: PbsClient, queue: str) -> str:
    """Return the identity of a queue: the name of its server, and its own."""
    return f"{client.nodes().server}:{queue}"


def default_journal(name: str) -> Path:
    """Return the default path of a queue's journal, in the user's state folder."""
    plain = "".join(sign if sign.isalnum() else "-" for sign in name)
    return state_folder() / f"pbs-{plain}.journal"
