"""Criteria of whether a simulated schedule agrees with the real one, within stated tolerances."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windlass_reproductions.criteria import Judged, Within, exactly

#: Largest accepted relative error of a simulated mean wait.
CLOSE = 0.05


@dataclass(frozen=True, slots=True)
class OrderVerdict:
    """A comparison of the orders in which two schedules start the same jobs.

    Parameters
    ----------
    same
        Number of jobs at the same position in both.
    jobs
        Number of all jobs.
    first
        First position at which the orders differ, counted from 1, with the real and the simulated job there; None if
        they are equal.
    pairs
        Number of pairs of jobs whose order is reversed.
    """

    same: int
    jobs: int
    first: tuple[int, int, int] | None
    pairs: int

    @property
    def judged(self) -> Judged:
        """The claim that all jobs are at the same position in both."""
        return Judged(
            (Within(exactly(self.jobs - self.same), high=0.0),),
            "holds if each job is at the same position in both",
        )

    @property
    def holds(self) -> bool:
        """Whether all jobs are at the same position in both."""
        return self.judged.holds is True

    @property
    def note(self) -> str:
        """A description of where the orders differ; empty if they are equal."""
        if self.first is None:
            return ""
        place, real, simulated = self.first
        return (
            f"the orders first differ at position {place}: job {real} in the real run, job {simulated} simulated;"
            f" {self.pairs} of {self.jobs * (self.jobs - 1) // 2} pairs are reversed"
        )


def same_order(real: Sequence[int], simulated: Sequence[int]) -> OrderVerdict:
    """Compare two orders of the same jobs.

    Raises
    ------
    ValueError
        The orders are not of the same jobs.

    Examples
    --------
    >>> same_order([1, 2, 3], [1, 2, 3]).holds
    True
    >>> verdict = same_order([1, 2, 3, 4], [1, 3, 2, 4])
    >>> verdict.same, verdict.first, verdict.pairs
    (2, (2, 2, 3), 1)
    """
    if sorted(real) != sorted(simulated):
        raise ValueError("expected two orders of the same jobs")
    differ = [at for at, (one, other) in enumerate(zip(real, simulated, strict=True)) if one != other]
    first = (differ[0] + 1, real[differ[0]], simulated[differ[0]]) if differ else None
    place = {job: at for at, job in enumerate(simulated)}
    places = [place[job] for job in real]
    pairs = sum(one > other for at, one in enumerate(places) for other in places[at + 1 :])
    return OrderVerdict(len(real) - len(differ), len(real), first, pairs)


def close(real: float, simulated: float, within: float = CLOSE) -> Judged:
    """Return the claim that the relative error of a simulated mean is at most ``within``.

    >>> [close(*pair).holds for pair in ((100.0, 104.9), (100.0, 105.1), (100.0, 94.9), (0.0, 0.0))]
    [True, False, False, True]
    """
    far = within * abs(real)
    return Judged(
        (Within(exactly(simulated - real), -far, far),),
        f"holds if the simulated value is within {within:.0%} of the real one, a tolerance that we chose",
    )


def same_ranks(real: Mapping[str, float], simulated: Mapping[str, float], same: float) -> Judged:
    """Return the claim that all policies whose real means differ rank alike in the simulation.

    Parameters
    ----------
    real, simulated
        Mean of each policy, by name.
    same
        Pairs are not compared if the logarithm of the ratio of their real means is smaller than this, as two runs of
        one policy can differ by as much.

    Examples
    --------
    >>> real = {"a": 1.0, "b": 2.0, "c": 2.01}
    >>> [same_ranks(real, {"a": 1.0, "b": 2.0, "c": c}, 0.02).holds for c in (1.9, 2.1, 0.9)]
    [True, True, False]
    >>> same_ranks({"a": 1.0, "b": 1.001}, {"a": 1.0, "b": 2.0}, 0.02).holds
    """
    parts = []
    for one, other in itertools.combinations(real, 2):
        apart = math.log(real[one] / real[other])
        if abs(apart) >= same:
            simulated_apart = math.log(simulated[one] / simulated[other])
            parts.append(
                Within(exactly(math.copysign(simulated_apart, simulated_apart * apart)), low=0.0, strict=True)
            )
    return Judged(tuple(parts), f"holds if all that differ by {same:.0%} or more in the real runs rank alike")
