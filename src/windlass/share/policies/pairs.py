"""Learns from measured pairs what a quota costs, and stays within a budget."""

from __future__ import annotations

import json
import math
from typing import ClassVar

import numpy as np

from windlass.io import seal_text, unseal_text
from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.answer import Back, Sharing
from windlass.share.lib.effects import Effects
from windlass.share.lib.features import Hosts, guest_features, host_features, use
from windlass.share.lib.first_fit import QuotaChoice, adjusted, first_fit
from windlass.share.lib.largest import Belief, Largest
from windlass.share.lib.regress import BayesianLine, line_of
from windlass.share.lib.saved import CONTAINER
from windlass.share.lib.state import ratio
from windlass.share.view import Checkpoint, ShareView

#: Pairs are off any line by about 0.1 (docs/share.md), and one pair is measured some six times, each time off alike.
_NOISE = 0.25
#: Slowdowns beyond this are taken for it: a host that stands still for one checkpoint is not all there is to know.
_MOST = 3.0
#: Of what is saved.
_VERSION = 1


class Pairs:
    """The largest quota that surely keeps the host within its budget, where the guest's progress is worth it.

    A line says how much a host is slowed, and another how fast a guest is, by what both use of their cores, by the
    host's memory and stage, and by the quota. Before anything is measured the lines say what sharing by time alone
    does. Each checkpoint at which progress was measured moves them. A quota is taken only if the slowdown that the line
    says, plus ``care`` times how unsure it is, is within ``budget``, and if the host still makes its walltime so: it
    begins with small quotas, and dares more as it learns. A host that counts its tasks is first seen alone.

    A pair that was measured beyond its budget gets less at once, and never more again; where nothing is left to get,
    its guest stops, or is put back in the queue if it may be, and has run for less than the host still needs: it then
    loses less by beginning again than by waiting. So that a bad start is not the end of learning, one in so many pairs
    that are refused has the smallest quota all the same, unless that would break the budget by time sharing alone.

    Source: ours; the bound is that of LinUCB (Li et al., WWW 2010).

    Parameters
    ----------
    budget
        How much longer a host may take, percent.
    worth
        The least speed of a guest that is worth taking it in, percent of its speed alone.
    care
        How many standard deviations must be within the budget.
    probe
        One in so many refused pairs is tried.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> host = Allocation(1, "montage", 8, 8e9, 600.0, 0.0, cpu=40.0, memory_used=5.0, parallel=True, rate_alone=1.0)
    >>> view = ShareView(0.0, (host,), (Candidate(2, "blast", 8, 1e9, 60.0, cpu=60.0),))
    >>> policy = Pairs(worth=10.0)
    >>> policy.decide(view).shares[0].quota
    10
    >>> after = Allocation(1, "montage", 8, 8e9, 600.0, 60.0, cpu=40.0, memory_used=5.0, rate=1.0, rate_alone=1.0)
    >>> for _ in range(100):
    ...     policy.observed(Checkpoint(host, after, Guest(view.waiting[0], 10)))
    >>> policy.decide(view).shares[0].quota
    20
    """

    name: ClassVar[str] = "pairs"

    def __init__(self, budget: float = 10.0, worth: float = 30.0, care: float = 2.0, probe: int = 20) -> None:
        self.budget = number("budget", budget, 0.0) / 100.0
        self.worth = number("worth", worth, 0.0, 100.0) / 100.0
        self.care = number("care", care, 0.0)
        self.probe, self.refused = whole("probe", probe, 1), 0
        # Time sharing has the weight 1; what a neighbour costs besides is anywhere around 0.
        only_time, around = np.array([1.0, 0.0, 0.0, 0.0, 0.0]), np.array([0.2, 0.3, 0.3, 0.3, 0.3])
        self.slower = BayesianLine.prior(only_time, around, noise=_NOISE)
        self.effects = Effects()
        self.faster = BayesianLine.prior(only_time[:3], around[:3], noise=_NOISE)

    def decide(self, view: ShareView) -> Sharing:
        """New quotas for pairs, and guests for allocations that have none."""
        belief = Belief(self.slower.solved(), self.faster.solved(), self.effects, self.care, self.budget)
        actions, hosts = view.actions[1:], Hosts.of(view.running)
        row_of = {host.job: row for row, host in enumerate(view.running)}
        # Guests of one class that use as much are alike to every host.
        known: dict[tuple[str, float, int], Largest] = {}

        def start(host: Allocation, candidate: Candidate) -> QuotaChoice | None:
            if math.isnan(host.rate_alone) and not math.isnan(host.tasks_left):
                return None  # it counts tasks, and a little later will have shown how fast it is alone
            alike = candidate.job_class, use(candidate), candidate.cores
            if alike not in known:
                known[alike] = belief.largest(hosts, candidate, actions, self.worth)
            return known[alike].of(row := row_of[host.job]) or self._probed(known[alike], row)

        def again(host: Allocation, guest: Guest) -> QuotaChoice | None:
            least, ceiling = view.actions[1], int(guest.note[0]) if guest.note else view.actions[-1]
            hurt = guest.quota > 0 and ratio(host) > self.budget
            ceiling = guest.quota - 1 if hurt else ceiling
            allowed = tuple(action for action in view.actions[1:] if action <= ceiling)
            # It is there already: what it would have been worth does not matter any more.
            found = None
            if allowed:
                found = belief.largest(Hosts.of([host]), guest.job, allowed).of(0)
            if found is None and not hurt and guest.quota > 0 and not math.isnan(ratio(host)):
                return None
            if found is None and guest.quota > least and allowed:
                return QuotaChoice(least, "as little as there is, to harm the host less", (float(ceiling),))
            return found or QuotaChoice(0, "no quota keeps the host within its budget", (float(ceiling),))

        quotas = adjusted(view, again)
        back = tuple(each for each in map(_put_back, view.running) if each is not None)
        stopped = {share.guest for share in quotas if share.quota == 0}
        gone = {each.guest for each in back} & stopped
        kept = tuple(share for share in quotas if share.guest not in gone)
        leave = tuple(each for each in back if each.guest in gone)
        return Sharing((*kept, *first_fit(view, start)), leave)

    def observed(self, checkpoint: Checkpoint) -> None:
        """Move the lines to what was measured; what was not is not guessed."""
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
        """What has been learned, as JSON in the container of saved state."""
        tree = {
            "policy": self.name,
            "version": _VERSION,
            "slower": [self.slower.precision.tolist(), self.slower.pull.tolist()],
            "faster": [self.faster.precision.tolist(), self.faster.pull.tolist()],
            "effects": self.effects.sums(),
        }
        return seal_text(CONTAINER, json.dumps(tree))

    def restore(self, text: str | bytes) -> None:
        """Take over what another one has :meth:`saved`.

        Raises
        ------
        InputError
            It is something else; what was known before stays.
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
            raise InputError(f"saved state: is of {tree['policy']!r}, version {tree['version']!r}")
        self.slower, self.faster, self.effects = slower, faster, effects

    def _probed(self, largest: Largest, row: int) -> QuotaChoice | None:
        """The smallest quota for one in so many who were refused."""
        if largest.by_time[row, 0] > self.budget:
            return None
        least = largest.actions[0]
        self.refused = (self.refused + 1) % self.probe
        return (
            QuotaChoice(least, "tried, to learn what it costs", (float(least),))
            if self.refused == 0
            else None
        )


def _put_back(host: Allocation) -> Back | None:
    """A guest that loses less by beginning again than by waiting for its host to end."""
    guest = host.guest
    if guest is None or not guest.job.restarts:
        return None
    left = host.tasks_left / host.rate_alone if host.rate_alone > 0.0 else math.nan
    left = max(0.0, host.walltime - host.elapsed) if math.isnan(left) else left
    if guest.elapsed >= left:
        return None
    return Back(guest.job.job, f"begins again: it has run {guest.elapsed:.0f} s, its host needs {left:.0f} s")
