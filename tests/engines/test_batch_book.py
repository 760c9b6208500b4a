"""The book of a batch system's jobs against a plain one: a dictionary per job, and sums over all jobs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from windlass.engines.backoff import Backoff
from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.system import (
    Cancelled,
    Capacity,
    Delayed,
    Ended,
    Holds,
    NoMore,
    Resized,
    Started,
    Submitted,
)

NAN = math.nan


class PlainBook:
    """The documented effect of each event, job by job."""

    def __init__(self, processors):
        self.processors = self.most = processors
        self.jobs, self.closed = {}, False

    def enter(self, job, at, procs, request, ours):
        if job in self.jobs:
            self.part(job)
        fresh = {
            "state": "waits", "job": job, "submit": at, "procs": procs, "request": request, "ours": ours,
            "host": None, "guest": None, "note": NAN, "expected": NAN, "wakes": NAN, "released": NAN,
            "start": NAN, "end": NAN, "paused": 0.0, "refusals": 0, "cancelled": False, "why": None,
        }  # fmt: skip
        # A job that arrives again keeps its place among the known jobs.
        if job in self.jobs:
            self.jobs[job].__dict__.update(fresh)
        else:
            self.jobs[job] = SimpleNamespace(**fresh)
        return self.jobs[job]

    def part(self, job):
        one = self.jobs[job]
        for other in (one.host, one.guest):
            if other is not None:
                self.jobs[other].host = None if self.jobs[other].host == job else self.jobs[other].host
                self.jobs[other].guest = None if self.jobs[other].guest == job else self.jobs[other].guest
        one.host = one.guest = None

    def take(self, event):
        """Apply an event; return whether a decision is due."""
        if isinstance(event, Submitted):
            self.enter(event.job, event.at, event.procs, event.request, True)
            return True
        if isinstance(event, Holds):
            one = self.enter(event.job, event.at, event.procs, event.request, False)
            self.begin(one, event.at)
        elif isinstance(event, Capacity):
            self.processors = event.processors
            self.most = max(self.most, event.processors)
        elif isinstance(event, NoMore):
            self.closed = True
        elif event.job in self.jobs:
            one = self.jobs[event.job]
            if isinstance(event, Started):
                self.begin(one, event.at)
            elif isinstance(event, Resized):
                if one.state in ("released", "runs") and one.host is None and one.guest is None:
                    one.procs = event.procs
            elif isinstance(event, Delayed):
                if one.state in ("released", "runs"):
                    one.expected += event.seconds
                    one.paused += event.seconds
            elif one.state != "over":
                self.part(event.job)
                one.state, one.end, one.cancelled = "over", event.at, isinstance(event, Cancelled)
                return True
        return False

    @staticmethod
    def begin(one, at):
        one.state, one.start, one.end = "runs", at, NAN
        if one.host is None:
            one.expected = at + one.request

    def release(self, job, why, now):
        one = self.jobs[job]
        one.state, one.released, one.why, one.expected = "released", now, why, now + one.request

    def own(self, one):
        return one.procs - (0 if one.guest is None else self.jobs[one.guest].procs)

    def of(self, *states):
        return [one for one in self.jobs.values() if one.state in states]

    def look(self):
        """Return all answers of the book as plain values."""
        holders, waiting = self.of("released", "runs"), self.of("waits", "rests")
        held = sum(self.own(one) for one in holders)
        widest = max((one.procs for one in waiting), default=0)
        queue = sorted(self.of("waits"), key=lambda one: one.submit)
        ours = sorted((one for one in self.jobs.values() if one.ours), key=lambda one: one.submit)
        return {
            "held": held,
            "free": max(0, self.processors - held),
            "owed": max(0, held - self.processors),
            "resting": bool(self.of("rests")),
            "waiting": len(waiting),
            "drained": self.processors < widest <= self.most,
            "over": self.closed and not any(one.ours and one.state != "over" for one in self.jobs.values()),
            "wakes": min((one.wakes for one in self.of("rests")), default=math.inf),
            "queue": [one.job for one in queue],
            "shown": [(one.submit, one.procs, one.request, str(one.note)) for one in queue],
            "holders": sorted((one.expected, self.own(one), one.job) for one in holders),
            "site": (self.most, max(0, self.processors - held), max(0, held - self.processors)),
            "runs": [one.job for one in self.of("runs")],
            "each": {
                one.job: (
                    one.state == "waits",
                    one.state in ("released", "runs"),
                    self.own(one),
                    str(one.released),
                    one.paused,
                )
                for one in self.jobs.values()
            },
            "result": [
                (
                    *(one.job, one.submit, one.request, one.procs, one.cancelled, one.why),
                    *map(str, (one.released, one.start, one.end)),
                )
                for one in ours
            ],
            "processors": self.processors,
        }


def looked(book, now, jobs):
    """Return the same values of the real book."""
    view, queue, run = book.view(now), book.queue(), book.result(3)
    numbers, procs = book.columns(queue)
    waiting, running = view.waiting, view.running
    assert numbers.tolist() == waiting.job.tolist()
    assert procs.tolist() == waiting.procs.tolist()
    assert (view.now, view.refused, run.decisions) == (now, book.refused, 3)
    holders = [*zip(running.expected_end.tolist(), running.procs.tolist(), running.job.tolist(), strict=True)]
    # By expected end; of equal ends the narrowest first.
    assert [each[:2] for each in holders] == sorted(each[:2] for each in holders)
    reasons = [None if code < 0 else run.reasons[code] for code in run.why]
    columns = (run.job, run.submit, run.request, run.procs, run.cancelled)
    times = ([str(each) for each in column.tolist()] for column in (run.released, run.start, run.end))
    return {
        **{name: getattr(book, name) for name in ("held", "free", "owed", "resting", "waiting", "drained")},
        "over": book.over(),
        "wakes": book.wakes(),
        "queue": waiting.job.tolist(),
        "shown": [
            (submit, wide, request, str(note))
            for submit, wide, request, note in zip(
                *(each.tolist() for each in (waiting.submit, waiting.procs, waiting.request, waiting.note)),
                strict=True,
            )
        ],
        "holders": sorted(holders),
        "site": (view.processors, view.free, view.owed),
        "runs": book.running(),
        "each": {
            job: (
                book.waits(job),
                bool(book.holds(job)),
                book.width(job),
                str(book.released(job)),
                book.paused(job),
            )
            for job in jobs
        },
        "result": [
            *zip(*(each.tolist() for each in columns), reasons, *times, strict=True),
        ],
        "processors": run.processors,
    }


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(16))
def test_after_any_events_the_book_equals_a_plain_one(seed):
    rng = np.random.default_rng(seed)
    book, plain, now = BatchBook(6), PlainBook(6), 0.0
    for _ in range(150):
        now += float(rng.integers(0, 3))
        job = int(rng.integers(0, rng.choice([4, 90])))
        states = {name: [one.job for one in plain.of(name)] for name in ("waits", "released", "runs")}
        alone = [
            one.job
            for one in plain.of("released", "runs")
            if one.host is None and one.guest is None and one.procs > 1
        ]
        kind = int(rng.integers(0, 15))
        at, procs, request = (
            now - float(rng.integers(0, 4)),
            int(rng.integers(1, 9)),
            float(rng.integers(1, 9)),
        )
        event = None
        if kind in (0, 1, 2):
            event = Submitted(job, at, procs, request)
        elif kind == 3:
            event = Holds(job, at, procs, request)
        elif kind == 4:
            event = Started(job, now)
        elif kind == 5 and states["released"]:
            event = Started(int(rng.choice(states["released"])), now)
        elif kind == 6:
            event = (Ended if rng.random() < 0.5 else Cancelled)(job, now)
        elif kind == 7:
            event = Delayed(job, now, request)
        elif kind == 8:
            event = Capacity(procs + 1)
        elif kind == 14:
            event = Resized(job, now, procs)
        elif kind == 9 and rng.random() < 0.2:
            event = NoMore()
        elif kind in (9, 10) and states["waits"]:
            queue = book.queue()
            chosen = np.sort(rng.choice(len(queue), rng.integers(1, len(queue) + 1), replace=False))
            names = [f"why {each}" for each in rng.integers(0, 3, len(chosen))]
            for each, why in zip(book.columns(queue[chosen])[0].tolist(), names, strict=True):
                plain.release(each, why, now)
            book.release(queue[chosen], names, now)
            # The refused jobs are the remaining ones.
            assert book.refused == len(book.queue())
        elif kind == 11 and states["released"]:
            one = plain.jobs[int(rng.choice(states["released"]))]
            plain.part(one.job)
            one.state, one.wakes = "rests", now + 0.25 * 2.0**one.refusals
            one.refusals, one.why = one.refusals + 1, None
            one.released = one.expected = NAN
            assert book.rest(one.job, now, Backoff(0.25)) == one.refusals
            assert book.refused == 0
        elif kind == 12:
            rested = [one for one in plain.of("rests") if one.wakes <= now]
            for one in rested:
                one.state = "waits"
            before = book.refused
            assert book.wake(now) == bool(rested)
            assert book.refused == (0 if rested else before)
        elif kind == 13 and alone:
            host = plain.jobs[int(rng.choice(alone))]
            fit = [one for one in plain.of("waits") if one.procs <= host.procs]
            there = [one for one in plain.of("runs") if one.job in alone and one.procs <= host.procs]
            there = [one for one in there if one.job != host.job]
            if fit:
                guest = fit[int(rng.integers(len(fit)))]
                plain.release(guest.job, "shares", now)
                guest.expected, guest.host, host.guest = now + 7.0, host.job, guest.job
                book.take_in(host.job, guest.job, now + 7.0, "shares", now)
                assert book.refused == 0
            elif there:
                guest = there[0]
                guest.host, host.guest = host.job, guest.job
                book.join(host.job, guest.job)
                if rng.random() < 0.5:
                    plain.part(guest.job)
                    guest.expected = now + 3.0
                    book.apart(guest.job, now + 3.0)
        if event is not None:
            assert bool(book.take(event)) == plain.take(event)
        assert looked(book, now, plain.jobs) == plain.look()
        notes = rng.random(len(book.queue()))
        if rng.random() < 0.2:
            for one, note in zip(book.columns(book.queue())[0].tolist(), notes.tolist(), strict=True):
                plain.jobs[one].note = note
            book.keep(book.queue(), notes)
            book.keep(book.queue(), None)


def test_jobs_of_equal_submission_wait_in_order_of_arrival():
    rng, book = np.random.default_rng(5), BatchBook(4)
    submits = rng.integers(0, 3, 300).astype(float).tolist()
    for number, submit in enumerate(submits):
        book.take(Submitted(number, submit, 1 + number % 4, 60.0))
    order = sorted(range(300), key=lambda number: submits[number])
    assert book.columns(book.queue())[0].tolist() == book.result(0).job.tolist() == order


def test_a_separated_guest_has_its_own_expected_end():
    book = BatchBook(8)
    for number, request in ((1, 50.0), (2, 90.0)):
        book.take(Holds(number, 0.0, 3, request))
    book.join(1, 2)
    assert (book.width(1), book.width(2), book.held) == (0, 3, 3)
    book.apart(2, 20.0)
    running = book.view(10.0).running
    assert running.job.tolist() == [2, 1]
    assert running.expected_end.tolist() == [20.0, 50.0]
    assert (book.width(1), book.width(2), book.held) == (3, 3, 6)
    assert not book.processors_changed()
