"""Sharing on a batch system, over a book that a test writes and a system that records requests."""

from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.sharing import Shares
from windlass.engines.batch.sharing_backend import JobEnding
from windlass.engines.batch.system import Holds, Started, Submitted
from windlass.share import Share, Sharing
from windlass.share.allocation import Candidate
from windlass.share.usage import Reading


class Notes:
    """A system that carries out and records every request with its time; each job uses half of its cores."""

    def __init__(self, *candidates):
        self.known = {each.job: each for each in candidates}
        self.now, self.quotas, self.taken, self.allowed, self.backs = 0.0, [], [], {}, []
        self.refuses, self.apart = set(), set()

    def candidate(self, job):
        return self.known.get(job)

    def memory(self, job):
        return 8e9

    def readings(self, jobs, now):
        return {
            job: Reading(now, 0.5 * self.known[job].cores * now, 1e9, waited=0.0)
            for job in jobs
            if job in self.known
        }

    def last_reading(self, job, before):
        return before

    def outcome(self, job):
        return JobEnding.DONE

    def together(self, host, guest):
        return guest not in self.apart

    def allow(self, job, seconds):
        self.allowed[job] = seconds

    def take_in(self, pair, longest, until):
        self.taken.append((pair, longest, until))
        return "refused" if pair.guest in self.refuses else ""

    def requeue(self, job, why):
        self.backs.append((self.now, job, why))
        return "refused" if job in self.refuses else ""

    def set_quotas(self, pairs):
        self.quotas.append((self.now, tuple(pairs)))


class Bench:
    """A site whose jobs share; ``at`` applies events and returns whether a decision is due at a time."""

    def __init__(self, *candidates, processors=4, **options):
        self.book, self.system, self.decisions, self.backs = BatchBook(processors), Notes(*candidates), [], []
        self.shares = Shares(
            self.book,
            self.system,
            type("Quiet", (), {"name": "quiet"})(),
            notify=lambda view, answer: self.decisions.append((view, answer)),
            report_back=self.backs.append,
            **options,
        )

    def at(self, now, *events):
        self.system.now = now
        for event in events:
            self.book.take(event)
        return self.shares.due(now)

    def act(self, now, *shares, back=()):
        view = self.shares.view(now)
        self.shares.act(Sharing(tuple(shares), tuple(back)), now)
        return view

    def release(self, job, now):
        row = self.book.queue()[self.book.columns(self.book.queue())[0].tolist().index(job)]
        self.book.release([row], ["fits"], now)

    def end_of(self, job):
        running = self.book.view(self.system.now).running
        return dict(zip(running.job.tolist(), running.expected_end.tolist(), strict=True))[job]


HOST, GUEST = Candidate(1, "montage", 4, 1e9, 100.0), Candidate(2, "blast", 2, 1e9, 40.0, restarts=True)
HALF = Share(1, 2, 50, "idle")


def waiting(each, at=0.0):
    return Submitted(each.job, at, each.cores, each.request)


def running(each, at=0.0):
    return Holds(each.job, at, each.cores, each.request)


def pair(guest=GUEST, quota=50, others=(), **options):
    """Job 2 became a guest of job 1 at 30 s, and has run since 31 s."""
    bench = Bench(HOST, guest, *others, **options)
    bench.at(0.0, running(HOST), waiting(guest, 1.0))
    bench.at(30.0)
    bench.act(30.0, Share(1, guest.job, quota, "idle"))
    bench.at(31.0, Started(guest.job, 31.0))
    return bench
