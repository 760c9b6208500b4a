"""The largest quota that will do, for each of some hosts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.share.allocation import Candidate
from windlass.share.lib.effects import Effects
from windlass.share.lib.features import Hosts, guest_features, host_features, use
from windlass.share.lib.first_fit import QuotaChoice
from windlass.share.lib.regress import LinePosterior

_Floats = NDArray[np.float64]
#: A host keeps so many times what it needs of its walltime: tasks are not all alike.
_MARGIN = 1.1


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """Which quotas will do for one guest, of h hosts and k quotas.

    Parameters
    ----------
    actions
        The quotas, percent, ascending.
    good
        (h, k) whether each will do.
    worst, faster
        (h, k) how much a host may be slowed, and the part of its speed that the guest has.
    by_time
        (h, k) how much a host is slowed by the time that it lacks alone.

    Examples
    --------
    >>> numbers = np.array([[0.01, 0.05, 0.2]])
    >>> Largest((10, 20, 30), numbers < 0.1, numbers, 4 * numbers, numbers).of(0)
    QuotaChoice(quota=20, why='host at most 5.0 % slower, guest at 20 % of its speed', note=(30.0,))
    """

    actions: tuple[int, ...]
    good: NDArray[np.bool_]
    worst: _Floats
    faster: _Floats
    by_time: _Floats

    def of(self, row: int) -> QuotaChoice | None:
        """The largest that will do for one host, if there is one; noted beside it is the largest that was looked at."""
        good = np.flatnonzero(self.good[row])
        if not len(good):
            return None
        at = int(good[-1])
        worst, faster = 100.0 * self.worst[row, at], 100.0 * self.faster[row, at]
        why = f"host at most {worst:.1f} % slower, guest at {faster:.0f} % of its speed"
        return QuotaChoice(self.actions[at], why, (float(self.actions[-1]),))


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What is believed of slowdowns of hosts and of speeds of guests, and how much of it is risked.

    Parameters
    ----------
    slower, faster
        The lines of both.
    effects
        What pairs of classes have of their own.
    care
        How many standard deviations must be within the budget.
    budget
        How much longer a host may take, as a part.
    """

    slower: LinePosterior
    faster: LinePosterior
    effects: Effects
    care: float
    budget: float

    def largest(
        self, hosts: Hosts, guest: Candidate, actions: tuple[int, ...], worth: float | None = None
    ) -> Largest:
        """Quotas that keep hosts within the budget and in their walltimes; some for h hosts and one guest.

        With ``worth``, the guest has at least that part of its speed, too, and keeps more cores busy than the host
        loses: what is asked of one that starts.
        """
        quotas = np.array(actions)
        features = host_features(hosts, guest, quotas)
        slower, unsure = self.slower.at(features)
        slopes = [self.effects.slope(host, guest.job_class) for host in hosts.classes]
        slower = slower + np.array(slopes).reshape(-1, 1) * features[..., 1]
        faster, _ = self.faster.at(guest_features(hosts, guest, quotas))
        worst = slower + self.care * unsure
        good = (worst <= self.budget) & ((1.0 + worst) * _MARGIN <= hosts.slack[:, None]) & (faster >= 0.0)
        if worth is not None:
            # Cores that are busy for the guest, and those that are no longer for the host.
            won = np.clip(faster, 0.0, 1.0) * use(guest) * guest.cores
            lost = (1.0 - 1.0 / (1.0 + np.maximum(slower, 0.0))) * (hosts.own * hosts.cores)[:, None]
            good &= (faster >= worth) & (won > lost)
        return Largest(actions, good, worst, faster, features[..., 0])
