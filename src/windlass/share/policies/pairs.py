"""Learns from measured pairs what a quota costs, and stays within a budget."""

from __future__ import annotations

import json
import math
from typing import ClassVar

import numpy as np

from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.answer import Back, Sharing
from windlass.share.lib.effects import Effects
from windlass.share.lib.features import guest_features, host_features, slack, use
from windlass.share.lib.gang import Choice, adjusted, first_fit
from windlass.share.lib.regress import Line, line_of
from windlass.share.lib.state import ratio
from windlass.share.view import Checkpoint, ShareView

#: Pairs are off any line by about 0.1 (docs/share.md), and one pair is measured some six times, each time off alike.
_NOISE = 0.25
#: Slowdowns beyond this are taken for it: a host that stands still for one checkpoint is not all there is to know.
_MOST = 3.0
#: A host keeps so many times what it needs of its walltime: tasks are not all alike.
_MARGIN = 1.1
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
        self.slower = Line.prior(only_time, around, noise=_NOISE)
        self.effects = Effects()
        self.faster = Line.prior(only_time[:3], around[:3], noise=_NOISE)

    def decide(self, view: ShareView) -> Sharing:
        """New quotas for pairs, and guests for allocations that have none."""
        self._solved = self.slower.solved(), self.faster.solved()

        def start(host: Allocation, candidate: Candidate) -> Choice | None:
            if math.isnan(host.rate_alone) and not math.isnan(host.tasks_left):
                return None  # it counts tasks, and a little later will have shown how fast it is alone
            found = self._largest(host, candidate, view.actions[1:])
            return found or self._probed(host, candidate, view.actions[1])

        def again(host: Allocation, guest: Guest) -> Choice | None:
            least, ceiling = view.actions[1], int(guest.note[0]) if guest.note else view.actions[-1]
            hurt = guest.quota > 0 and ratio(host) > self.budget
            ceiling = guest.quota - 1 if hurt else ceiling
            allowed = tuple(action for action in view.actions[1:] if action <= ceiling)
            # It is there already: what it would have been worth does not matter any more.
            found = self._largest(host, guest.job, allowed, worth=0.0) if allowed else None
            if found is None and not hurt and guest.quota > 0 and not math.isnan(ratio(host)):
                return None
            if found is None and guest.quota > least and allowed:
                return Choice(least, "as little as there is, to harm the host less", (float(ceiling),))
            return found or Choice(0, "no quota keeps the host within its budget", (float(ceiling),))

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
            features = host_features(checkpoint.before, guest.job, np.array([quota]))
            slower = min(measured, _MOST)
            missed, present = slower - float(self.slower.at(features)[0][0]), float(features[0, 1])
            self.effects.take(checkpoint.before.job_class, guest.job.job_class, present, missed)
            self.slower = self.slower.after(features[0], slower)
        if not math.isnan(guest.progress):
            features = guest_features(checkpoint.before, guest.job, np.array([quota]))[0]
            self.faster = self.faster.after(features, min(guest.progress / 100.0, 1.0 + _MOST))

    def saved(self) -> str:
        """What has been learned, as JSON."""
        return json.dumps(
            {
                "policy": self.name,
                "version": _VERSION,
                "slower": [self.slower.precision.tolist(), self.slower.pull.tolist()],
                "faster": [self.faster.precision.tolist(), self.faster.pull.tolist()],
                "effects": self.effects.sums(),
            }
        )

    def restore(self, text: str | bytes) -> None:
        """Take over what another one has :meth:`saved`.

        Raises
        ------
        InputError
            It is something else; what was known before stays.
        """
        try:
            tree = json.loads(text)
            known = (tree["policy"], tree["version"]) == (self.name, _VERSION)
            slower, faster = (
                line_of(tree[name], size, _NOISE) for name, size in (("slower", 5), ("faster", 3))
            )
            effects = Effects(tree["effects"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"what was learned cannot be read: {type(error).__name__}: {error}") from error
        if not known:
            raise InputError(f"what was learned is of {tree['policy']!r}, version {tree['version']!r}")
        self.slower, self.faster, self.effects = slower, faster, effects

    def _probed(self, host: Allocation, candidate: Candidate, least: int) -> Choice | None:
        """The smallest quota for one in so many who were refused."""
        if host_features(host, candidate, np.array([least]))[0, 0] > self.budget:
            return None
        self.refused = (self.refused + 1) % self.probe
        return Choice(least, "tried, to learn what it costs", (float(least),)) if self.refused == 0 else None

    def _largest(
        self, host: Allocation, guest: Candidate, actions: tuple[int, ...], worth: float | None = None
    ) -> Choice | None:
        quotas = np.array(actions)
        features = host_features(host, guest, quotas)
        slower, unsure = self._solved[0].at(features)
        slower = slower + self.effects.slope(host.job_class, guest.job_class) * features[:, 1]
        faster, _ = self._solved[1].at(guest_features(host, guest, quotas))
        worst = slower + self.care * unsure
        # Cores that are busy for the guest, and those that are no longer for the host.
        won = np.clip(faster, 0.0, 1.0) * use(guest) * guest.cores
        lost = (1.0 - 1.0 / (1.0 + np.maximum(slower, 0.0))) * host.cpu / 100.0 * host.cores
        in_time = (1.0 + worst) * _MARGIN <= slack(host)
        gains = (faster >= self.worth) & (won > lost) if worth is None else faster >= worth
        good = np.flatnonzero((worst <= self.budget) & gains & in_time)
        if not len(good):
            return None
        at = good[-1]
        why = f"host at most {100 * worst[at]:.1f} % slower, guest at {100 * faster[at]:.0f} % of its speed"
        return Choice(actions[at], why, (float(actions[-1]),))


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
