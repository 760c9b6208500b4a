"""PBS in virtual time, with the job numbers of a table, for the suite of all batch systems."""

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.pbs.fake_pbs import QUEUE, SERVER, FakePbs
from windlass.engines.batch.holds.journal import UnwrittenHolds
from windlass.engines.batch.holds.settings import HoldOptions
from windlass.engines.batch.holds.system import HoldSystem
from windlass.engines.batch.system import Cancelled, Ended, Started, Submitted
from windlass.engines.pbs.client import PbsClient
from windlass.engines.pbs.site import PbsSite

PACE = 0.1


class VirtualPbs:
    """Makes systems whose vnodes have one CPU each; the scheduler's cycle is `latency` (s) after each change."""

    def __init__(self, latency):
        # Times of PBS are whole seconds.
        self.latency, self.late = latency, latency + 1.0 + 2 * PACE

    def make(self, jobs, processors, cancels=(), capacity=()):
        return _PbsOfTable(jobs, processors, cancels, capacity, self.latency)


class _PbsOfTable:
    def __init__(self, jobs, processors, cancels, capacity, latency):
        clock = VirtualClock()
        self.pbs = pbs = FakePbs(clock, [1] * processors, latency)
        columns = (jobs.job, jobs.submit, jobs.run, jobs.procs, jobs.request)
        for number, submit, run, procs, request in zip(*(column.tolist() for column in columns), strict=True):
            clock.at(
                BEGIN + submit,
                lambda number=number, run=run, procs=procs, request=request: pbs.submit(
                    run, procs, request, number=number
                ),
            )
        for at, number in cancels:
            clock.at(BEGIN + at, lambda number=number: pbs.delete(f"{number}.{SERVER}"))
        for at, size in capacity:
            clock.at(BEGIN + at, lambda size=size: self.resize(size, processors))
        clock.wait(0.0)
        client = PbsClient(pbs, sleep=clock.wait, clock=clock.time, wall=clock.time)
        options = HoldOptions(PACE, until_idle=True)
        self.system = HoldSystem(
            PbsSite(client, QUEUE), UnwrittenHolds(), options, clock=clock.time, sleep=clock.wait
        )
        self.processors, self.now = self.system.processors, self.system.now
        self.ours, self.theirs = {}, {}

    def resize(self, size, processors):
        for number in range(1, processors + 1):
            self.pbs.drain(f"n{number}", number > size)

    def poll(self, timeout):
        return [self.translated(event) for event in self.system.poll(timeout)]

    def translated(self, event):
        match event:
            case Submitted(job, at, procs, request):
                number = int(self.system.title(job).partition(".")[0])
                self.ours[job], self.theirs[number] = number, job
                return Submitted(number, at, procs, request)
            case Started(job, at) | Ended(job, at) | Cancelled(job, at):
                return type(event)(self.ours[job], at)
        return event

    def start(self, jobs):
        refused = self.system.start([self.theirs.get(job, 10**6 + job) for job in jobs])
        return {self.ours.get(job, job - 10**6): why for job, why in refused.items()}

    def describe(self, jobs):
        return self.system.describe([self.theirs[job] for job in jobs])

    def close(self):
        self.system.close()
