"""What slowdowns of hosts and speeds of guests are told from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from windlass.share.allocation import Allocation, Candidate
from windlass.share.lib.state import happiness

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Hosts:
    """What h allocations are like, as columns: a guest is compared with all of them in one go.

    Parameters
    ----------
    classes
        Their classes.
    cores
        (h,) how many each has.
    own, memory
        (h,) the parts of its cores' time and of its memory that each uses.
    stage
        (h,) 1 for a parallel stage, 0 for a sequential one, 0.5 where nobody knows.
    slack
        (h,) as of :func:`slack`.
    """

    classes: tuple[str, ...]
    cores: _Floats
    own: _Floats
    memory: _Floats
    stage: _Floats
    slack: _Floats

    @classmethod
    def of(cls, allocations: Sequence[Allocation]) -> Hosts:
        """Columns of some allocations."""
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
    """The time that a host has left over the time that it needs alone; infinity where nobody can tell."""
    alone = host.rate if math.isnan(host.rate_alone) else host.rate_alone
    left = happiness(replace(host, rate=alone))
    return math.inf if math.isnan(left) else left


def use(guest: Candidate) -> float:
    """The part of its cores that a guest uses alone; all of it where nobody has measured that."""
    return 1.0 if math.isnan(guest.cpu) else guest.cpu / 100.0


def host_features(hosts: Hosts, guest: Candidate, quotas: NDArray[np.int64]) -> _Floats:
    """(h, k, 5) by what h hosts are slowed at k quotas: their missing time, and the guest's presence four ways.

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
    """(h, k, 3) what a guest's speed is told from: its part of the time, and the host's presence two ways."""
    given, own = quotas / 100.0, use(guest)
    present = np.minimum(hosts.own[:, None], 1.0 - given)
    part = np.broadcast_to(np.minimum(1.0, given / max(own, 1e-9)), present.shape)
    return np.stack([part, present * part, own * present * part], axis=-1)
