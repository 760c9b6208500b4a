"""Settings of a driver for Slurm: its policies, and the names of its files and cgroups."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from windlass.drive import Named
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.system import SlurmOptions
from windlass.model.state_folder import state_folder

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Driving:
    """The settings of a driver.

    Parameters
    ----------
    policies
        Policies by the name of their decision. ``order`` is required.
    journal
        The journal's file.
    options
        How Slurm is polled.
    keep_held
        True to leave waiting jobs held when the driver stops; False to release them to Slurm's scheduler.
    checkpoint
        With a ``share`` policy: interval between measurements of running jobs that may share, s.
    forgets
        True to forget ended jobs, as a service must; the outcome then lacks most of them.
    """

    policies: Mapping[str, Named]
    journal: Path
    options: SlurmOptions
    keep_held: bool = False
    checkpoint: float = 5.0
    forgets: bool = False


def cluster_name(client: Client) -> str:
    """Return the identity of a cluster: its name, and the address of its controller."""
    return ":".join(client.setting(name) for name in ("ClusterName", "SlurmctldHost[0]", "SlurmctldPort"))


def default_journal(cluster: str) -> Path:
    """Return the default path of a cluster's journal, in the user's state folder."""
    name = "".join(sign if sign.isalnum() else "-" for sign in cluster)
    return state_folder() / f"slurm-{name}.journal"


def group_name(cluster: str) -> str:
    """Return the name of the cgroup of a cluster's quotas, which is unique on the host.

    >>> group_name("windlass:here:7817")
    'windlass-windlass-here-7817'
    """
    return f"windlass-{re.sub(r'[^A-Za-z0-9]+', '-', cluster).strip('-')}"
