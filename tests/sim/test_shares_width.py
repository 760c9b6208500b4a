"""Hosts that are lost while they share return to the queue with all of their processors."""

from __future__ import annotations

from windlass.model import JobTable
from windlass.order.site import POLICIES
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.part import Quiet
from windlass.sim.site.rated import RatedSite


class Evicts(Quiet):
    """The second job runs on processors of the first from 1 s on, and the first is requeued at 2 s."""

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


def test_a_lost_host_needs_all_of_its_processors_again() -> None:
    # Detects a host requeued without its guest's processors: it would need none, and start next to the guest.
    ledger = Ledger([[4]], parts=1)
    jobs = JobTable.of(submit=[0, 0], run=[10, 20], procs=[4, 4])
    site = RatedSite(jobs, POLICIES.find("easy")(), ledger)
    cluster = Coupled([site, Evicts(site)], ledger)
    assert cluster.wait() is None
    replay = cluster.result()[0]
    # The guest, alone from 2 s on, runs at full speed, and the host gets the whole site after it.
    assert (replay.start.tolist(), replay.end.tolist()) == ([22.0, 1.0], [32.0, 22.0])
    assert (replay.lost.tolist(), replay.lost_start.tolist(), replay.lost_end.tolist()) == ([0], [0.0], [2.0])
    assert ledger.nodes.idle.tolist() == [4]
