"""Hosts that are lost while they share come to the queue as wide as they were."""

from __future__ import annotations

from windlass.model import JobTable
from windlass.order.site import POLICIES
from windlass.sim.coupled import Coupled
from windlass.sim.nodes import Ledger
from windlass.sim.part import Quiet
from windlass.sim.site.rated import RatedSite


class Evicts(Quiet):
    """The second job runs on processors of the first from 1 s on, and the first is put back at 2 s."""

    def __init__(self, site: RatedSite) -> None:
        self._site, self._left = site, [1.0, 2.0]

    def horizon(self) -> float:
        return self._left[0] if self._left else float("inf")

    def decide(self, now: float) -> tuple[()]:
        if now == 1.0 and self._left[0] == now:
            self._site.take_in(0, 1, 90.0, now, "shares")
        if now == 2.0 and self._left[0] == now:
            self._site.evict(0, now)
        self._left = [each for each in self._left if each > now]
        return ()


def test_a_host_that_is_lost_needs_all_of_its_processors_again() -> None:
    # Would catch a host that comes back without what its guest had: here it would need none, and start beside it.
    ledger = Ledger([[4]], parts=1)
    jobs = JobTable.of(submit=[0, 0], run=[10, 20], procs=[4, 4])
    site = RatedSite(jobs, POLICIES.find("easy")(), ledger)
    cluster = Coupled([site, Evicts(site)], ledger)
    assert cluster.wait() is None
    replay = cluster.result()[0]
    # The guest, alone from 2 s on, has its whole speed, and the host all of the site after it.
    assert (replay.start.tolist(), replay.end.tolist()) == ([22.0, 1.0], [32.0, 22.0])
    assert (replay.lost.tolist(), replay.lost_start.tolist(), replay.lost_end.tolist()) == ([0], [0.0], [2.0])
    assert ledger.nodes.idle.tolist() == [4]
