"""PBS in virtual time, with the job numbers of a table, for the suite of all batch systems."""

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.held_table import PACE, HeldTable
from tests.engines.pbs.fake_pbs import QUEUE, SERVER, FakePbs
from windlass.engines.pbs.client import PbsClient
from windlass.engines.pbs.site import PbsSite


class VirtualPbs:
    """Makes systems whose vnodes have one CPU each; the scheduler's cycle is `latency` (s) after each change."""

    def __init__(self, latency):
        # Times of PBS are whole seconds.
        self.latency, self.late = latency, latency + 1.0 + 2 * PACE

    def make(self, jobs, processors, cancels=(), capacity=()):
        return _PbsOfTable(jobs, processors, cancels, capacity, self.latency)


class _PbsOfTable(HeldTable):
    def __init__(self, jobs, processors, cancels, capacity, latency):
        clock = VirtualClock()
        self.pbs = pbs = FakePbs(clock, [1] * processors, latency)
        for at, number in cancels:
            clock.at(BEGIN + at, lambda number=number: pbs.delete(f"{number}.{SERVER}"))
        for at, size in capacity:
            clock.at(BEGIN + at, lambda size=size: self.resize(size, processors))
        client = PbsClient(pbs, sleep=clock.wait, clock=clock.time, wall=clock.time)
        super().__init__(
            clock,
            jobs,
            lambda number, run, procs, request: pbs.submit(run, procs, request, number=number),
            PbsSite(client, QUEUE),
        )

    def resize(self, size, processors):
        for number in range(1, processors + 1):
            self.pbs.drain(f"n{number}", number > size)
