"""Whether a simulated schedule is the real one, within a stated tolerance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windlass_reproductions.criteria import Judged, Within, exactly

#: A simulated mean wait may be off by so much.
CLOSE = 0.05


@dataclass(frozen=True, slots=True)
class OrderVerdict:
    """Whether two schedules start the same jobs in the same order.

    Parameters
    ----------
    same
        Jobs at the same place in both.
    jobs
        All of them.
    first
        The first place at which they differ, and the jobs there; None where they do not.
    pairs
        Pairs of jobs, of all pairs, that come in the other order.
    """

    same: int
    jobs: int
    first: tuple[int, int, int] | None
    pairs: int

    @property
    def judged(self) -> Judged:
        """That the order is the same from first to last."""
        return Judged(
            (Within(exactly(self.jobs - self.same), high=0.0),), "holds where each job is at its place"
        )

    @property
    def holds(self) -> bool:
        """Whether the order is the same from first to last."""
        return self.judged.holds is True

    @property
    def note(self) -> str:
        """Where they part; empty where they do not."""
        if self.first is None:
            return ""
        place, real, simulated = self.first
        return (
            f"they part at place {place}: job {real} for real, job {simulated} simulated; {self.pairs} of"
            f" {self.jobs * (self.jobs - 1) // 2} pairs are the other way round"
        )


def same_order(real: Sequence[int], simulated: Sequence[int]) -> OrderVerdict:
    """Compare two orders of the same jobs.

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
    """That a simulated mean is within so much of the real one.

    >>> [close(*pair).holds for pair in ((100.0, 104.9), (100.0, 105.1), (100.0, 94.9), (0.0, 0.0))]
    [True, False, False, True]
    """
    far = within * abs(real)
    return Judged(
        (Within(exactly(simulated - real), -far, far),),
        f"holds where the simulated one is within {within:.0%} of the real one, a tolerance of ours",
    )


def same_ranks(real: Mapping[str, float], simulated: Mapping[str, float], same: float) -> Judged:
    """That all that differ for real come in the same order simulated.

    Parameters
    ----------
    real, simulated
        A mean of each, by name.
    same
        Real means that differ by less than this part are as two runs of one policy are, and tell nothing.

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
            told = math.log(simulated[one] / simulated[other])
            parts.append(Within(exactly(math.copysign(told, told * apart)), low=0.0, strict=True))
    return Judged(
        tuple(parts), f"holds where all that differ by {same:.0%} or more for real come in the same order"
    )
