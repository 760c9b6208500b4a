"""The groups of jobs that wait longer under one variant than under another."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.results.groups import group_metrics
from windlass.results.outcome import VariantResult
from windlass.results.tables import Results
from windlass.results.verdict.compare import same
from windlass.results.verdict.judge import Verdict


@dataclass(frozen=True, slots=True)
class GroupLoss:
    """A group, such as a user, and its mean waits (s) under the reference and under the best variant."""

    group: str
    reference_s: float
    best_s: float


@dataclass(frozen=True, slots=True)
class GroupLosses:
    """The groups that wait longer under the best variant than under a reference.

    Parameters
    ----------
    division
        One of :data:`windlass.results.groups.DIVISIONS`.
    best, reference
        Names of the two variants.
    groups
        Number of groups.
    losses
        Those with a longer mean wait, the largest increase first.
    """

    division: str
    best: str
    reference: str
    groups: int
    losses: tuple[GroupLoss, ...]


def group_losses(results: Results, verdict: Verdict | None, division: str) -> GroupLosses | None:
    """Return the groups whose mean wait is longer under the best variant than under the reference.

    Parameters
    ----------
    results
        Results of any world.
    verdict
        Their verdict.
    division
        A division that the jobs have.

    Returns
    -------
    GroupLosses or None
        The reference is the recorded schedule if there is one; otherwise the first variant that is not the best. None
        for a sweep, and if there is no best variant or no reference.
    """
    if verdict is None or len(verdict.points) != 1 or verdict.points[0].comparison.best is None:
        return None
    best = results.variants[verdict.points[0].comparison.best]
    rivals = [each for each in results.variants if each is not best and not each.bound]
    reference = next((each for each in rivals if each.recorded), next(iter(rivals), None))
    if reference is None:
        return None
    waits = [_waits(each, division, results.as_run) for each in (best, reference)]
    common = [group for group in waits[0] if group in waits[1]]
    losses = [
        GroupLoss(group, waits[1][group], waits[0][group])
        for group in common
        if waits[0][group] > waits[1][group] and not same(waits[0][group], waits[1][group])
    ]
    losses.sort(key=lambda each: each.reference_s - each.best_s)
    return GroupLosses(division, best.own_name, reference.own_name, len(common), tuple(losses))


def _waits(variant: VariantResult, division: str, as_run: str) -> dict[str, float]:
    table = group_metrics((variant,), division, as_run)
    return dict(zip(table[division].fill_null("none").to_list(), table["mean_wait_s"].to_list(), strict=True))
