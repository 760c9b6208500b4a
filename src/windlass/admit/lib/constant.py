"""Policies whose decision is always the same."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from windlass.admit.compiled import deciding
from windlass.admit.site import NO_LIMIT, AdmitSiteView, Reads, SiteAdmission, alike
from windlass.admit.view import Admission, AdmitView
from windlass.jit import Kernel


class ConstantLimit(NamedTuple):
    """Most tasks that each node has at once: 0 if it rejects all."""

    limit: int


def _decide(state, busy, ready, present, limits):
    for node in range(len(limits)):
        limits[node] = state.limit
    return 0


class ConstantPolicy:
    """Gives the same answer for each node and step.

    Parameters
    ----------
    answer
        The answer.

    Examples
    --------
    >>> ConstantPolicy(Admission(False, "few tasks", limit=3)).state_of(nodes=2).limit
    3
    """

    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)
    deciding: ClassVar[Kernel] = deciding(_decide, ConstantLimit)

    def __init__(self, answer: Admission) -> None:
        self.last = answer

    def decide(self, view: AdmitView) -> Admission:
        """Return the answer."""
        return self.last

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        """Return the answer for each node."""
        return alike(self.last, len(view.present))

    def state_of(self, nodes: int) -> ConstantLimit:
        """Return the state of the compiled function, for any number of nodes."""
        most = NO_LIMIT if self.last.limit is None else self.last.limit
        return ConstantLimit(0 if self.last.reject else int(most))
