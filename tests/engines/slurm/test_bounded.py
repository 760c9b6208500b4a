"""A driver in service keeps what concerns the live queue, and nothing about ended jobs."""

import json
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.slurm.fake_commands import job, node, nodes, over, running
from windlass.drive import drive
from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.owners import LiveOwners
from windlass.engines.batch.store import EntryStore
from windlass.engines.batch.system import Cancelled, Ended, Holds, Started, Submitted
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.entries import Releasing, Returning, Withheld
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.sharing import sharing_site
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.order.site.policies.easy import Easy
from windlass.share.usage import MOST_CLASSES, ClassUse

#: Live jobs of the conveyor.
LIVE = 6


def entries_of(root):
    """Return the number of elements in all containers that an object of Windlass reaches."""
    seen, stack, count = set(), [root], 0
    while stack:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        match one:
            case np.ndarray():
                count += one.size
            case dict():
                count += len(one)
                stack += [*one.keys(), *one.values()]
            case list() | tuple() | set() | frozenset():
                count += len(one)
                stack += one
            case _ if type(one).__module__.startswith("windlass"):
                names = [each.name for each in fields(one)] if is_dataclass(one) else []
                stack += [*getattr(one, "__dict__", {}).values(), *(getattr(one, name) for name in names)]
            case _ if hasattr(one, "__self__"):
                stack.append(one.__self__)
    return count


class Conveyor:
    """A Slurm in which jobs come and go: a released job runs for a poll, ends, and is listed for one more.

    Each ended job is replaced. ``until`` jobs end; ``at_end`` is then called.
    """

    def __init__(self, until, at_end):
        self.until, self.at_end, self.next = until, at_end, LIVE
        self.rows, self.released = {each: self.held(each) for each in range(LIVE)}, set()

    @staticmethod
    def held(number):
        # Some jobs of each round are ones that a driver leaves alone, each in its way.
        return job(number, cpus=1, node_count=1, **({"array_task_string": "1-3"} if number % 7 == 0 else {}))

    def __call__(self, command, timeout):
        match command:
            case ["squeue", "--json", *_]:
                self.step()
                return 0, json.dumps({"errors": [], "jobs": list(self.rows.values())}), ""
            case ["sinfo", *_]:
                return 0, nodes(node("w1", cpus=4)), ""
            case ["scontrol", "release", listed]:
                self.released |= {int(each) for each in listed.split(",")}
                return 0, "", ""
        raise AssertionError(f"no command of Slurm's: {command}")

    def step(self):
        for number, row in list(self.rows.items()):
            if row["job_state"] == "COMPLETED":
                del self.rows[number]
                self.rows[self.next] = self.held(self.next)
                self.next += 1
            elif row["job_state"] == "RUNNING" or row["array_task_string"]:
                self.rows[number] = over(number, cpus=1, node_count=1)
            elif number in self.released:
                self.released.discard(number)
                self.rows[number] = running(number, cpus=1, node_count=1)
        if self.next - LIVE >= self.until:
            self.at_end()


class EnoughError(Exception):
    """The run is long enough."""


def kept_after(ended, tmp_path, forgets=True):
    """Return the entries that a driver keeps after this number of ended jobs, and its journal's size."""

    def stop():
        raise EnoughError

    clock, path = [1100.0], tmp_path / f"journal-{ended}"

    def sleep(seconds):
        clock[0] += seconds

    client = Client(Conveyor(ended, stop), 1.0, 1.0, sleep=sleep, clock=lambda: clock[0])
    with Journal(path, limit=4000) as journal:
        system = SlurmSystem(client, journal, SlurmOptions(), clock=lambda: clock[0], sleep=sleep)
        driving = Driving({"order": Easy()}, path, SlurmOptions(), forgets=forgets)
        site = sharing_site(system, client, driving, journal, lambda line: None, LiveOwners(Easy()))
        with pytest.raises(EnoughError):
            drive(site, driving.policies)
        assert site.view("order").running.job.size <= LIVE
        return entries_of(site), path.stat().st_size


@pytest.mark.slow
def test_what_a_driver_keeps_does_not_grow_with_the_jobs_that_ended(tmp_path):
    (few, short), (many, size) = (kept_after(ended, tmp_path) for ended in (200, 1000))
    assert many <= few
    assert size <= short < 50_000
    # The counter sees what grows: a driver that keeps outcomes has a row for each job.
    assert kept_after(1000, tmp_path, forgets=False)[0] > few + 500


PAIRS = st.lists(
    st.tuples(
        st.sampled_from(["submit", "holds", "start", "end", "cancel", "join", "release"]), st.integers(0, 3)
    ),
    max_size=400,
)


