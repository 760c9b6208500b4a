"""Features from which slowdowns of hosts and speeds of guests are predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.share.allocation import Allocation, Candidate
from windlass.share.lib.state import happiness

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Hosts:
    """Columns of h allocations, so that a guest is compared with all of them at once.

    Parameters
    ----------
    classes
        Job classes.
    cores
        (h,) number of cores.
    own, memory
        (h,) fractions of the cores' time and of the memory that each job uses.
    stage
        (h,) 1 for a parallel stage, 0 for a sequential one, 0.5 if unknown.
    slack
        (h,) see :func:`slack`.
    """

    classes: tuple[str, ...]
    cores: _Floats
    own: _Floats
    memory: _Floats
    stage: _Floats
    slack: _Floats

    @classmethod
    def of(cls, allocations: Sequence[Allocation]) -> Hosts:
        """Build the columns of some allocations."""
        rows = [
            (
                host.cores,
                host.cpu / 100.0,
                host.memory_used / 100.0,
                0.5 if host.parallel is None else float(host.parallel),
                slack(host),
            )
            for host in allocations
        ]
        columns = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        return cls(tuple(host.job_class for host in allocations), *columns)


def slack(host: Allocation) -> float:
    """Return the host's remaining time divided by the time it needs alone; infinity if unknown."""
    alone = host.rate if math.isnan(host.rate_alone) else host.rate_alone
    left = happiness(host, alone)
    return math.inf if math.isnan(left) else left


def use(guest: Candidate) -> float:
    """Return the fraction of its cores that a guest uses alone; 1 if it was never measured."""
    return 1.0 if math.isnan(guest.cpu) else guest.cpu / 100.0


def host_features(hosts: Hosts, guest: Candidate, quotas: NDArray[np.int64]) -> _Floats:
    """Return features (h, k, 5) of the slowdown of h hosts at k quotas: missing time, and four of the guest's presence.

    >>> host = Allocation(1, "montage", 8, 8e9, 600.0, 0.0, cpu=75.0, memory_used=50.0, parallel=True)
    >>> guest = Candidate(2, "blast", 8, 1e9, 60.0, cpu=20.0)
    >>> host_features(Hosts.of([host]), guest, np.array([50]))[0, 0].tolist()
    [0.5, 0.2, 0.15000000000000002, 0.1, 0.2]
    """
    given, own = quotas / 100.0, hosts.own[:, None]
    missing = np.maximum(1.0, own / (1.0 - given)) - 1.0
    present = np.broadcast_to(np.minimum(use(guest), given), missing.shape)
    by = (own, hosts.memory[:, None], hosts.stage[:, None])
    return np.stack([missing, present, *(each * present for each in by)], axis=-1)


def guest_features(hosts: Hosts, guest: Candidate, quotas: NDArray[np.int64]) -> _Floats:
    """Return features (h, k, 3) of a guest's speed: its part of the time, and two of the host's presence."""
    given, own = quotas / 100.0, use(guest)
    present = np.minimum(hosts.own[:, None], 1.0 - given)
    part = np.broadcast_to(np.minimum(1.0, given / max(own, 1e-9)), present.shape)
    return np.stack([part, present * part, own * present * part], axis=-1)
