"""What slowdowns of hosts and speeds of guests are told from."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from windlass.share.allocation import Allocation, Candidate
from windlass.share.lib.state import happiness

_Floats = NDArray[np.float64]


def slack(host: Allocation) -> float:
    """The time that a host has left over the time that it needs alone; infinity where nobody can tell."""
    alone = host.rate if math.isnan(host.rate_alone) else host.rate_alone
    left = happiness(replace(host, rate=alone))
    return math.inf if math.isnan(left) else left


def use(guest: Candidate) -> float:
    """The part of its cores that a guest uses alone; all of it where nobody has measured that."""
    return 1.0 if math.isnan(guest.cpu) else guest.cpu / 100.0


def host_features(host: Allocation, guest: Candidate, quotas: NDArray[np.int64]) -> _Floats:
    """(k, 5) by what a host is slowed at k quotas: its missing time, and the guest's presence four ways."""
    given, own = quotas / 100.0, host.cpu / 100.0
    missing = np.maximum(1.0, own / (1.0 - given)) - 1.0
    present = np.minimum(use(guest), given)
    stage = 0.5 if host.parallel is None else float(host.parallel)
    return np.stack(
        [missing, present, own * present, host.memory_used / 100.0 * present, stage * present], axis=1
    )


def guest_features(host: Allocation, guest: Candidate, quotas: NDArray[np.int64]) -> _Floats:
    """(k, 3) what a guest's speed is told from: its part of the time, and the host's presence two ways."""
    given, own = quotas / 100.0, use(guest)
    part = np.minimum(1.0, given / max(own, 1e-9))
    present = np.minimum(host.cpu / 100.0, 1.0 - given)
    return np.stack([part, present * part, own * present * part], axis=1)
