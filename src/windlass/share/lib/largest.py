"""The largest acceptable quota for each of some hosts."""

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
#: Safety factor on the time that a host needs, because tasks differ in length.
_MARGIN = 1.1


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """Acceptable quotas for one guest, for h hosts and k quotas.

    Parameters
    ----------
    actions
        The quotas, percent, ascending.
    good
        (h, k) whether each is acceptable.
    worst, faster
        (h, k) upper bound on the host's slowdown, and the guest's speed as a fraction of its speed alone.
    by_time
        (h, k) slowdown of the host by time sharing alone.

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
        """Return the largest acceptable quota for one host, or None; its note is the largest candidate quota."""
        good = np.flatnonzero(self.good[row])
        if not len(good):
            return None
        at = int(good[-1])
        worst, faster = 100.0 * self.worst[row, at], 100.0 * self.faster[row, at]
        why = f"host at most {worst:.1f} % slower, guest at {faster:.0f} % of its speed"
        return QuotaChoice(self.actions[at], why, (float(self.actions[-1]),))


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Predictions of slowdowns and speeds, and the accepted risk.

    Parameters
    ----------
    slower, faster
        Regressions of the host's slowdown and of the guest's speed.
    effects
        Deviations of pairs of job classes.
    care
        Number of standard deviations that must be within the budget.
    budget
        Allowed slowdown of a host, as a fraction.
    """

    slower: LinePosterior
    faster: LinePosterior
    effects: Effects
    care: float
    budget: float

    def largest(
        self, hosts: Hosts, guest: Candidate, actions: tuple[int, ...], worth: float | None = None
    ) -> Largest:
        """Return quotas that keep h hosts within the budget and their walltimes, for one guest.

        With ``worth``, the guest must also have at least that fraction of its speed and keep more cores busy
        than the host loses; this applies to guests that start.
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
            # Cores that the guest keeps busy, and cores that the host no longer does.
            won = np.clip(faster, 0.0, 1.0) * use(guest) * guest.cores
            lost = (1.0 - 1.0 / (1.0 + np.maximum(slower, 0.0))) * (hosts.own * hosts.cores)[:, None]
            good &= (faster >= worth) & (won > lost)
        return Largest(actions, good, worst, faster, features[..., 0])
