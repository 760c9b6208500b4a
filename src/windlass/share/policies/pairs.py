"""Sharing within a slowdown budget, learned from measured pairs."""

from __future__ import annotations

import json
import math
from typing import ClassVar

import numpy as np

from windlass.io import seal_text, unseal_text
from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.lib.effects import Effects
from windlass.share.lib.features import Hosts, guest_features, host_features, use
from windlass.share.lib.first_fit import QuotaChoice, adjusted, first_fit
from windlass.share.lib.largest import Belief, Largest
from windlass.share.lib.part import part_of
from windlass.share.lib.regress import BayesianLine, line_of
from windlass.share.lib.saved import CONTAINER
from windlass.share.lib.state import ratio
from windlass.share.view import Back, Checkpoint, ShareView, Sharing

#: Pairs deviate from any line by about 0.1 (docs/results-share.md), and the about six measurements of a pair deviate
#: in the same direction.
_NOISE = 0.25
#: Larger slowdowns count as this one, because a host may stand still for one checkpoint by chance.
_MOST = 3.0
#: Version of the saved state.
_VERSION = 1


class Pairs:
    """Gives the largest quota that very likely keeps the host within its budget, if it helps the guest enough.

    One linear model predicts the host's slowdown and another the guest's speed, from the CPU use of both, the
    host's memory and stage, and the quota. Their priors assume time sharing without interference. Each
    checkpoint with measured progress updates them. A quota is used only if the predicted slowdown plus
    ``care`` standard deviations is within ``budget``, and if the host still meets its walltime: the policy
    begins with small quotas and raises them as it learns. A host that counts its tasks is first measured
    alone.

    A pair that exceeded its budget gets a lower quota at once, and never a higher one again. If no quota is
    left, its guest is stopped. It is requeued instead if its job allows restarts and it has run for less time
    than the host still needs, because it then loses less by a restart than by waiting. To recover from a bad
    start, one in ``probe`` refused pairs gets the smallest quota, unless that would exceed the budget by time
    sharing alone.

    Source: Windlass; the upper bound is that of LinUCB (Li et al., WWW 2010).

    Parameters
    ----------
    budget
        Allowed slowdown of a host: a fraction below 1, such as 0.05, or percent from 1 on.
    worth
        Minimum speed of a guest that starts, compared with its speed alone: a fraction below 1, or percent.
    care
        Number of standard deviations that must be within the budget.
    probe
        One in this many refused pairs is tried.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> host = Allocation(1, "montage", 8, 8e9, 600.0, 0.0, cpu=40.0, memory_used=5.0, parallel=True, rate_alone=1.0)
    >>> view = ShareView(0.0, (host,), (Candidate(2, "blast", 8, 1e9, 60.0, cpu=60.0),))
    >>> policy = Pairs(worth=0.1)
    >>> policy.decide(view).shares[0].quota
    10
    >>> after = Allocation(1, "montage", 8, 8e9, 600.0, 60.0, cpu=40.0, memory_used=5.0, rate=1.0, rate_alone=1.0)
    >>> for _ in range(100):
    ...     policy.observed(Checkpoint(host, after, Guest(view.waiting[0], 10)))
    >>> policy.decide(view).shares[0].quota
    20
    """

    name: ClassVar[str] = "pairs"

    def __init__(self, budget: float = 0.1, worth: float = 0.3, care: float = 2.0, probe: int = 20) -> None:
        self.budget = part_of("budget", budget)
        self.worth = part_of("worth", worth, 100.0)
        self.care = number("care", care, 0.0)
        self.probe, self.refused = whole("probe", probe, 1), 0
        # In the prior, time sharing has weight 1, and each cost of a neighbour is around 0.
        only_time, around = np.array([1.0, 0.0, 0.0, 0.0, 0.0]), np.array([0.2, 0.3, 0.3, 0.3, 0.3])
        self.slower = BayesianLine.prior(only_time, around, noise=_NOISE)
        self.effects = Effects()
        self.faster = BayesianLine.prior(only_time[:3], around[:3], noise=_NOISE)

    def decide(self, view: ShareView) -> Sharing:
        """Return new quotas for pairs, and guests for allocations without one."""
        belief = Belief(self.slower.solved(), self.faster.solved(), self.effects, self.care, self.budget)
        actions, hosts = view.actions[1:], Hosts.of(view.running)
        row_of = {host.job: row for row, host in enumerate(view.running)}
        # Guests of one class with equal use and cores get the same predictions.
        known: dict[tuple[str, float, int], Largest] = {}

        def start(host: Allocation, candidate: Candidate) -> QuotaChoice | None:
            if math.isnan(host.rate_alone) and not math.isnan(host.tasks_left):
                return None  # it counts tasks, and its rate alone will be measured soon
            alike = candidate.job_class, use(candidate), candidate.cores
            if alike not in known:
                known[alike] = belief.largest(hosts, candidate, actions, self.worth)
            return known[alike].of(row := row_of[host.job]) or self._probed(known[alike], row)

        def adjust(host: Allocation, guest: Guest) -> QuotaChoice | None:
            least, ceiling = view.actions[1], int(guest.note[0]) if guest.note else view.actions[-1]
            hurt = guest.quota > 0 and ratio(host) > self.budget
            ceiling = guest.quota - 1 if hurt else ceiling
            allowed = tuple(action for action in view.actions[1:] if action <= ceiling)
            # The guest runs already, so its worth is not checked again.
            found = None
            if allowed:
                found = belief.largest(Hosts.of([host]), guest.job, allowed).of(0)
            if found is None and not hurt and guest.quota > 0 and not math.isnan(ratio(host)):
                return None
            if found is None and guest.quota > least and allowed:
                return QuotaChoice(least, "smallest quota, to slow the host less", (float(ceiling),))
            return found or QuotaChoice(0, "no quota keeps the host within its budget", (float(ceiling),))

        quotas = adjusted(view, adjust)
        restarts = tuple(each for each in map(_requeue, view.running) if each is not None)
        stopped = {share.guest for share in quotas if share.quota == 0}
        requeued = {each.guest for each in restarts} & stopped
        others = tuple(share for share in quotas if share.guest not in requeued)
        back = tuple(each for each in restarts if each.guest in requeued)
        return Sharing((*others, *first_fit(view, start)), back)

    def observed(self, checkpoint: Checkpoint) -> None:
        """Update the models with a measurement; unmeasured values are skipped."""
        quota, guest = checkpoint.guest.quota, checkpoint.guest
        if quota == 0:
            return
        measured = ratio(checkpoint.after)
        if not math.isnan(measured):
            features = host_features(Hosts.of([checkpoint.before]), guest.job, np.array([quota]))[0]
            slower = min(measured, _MOST)
            missed, present = slower - float(self.slower.at(features)[0][0]), float(features[0, 1])
            self.effects.take(checkpoint.before.job_class, guest.job.job_class, present, missed)
            self.slower = self.slower.after(features[0], slower)
        if not math.isnan(guest.progress):
            features = guest_features(Hosts.of([checkpoint.before]), guest.job, np.array([quota]))[0]
            self.faster = self.faster.after(features[0], min(guest.progress / 100.0, 1.0 + _MOST))

    def saved(self) -> str:
        """Return the learned state as JSON in the container of saved state."""
        tree = {
            "policy": self.name,
            "version": _VERSION,
            "slower": [self.slower.precision.tolist(), self.slower.pull.tolist()],
            "faster": [self.faster.precision.tolist(), self.faster.pull.tolist()],
            "effects": self.effects.sums(),
        }
        return seal_text(CONTAINER, json.dumps(tree))

    def restore(self, text: str | bytes) -> None:
        """Restore the state that another ``pairs`` policy has :meth:`saved`.

        Raises
        ------
        InputError
            The text is not such a state; the current state is kept.
        """
        body = unseal_text(text, CONTAINER)
        try:
            tree = json.loads(body)
            known = (tree["policy"], tree["version"]) == (self.name, _VERSION)
            slower, faster = (
                line_of(tree[name], size, _NOISE) for name, size in (("slower", 5), ("faster", 3))
            )
            effects = Effects(tree["effects"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(f"saved state: cannot be read: {type(error).__name__}: {error}") from error
        if not known:
            raise InputError(
                f"saved state: policy is {tree['policy']!r} in version {tree['version']!r}, "
                f"expected {self.name!r} in version {_VERSION}"
            )
        self.slower, self.faster, self.effects = slower, faster, effects

    def _probed(self, largest: Largest, row: int) -> QuotaChoice | None:
        """Return the smallest quota for one in ``probe`` refused pairs, else None."""
        if largest.by_time[row, 0] > self.budget:
            return None
        least = largest.actions[0]
        self.refused = (self.refused + 1) % self.probe
        return (
            QuotaChoice(least, "probe of a refused pair, to measure its cost", (float(least),))
            if self.refused == 0
            else None
        )


def _requeue(host: Allocation) -> Back | None:
    """Return a request to requeue a guest that loses less by a restart than by waiting for its host, or None."""
    guest = host.guest
    if guest is None or not guest.job.restarts:
        return None
    left = host.tasks_left / host.rate_alone if host.rate_alone > 0.0 else math.nan
    left = max(0.0, host.walltime - host.elapsed) if math.isnan(left) else left
    if guest.elapsed >= left:
        return None
    return Back(guest.job.job, f"restart: it has run {guest.elapsed:.0f} s, its host needs {left:.0f} s more")
