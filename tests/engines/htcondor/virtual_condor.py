"""HTCondor in virtual time, with the job numbers of a table, for the suite of all batch systems."""

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.held_table import PACE, HeldTable
from tests.engines.htcondor.fake_condor import QUEUE, FakeCondor
from windlass.engines.htcondor.client import CondorClient
from windlass.engines.htcondor.site import CondorSite


class VirtualCondor:
    """Makes systems whose machines have one CPU each; a negotiator's cycle is `latency` (s) after each change."""

    def __init__(self, latency):
        # Times of HTCondor are whole seconds.
        self.latency, self.late = latency, latency + 1.0 + 2 * PACE

    def make(self, jobs, processors, cancels=(), capacity=()):
        return _CondorOfTable(jobs, processors, cancels, capacity, self.latency)


class _CondorOfTable(HeldTable):
    def __init__(self, jobs, processors, cancels, capacity, latency):
        clock = VirtualClock()
        self.condor = condor = FakeCondor(clock, [1] * processors, latency)
        for at, number in cancels:
            clock.at(BEGIN + at, lambda number=number: condor.remove(f"{number}.0"))
        for at, size in capacity:
            clock.at(BEGIN + at, lambda size=size: self.resize(size, processors))
        client = CondorClient(condor, sleep=clock.wait, clock=clock.time, wall=clock.time)
        super().__init__(
            clock,
            jobs,
            lambda number, run, procs, request: condor.submit(run, procs, request, number=number),
            CondorSite(client, QUEUE),
        )

    def resize(self, size, processors):
        for number in range(1, processors + 1):
            self.condor.drain(f"slot1@n{number}", number > size)
