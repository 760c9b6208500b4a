"""Whether a simulated schedule is the real one, within a stated tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    def holds(self) -> bool:
        """Whether the order is the same from first to last."""
        return self.same == self.jobs

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


def close(real: float, simulated: float, within: float = CLOSE) -> bool:
    """Whether a simulated mean is within so much of the real one.

    >>> close(100.0, 104.9), close(100.0, 105.1), close(100.0, 94.9), close(0.0, 0.0)
    (True, False, False, True)
    """
    return abs(simulated - real) <= within * abs(real)