@given(PAIRS)
def test_a_book_that_forgets_ended_jobs_decides_the_same(steps):
    books = BatchBook(8), BatchBook(8, forgets=True)
    now, number, most = 0.0, 0, 0
    for what, pick in steps:
        now += 1.0
        plain = books[0]
        live = {
            "submit": [], "holds": [],
            "start": [job for job in known(plain) if plain.waits(job) or plain.holds(job)],
            "cancel": [job for job in known(plain) if plain.waits(job) or plain.holds(job)],
            "end": plain.running(), "join": plain.running(),
            "release": plain.columns(plain.queue())[0].tolist(),
        }[what]  # fmt: skip
        chosen = live[pick % len(live)] if live else None
        for book in books:
            if what in ("submit", "holds"):
                # Many jobs at once fill the table.
                for job in range(number, number + 10 * (pick + 1)):
                    kind = Submitted if what == "submit" else Holds
                    book.take(kind(job, now, 1 + job % 3, 60.0 + job))
            elif chosen is None:
                continue
            elif what == "release":
                row = next(row for row in book.queue() if book.columns(np.array([row]))[0][0] == chosen)
                book.release(np.array([row]), [f"reason {chosen}"], now)
            elif what == "join":
                free = [job for job in book.running() if job != chosen and book.width(job) == 1]
                if free and all(book.width(each) == 1 + each % 3 for each in (chosen, free[-1])):
                    book.join(chosen, free[-1])
            else:
                kind = {"start": Started, "end": Ended, "cancel": Cancelled}[what]
                book.take(kind(chosen, now))
        if what in ("submit", "holds"):
            number += 10 * (pick + 1)
        most = max(most, sum(plain.waits(job) or plain.holds(job) for job in known(plain)))
        assert all(same(*pair) for pair in zip(*(shown(book, now) for book in books), strict=True))
        assert len(books[1]._rows) <= max(64, 4 * most)


def known(book):
    return list(book._row_of)


def shown(book, now):
    """Return what a policy and a co-scheduler see of a book."""
    view = book.view(now)
    tables = [getattr(part, each.name) for part in (view.waiting, view.running) for each in fields(part)]
    running = book.running()
    return [*tables, book.free, book.held, book.waiting, running, [book.width(job) for job in running]]


def same(one, other):
    return np.array_equal(np.asarray(one), np.asarray(other), equal_nan=np.asarray(one).dtype.kind == "f")


def test_reasons_of_ended_jobs_are_forgotten_and_others_keep_theirs():
    book = BatchBook(1000, forgets=True)
    for number in range(300):
        book.take(Submitted(number, float(number), 1, 60.0))
        book.release(book.queue(), [f"reason {number}"], float(number))
        if number % 50:
            book.take(Ended(number, float(number)))
    found = book.result(0)
    assert len(found.job) < 100
    live = [each for each in found.job.tolist() if each % 50 == 0]
    assert live == [0, 50, 100, 150, 200, 250]
    why = dict(zip(found.job.tolist(), found.why.tolist(), strict=True))
    assert [found.reasons[why[each]] for each in live] == [f"reason {each}" for each in live]
    assert len(found.reasons) == len(found.job)


def test_a_promise_to_a_job_that_is_forgotten_has_no_effect():
    book = BatchBook(4, forgets=True)
    book.expect(7, 5.0)
    book.take(Holds(7, 0.0, 1, 60.0))
    book.expect(7, 5.0)
    assert book.view(0.0).running.expected_end.tolist() == [5.0]


def test_the_journal_knows_only_jobs_that_slurm_lists(tmp_path):
    clock, rows = [1100.0], {1: job(1), 2: job(2), 3: running(3)}

    def slurm(command, timeout):
        text = (
            json.dumps({"errors": [], "jobs": list(rows.values())})
            if command[0] == "squeue"
            else nodes(node("w"))
        )
        return 0, text, ""

    with Journal(tmp_path / "journal") as journal:
        journal.append(Withheld(5.0, 1, 1000.0), Returning(5.0, 2, 0, "x"), Releasing(5.0, 3, 1000.0, 0))
        system = SlurmSystem(Client(slurm), journal, clock=lambda: clock[0])
        for _ in range(2):
            clock[0] += 60.0
            system.poll(0.0)
            assert [len(each) for each in (journal.standing.withheld, journal.standing.returning)] == [1, 1]
        rows.clear()
        clock[0] += 60.0
        system.poll(0.0)
        assert journal.standing.entries() == []


def test_a_journal_of_many_open_actions_is_not_shortened_at_each_entry(tmp_path, monkeypatch):
    path, times = tmp_path / "journal", []
    shorten = EntryStore.shorten
    monkeypatch.setattr(EntryStore, "shorten", lambda *given: times.append(1) or shorten(*given))
    with Journal(path, limit=1000) as journal:
        journal.append(*(Releasing(5.0, number, 1.0, 0) for number in range(100)))
        for number in range(100, 300):
            journal.append(Releasing(5.0, number, 1.0, 0))
    # An entry has 60 bytes, and half of the limit stays each time.
    assert 20 <= sum(times) <= 30


def test_the_use_of_classes_measured_long_ago_is_forgotten():
    use = ClassUse([(f"c{number}", 1.0, 50.0) for number in range(MOST_CLASSES)])
    use.take("c0", 1.0, 50.0)
    use.take("new", 1.0, 70.0)
    assert (use.cpu("c0"), use.cpu("new")) == (50.0, 70.0)
    assert np.isnan(use.cpu("c1"))
    assert len(use.totals()) == MOST_CLASSES
