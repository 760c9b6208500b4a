"""How Slurm is driven: by which policies, and under which names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from windlass.drive import Named
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.system import SlurmOptions

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Driving:
    """How Slurm is driven.

    Parameters
    ----------
    policies
        By the name of the decision. ``order`` must be among them.
    journal
        The file of decisions.
    options
        How Slurm is looked at.
    keep_held
        Whether jobs that still wait stay held when the driver stops; Slurm starts them by itself otherwise.
    checkpoint
        Where ``share`` is among the policies: seconds between two measurements of all that runs and may share.
    """

    policies: Mapping[str, Named]
    journal: Path
    options: SlurmOptions
    keep_held: bool = False
    checkpoint: float = 5.0


def cluster_name(client: Client) -> str:
    """What names a cluster: its name, and where its controller listens."""
    return ":".join(client.setting(name) for name in ("ClusterName", "SlurmctldHost[0]", "SlurmctldPort"))


def default_journal(cluster: str) -> Path:
    """A cluster's journal where none is named: in the user's folder for state."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = "".join(sign if sign.isalnum() else "-" for sign in cluster)
    return Path(home) / "windlass" / f"slurm-{name}.journal"


def group_name(cluster: str) -> str:
    """The control group of a cluster's quotas: drivers of two clusters on one host have a group each.

    >>> group_name("windlass:here:7817")
    'windlass-windlass-here-7817'
    """
    return f"windlass-{re.sub(r'[^A-Za-z0-9]+', '-', cluster).strip('-')}"
