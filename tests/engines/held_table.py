"""A system of held jobs in virtual time, with the job numbers of a table."""

from tests.adversary.clock import BEGIN
from windlass.engines.batch.holds.journal import UnwrittenHolds
from windlass.engines.batch.holds.settings import HoldOptions
from windlass.engines.batch.holds.system import HoldSystem
from windlass.engines.batch.system import Cancelled, Ended, Started, Submitted

#: The polling interval, s.
PACE = 0.1


class HeldTable:
    """A system of a table of jobs.

    Parameters
    ----------
    clock
        A :class:`~tests.adversary.clock.VirtualClock`.
    jobs
        The table.
    submit
        Submits a job, on hold, from its number, run time, processors and request.
    site
        The queue that is driven.
    """

    def __init__(self, clock, jobs, submit, site):
        columns = (jobs.job, jobs.submit, jobs.run, jobs.procs, jobs.request)
        for number, at, *rest in zip(*(column.tolist() for column in columns), strict=True):
            clock.at(BEGIN + at, lambda number=number, rest=rest: submit(number, *rest))
        clock.wait(0.0)
        options = HoldOptions(PACE, until_idle=True)
        self.system = HoldSystem(site, UnwrittenHolds(), options, clock=clock.time, sleep=clock.wait)
        self.processors, self.now = self.system.processors, self.system.now
        self.ours, self.theirs = {}, {}

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
