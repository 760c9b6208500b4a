"""Jobs on processors of other jobs: the compiled site compared with a plain one after random operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.guests import Job, Plain
from tests.oracles.workloads import CHECK
from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.part import Quiet
from windlass.sim.site.rated import RatedSite

#: Sums and quotients of these and of halves of seconds are exact.
_RATES = (0.0, 0.25, 0.5, 1.0, 2.0)


class Comparison(Quiet):
    """Applies random operations to both sites, and compares them after each round and each operation."""

    def __init__(
        self, site: RatedSite, ledger: Ledger, plain: Plain, drawn: list[tuple[float, str, int, int]]
    ) -> None:
        ledger.watch(0)
        self.site, self.ledger, self.plain = site, ledger, plain
        self.left, self.done = sorted(drawn, key=lambda each: each[0]), 0

    def horizon(self) -> float:
        return self.left[0][0] if self.left else math.inf

    def decide(self, now: float) -> tuple[()]:
        self.plain.round(now)
        self.check(now)
        while self.left and self.left[0][0] <= now:
            _, what, first, second = self.left.pop(0)
            getattr(self, what)(now, first, second)
            self.check(now)
        return ()

    def rates(self, now: float, first: int, second: int) -> None:
        if self.plain.running:
            job = self.plain.running[first % len(self.plain.running)]
            # A speed and a pace of 0 for good would never end.
            rate, pace = _RATES[second % 5], _RATES[second % 3 + 1]
            job.go_on(now)
            job.rate, job.pace = rate, pace
            self.site.set_rate(job.row, rate, now, pace=pace)

    def guests(self, now: float, first: int, second: int) -> None:
        if not self.plain.running or not self.plain.queue:
            return
        host = self.plain.running[first % len(self.plain.running)]
        guest = self.plain.queue[second % len(self.plain.queue)]
        promise = now + second / 2
        if host.host is not None or host.guest is not None:
            with pytest.raises(InputError, match="shares already"):
                self.site.take_in(host.row, guest.row, promise, now, "shares")
        elif guest.procs > host.procs:
            with pytest.raises(InputError, match=f"needs {guest.procs} processors of {host.procs}"):
                self.site.take_in(host.row, guest.row, promise, now, "shares")
        else:
            self.plain.take_in(host, guest, promise, now)
            self.site.take_in(host.row, guest.row, promise, now, "shares")
            self.done += 1
            self.check(now)
            guest.go_on(now)
            guest.rate = guest.pace = 0.5
            self.site.set_rate(guest.row, 0.5, now, pace=0.5)

    def evictions(self, now: float, first: int, second: int) -> None:
        if self.plain.running and second % 3 == 0:
            job = self.plain.running[first % len(self.plain.running)]
            self.plain.evict(job, now)
            self.site.evict(job.row, now)

    def check(self, now: float) -> None:
        plain, site, state = self.plain, self.site, self.site._run.site
        rows = site.running().tolist()
        assert sorted(rows) == sorted(job.row for job in plain.running)
        of = {job.row: job for job in plain.running}
        keys = [(of[row].expected, of[row].width()) for row in rows]
        assert keys == sorted(keys)
        assert [(state.expected_end[row], site.width(row)) for row in rows] == keys
        assert site.waiting().tolist() == [job.row for job in plain.queue]
        for job in plain.queue:
            assert site.width(job.row) == job.procs
        slots = [int(state.slot[row]) for row in rows]
        assert len(set(slots)) == len(slots)
        assert [int(state.row_of[slot]) for slot in slots] == rows
        nodes = self.ledger.nodes
        held = sum(job.width() for job in plain.running)
        assert (site.free(), nodes.idle.sum(), nodes.held.sum()) == (plain.free(), plain.free(), held)
        on_rows = np.zeros_like(nodes.held[:, 0])
        for row, slot in zip(rows, slots, strict=True):
            own = pieces_of(site, slot)
            assert sum(cores for _, cores in own) == of[row].width()
            for node, cores in own:
                on_rows[node] += cores
        assert on_rows.tolist() == nodes.held[:, 0].tolist()
        for row in rows:
            job = of[row]
            step = now - job.since
            assert site.began(row) == job.start
            assert site.work_left(row, now) == max(0.0, job.left - step * job.rate)
            assert site.ran(row, now) == job.request - job.allowance + step * job.pace


def pieces_of(site: RatedSite, slot: int) -> list[tuple[int, int]]:
    """Return the rows on which a running job has cores, and how many; further pieces are never empty."""
    pieces = site._run.pieces
    found, piece = [(int(pieces.last_row[slot]), int(pieces.last_cores[slot]))], int(pieces.chain[slot])
    while piece >= 0:
        assert pieces.cores[piece] > 0
        found.append((int(pieces.row[piece]), int(pieces.cores[piece])))
        piece = int(pieces.after[piece])
    return found


@st.composite
def steps(draw: st.DrawFn) -> tuple[int, JobTable, list[tuple[float, str, int, int]]]:
    """Jobs at halves of seconds, as wide as the site or of no length, and what is done to them when."""
    processors, count = draw(st.sampled_from([1, 2, 4])), draw(st.integers(1, 10))
    columns = [
        draw(st.lists(each, min_size=count, max_size=count))
        for each in (
            st.integers(0, 4),
            st.sampled_from([0, 1, 8, 16, 16]),
            st.one_of(st.integers(1, processors), st.just(processors)),
            st.sampled_from([0, 1, 8, 16, 40]),
        )
    ]
    gap, run_time, procs, request = (np.array(column) for column in columns)
    jobs = JobTable.of(np.cumsum(gap) / 2, run_time / 2, procs, request / 2)
    what = st.sampled_from(["rates", "guests", "guests", "evictions"])
    number = st.integers(0, 29)
    step = st.tuples(st.integers(0, 50).map(lambda time: time / 2), what, number, number)
    return processors, jobs, draw(st.lists(step, max_size=30))


def compare(
    processors: int,
    jobs: JobTable,
    drawn: list[tuple[float, str, int, int]],
    *,
    kill: bool,
    cores: int | None = None,
) -> tuple[Any, Plain, int]:
    table = [
        Job(row, int(procs), float(work), float(request), float(request) if kill else math.inf)
        for row, (procs, work, request) in enumerate(zip(jobs.procs, jobs.run, jobs.request, strict=True))
    ]
    plain = Plain(processors, list(zip(jobs.submit.tolist(), table, strict=True)))
    # Without outages, nodes of some cores each behave as a pooled site.
    rows = [processors] if cores is None else [cores] * (processors // cores)
    ledger = Ledger([rows], parts=1)
    site = RatedSite(jobs, POLICIES.find("fcfs")(), ledger, kill=kill)
    # All slowed jobs eventually continue.
    part = Comparison(site, ledger, plain, drawn)
    at_last = Faster(site, plain)
    assert Coupled([site, part, at_last], ledger).wait() is None
    replay = site.result()
    assert replay.end.tolist() == [job.end for job in table]
    assert replay.start.tolist() == [job.start for job in table]
    assert replay.lost.tolist() == plain.lost
    return replay, plain, part.done


class Faster(Quiet):
    """At 60 s all running jobs return to full speed."""

    def __init__(self, site: RatedSite, plain: Plain) -> None:
        self._site, self._plain, self._next = site, plain, 60.0

    def horizon(self) -> float:
        return self._next

    def decide(self, now: float) -> tuple[()]:
        if now >= self._next:
            self._next = math.inf
            for job in self._plain.running:
                job.go_on(now)
                job.rate = job.pace = 1.0
                self._site.set_rate(job.row, 1.0, now)
        return ()


@pytest.mark.slow
@settings(CHECK, max_examples=400)
@given(drawn=steps(), kill=st.booleans(), on_nodes=st.booleans())
def test_the_site_equals_a_plain_one_after_any_operations(
    drawn: tuple[int, JobTable, list[tuple[float, str, int, int]]], kill: bool, on_nodes: bool
) -> None:
    compare(*drawn, kill=kill, cores=1 + drawn[0] // 4 if on_nodes else None)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("cores", [None, 1, 5])
@pytest.mark.parametrize("seed", range(5))
def test_guests_make_more_jobs_run_than_processors_and_slots(seed: int, cores: int | None) -> None:
    # Room for slots is made while guests come: there are 64 at first, and twice as many jobs may run.
    rng = np.random.default_rng(seed)
    count = 400
    jobs = JobTable.of(
        np.sort(rng.integers(0, 40, count)) / 2, rng.integers(8, 80, count) / 2, np.ones(count, int)
    )
    what = rng.choice(["guests", "guests", "guests", "rates", "evictions"], 600)
    numbers = rng.integers(0, 10_000, (600, 2))
    drawn = [
        (float(time), str(name), int(first), int(second))
        for time, name, (first, second) in zip(rng.integers(0, 100, 600) / 2, what, numbers, strict=True)
    ]
    _, _, taken = compare(50, jobs, drawn, kill=False, cores=cores)
    assert taken > 50


@pytest.mark.parametrize("seed", range(5))
def test_wide_hosts_lend_cores_of_several_nodes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 120
    jobs = JobTable.of(
        np.sort(rng.integers(0, 60, count)) / 2, rng.integers(8, 80, count) / 2, rng.integers(1, 13, count)
    )
    what = rng.choice(["guests", "guests", "rates", "evictions"], 400)
    numbers = rng.integers(0, 10_000, (400, 2))
    drawn = [
        (float(time), str(name), int(first), int(second))
        for time, name, (first, second) in zip(rng.integers(0, 120, 400) / 2, what, numbers, strict=True)
    ]
    _, _, taken = compare(24, jobs, drawn, kill=False, cores=4)
    assert taken > 20


def test_invalid_operations_are_named_and_change_nothing() -> None:
    jobs = JobTable.of([0, 0, 0, 9], [5, 5, 5, 5], [2, 2, 1, 1], job=[7, 8, 9, 10])
    site = RatedSite(jobs, POLICIES.find("fcfs")(), Ledger([[2]], parts=1))
    site.advance(0.0)
    site.decide(0.0)
    for host, guest in ((1, 2), (0, 3), (0, 0)):
        with pytest.raises(InputError, match="the one does not run, or the other does not wait"):
            site.take_in(host, guest, 9.0, 0.0, "shares")
    with pytest.raises(InputError, match="job 8 does not run"):
        site.evict(1, 0.0)
    with pytest.raises(InputError, match="pace is -1"):
        site.set_rate(0, 1.0, 0.0, pace=-1.0)
    assert (site.running().tolist(), site.waiting().tolist()) == ([0], [1, 2])


def test_work_left_by_rounding_ends_at_once() -> None:
    # Of a clock of 1e8 s an end is a rounding away from the work that leads there.
    for work in (0.3, 0.1, 1 / 3):
        jobs = JobTable.of([1e8], [work], [1], [900])
        site = RatedSite(jobs, POLICIES.find("fcfs")(), Ledger([[1]], parts=1))
        site.advance(1e8)
        site.decide(1e8)
        just_before = float(np.nextafter(1e8 + work, 0.0))
        site.advance(just_before)
        site.set_rate(0, 0.0, just_before)
        site.advance(just_before + 1.0)
        assert site.result().end.tolist() == [just_before]
