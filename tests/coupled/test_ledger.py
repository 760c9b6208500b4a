"""The ledger compared with a plain one after random takes, releases and capacity changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types

from tests.coupled.cases import jobs_of
from tests.oracles.workloads import CHECK
from windlass.jit import Kernel
from windlass.model import InputError
from windlass.model.timetable import NodeTimetable
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim import coupled
from windlass.sim.cores import PIECES, give_back, holds_on, make_pieces, take
from windlass.sim.handle import Handle, opening
from windlass.sim.ledger import Ledger
from windlass.sim.nodes import NODES
from windlass.sim.outages import Outages
from windlass.sim.part import Quiet
from windlass.sim.site.part import SitePart

_HOLDERS, _PARTS = 6, 2


class Taker(NamedTuple):
    """The ledger, and the pieces that the holders of one part have."""

    nodes: Any
    pieces: Any


_TAKER = types.NamedTuple((NODES, PIECES), Taker)
_opened = opening(_TAKER)


def _take(address, holder, site, part, cores):
    taker = _opened(address)
    take(taker.nodes, taker.pieces, holder, site, part, cores)
    return 0


def _give(address, holder, site, part):
    taker = _opened(address)
    give_back(taker.nodes, taker.pieces, holder, site, part)
    return 0


def _holds(address, holder, row):
    return np.int64(holds_on(_opened(address).pieces, holder, row))


_TAKE = Kernel(_take, types.int64(*(types.int64,) * 5), allocates=False)
_GIVE = Kernel(_give, types.int64(*(types.int64,) * 4), allocates=False)
_HOLDS = Kernel(_holds, types.int64(*(types.int64,) * 3), allocates=False)


class Both:
    """A ledger and a plain list of holdings, compared after each step."""

    def __init__(self, sites: list[list[int]]) -> None:
        self.ledger = Ledger(sites, _PARTS)
        most = sum(map(sum, sites))
        self.handles = [
            Handle(Taker(self.ledger.nodes, make_pieces(_HOLDERS, most)), _TAKER) for _ in range(_PARTS)
        ]
        self.site_of = [site for site, rows in enumerate(sites) for _ in rows]
        self.whole = [cores for rows in sites for cores in rows]
        self.capacity = list(self.whole)
        self.held: dict[tuple[int, int], dict[int, int]] = {}
        self.single = np.zeros((len(self.whole), _PARTS), np.int64)
        self.last = (self.idle(), list(self.capacity))

    def idle(self) -> list[int]:
        idle = [cores - int(single) for cores, single in zip(self.capacity, self.single.sum(1), strict=True)]
        for pieces in self.held.values():
            for row, cores in pieces.items():
                idle[row] -= cores
        return idle

    def take(self, part: int, holder: int, site: int, share: float) -> None:
        rows, idle = self.ledger.rows(site), self.idle()
        free = sum(max(idle[row], 0) for row in rows)
        cores = int(np.ceil(share * free))
        if (part, holder) in self.held or not cores:
            return
        _TAKE.ready()(self.handles[part].address, holder, site, part, cores)
        mine = self.held[part, holder] = {}
        for row in rows:
            some = min(max(idle[row], 0), cores)
            cores -= some
            if some:
                mine[row] = some

    def give(self, part: int, holder: int) -> None:
        mine = self.held.pop((part, holder), None)
        if mine is not None:
            _GIVE.ready()(self.handles[part].address, holder, self.site_of[next(iter(mine))], part)

    def hold(self, part: int, row: int, cores: int) -> None:
        before = self.single[row, part]
        idle = max(self.idle()[row], 0)
        # Giving back what holders of this part have would leave these with nothing to give.
        self.single[row, part] += min(cores, idle) if cores > 0 else -min(before, -cores)
        more = int(self.single[row, part] - before)
        if cores > 0 or more:
            self.ledger.hold(row, part, cores if cores > 0 else more)

    def change(self, row: int, share: float) -> None:
        self.capacity[row] = int(share * self.whole[row])
        self.ledger.set_capacity(row, self.capacity[row])

    def check(self, watched: list[int]) -> None:
        nodes, idle = self.ledger.nodes, self.idle()
        held = self.single.copy()
        for (part, holder), pieces in self.held.items():
            for row in range(len(idle)):
                assert _HOLDS.ready()(self.handles[part].address, holder, row) == (row in pieces)
            for row, cores in pieces.items():
                held[row, part] += cores
        assert nodes.held.tolist() == held.tolist()
        assert nodes.idle.tolist() == idle
        assert nodes.capacity.tolist() == self.capacity
        for site in range(len(nodes.total)):
            rows = self.ledger.rows(site)
            mine = idle[rows.start : rows.stop]
            assert nodes.total[site] == sum(max(each, 0) for each in mine)
            assert nodes.owed[site] == sum(max(-each, 0) for each in mine)
            words = nodes.some[nodes.word[site] : nodes.word[site + 1]].tolist()
            bits = "".join(f"{word:064b}"[::-1] for word in words)
            assert bits == "".join("1" if each > 0 else "0" for each in mine).ljust(len(bits), "0")
            assert not any(nodes.some[nodes.word[site] : nodes.lowest[site]])
        self.ledger.take_changed()
        taken = nodes.to_settle[: nodes.counts[0]["to_settle"]].tolist()
        was_idle, had = self.last
        changed = {
            row for row in range(len(idle)) if (idle[row], self.capacity[row]) != (was_idle[row], had[row])
        }
        assert len(set(taken)) == len(taken)
        assert changed & set(watched) <= set(taken) <= set(watched)
        assert not self.ledger.take_changed()
        self.last = (idle, list(self.capacity))


@st.composite
def steps(draw: st.DrawFn) -> tuple[list[list[int]], list[tuple[Any, ...]]]:
    """Two sites, of which one may have more rows than fit a word, and operations on them."""
    few = st.lists(st.integers(0, 4), min_size=1, max_size=5)
    many = st.integers(63, 140).map(lambda count: [each % 4 for each in range(count)])
    sites = [draw(st.one_of(few, many)), draw(few)]
    row = st.integers(0, sum(map(len, sites)) - 1)
    part, holder = st.integers(0, _PARTS - 1), st.integers(0, _HOLDERS - 1)
    site, share = st.integers(0, 1), st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])
    step = st.one_of(
        st.tuples(st.just("take"), part, holder, site, share),
        st.tuples(st.just("take"), part, holder, site, share),
        st.tuples(st.just("give"), part, holder),
        st.tuples(st.just("hold"), part, row, st.integers(-3, 3)),
        st.tuples(st.just("change"), row, share),
        st.tuples(st.just("change"), row, share),
    )
    return sites, draw(st.lists(step, max_size=40))


@settings(CHECK, max_examples=200)
@given(drawn=steps())
def test_the_ledger_equals_a_plain_one_after_any_steps(
    drawn: tuple[list[list[int]], list[tuple[Any, ...]]],
) -> None:
    sites, done = drawn
    both = Both(sites)
    both.ledger.watch(0)
    watched = list(both.ledger.rows(0))
    both.check(watched)
    for what, *arguments in done:
        getattr(both, what)(*arguments)
        both.check(watched)


@pytest.mark.parametrize(
    ("sites", "problem"), [([[]], "rows of"), ([[1, -1]], "rows of"), ([[2], []], "site 1")]
)
def test_sites_without_rows_or_with_negative_cores_are_rejected(sites: list[list[int]], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Ledger(sites, parts=1)


class AlwaysDue(Quiet):
    """A part that is always due at the same instant."""

    def horizon(self) -> float:
        return 3.0


def test_time_that_stands_still_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 100)
    ledger = Ledger([[2]], parts=1)
    cluster = coupled.Coupled([SitePart(jobs_of((0, 5, 1)), Fcfs(), ledger), AlwaysDue()], ledger)
    with pytest.raises(InputError, match=r"^time stands still at 3\.0 s: 100 times"):
        cluster.wait()


def test_many_jobs_of_length_zero_may_run_at_one_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 100)
    ledger = Ledger([[1]], parts=1)
    ledger.watch(0)
    cluster = coupled.Coupled([SitePart(jobs_of(*[(7, 0, 1)] * 90), Fcfs(), ledger), Quiet()], ledger)
    assert cluster.wait() is None
    assert set(cluster.result()[0].end) == {7.0}


class Holder(Quiet):
    """Takes cores while others settle; releases none, or those to be vacated."""

    def __init__(self, ledger: Ledger, *, releases: bool) -> None:
        self._ledger, self._lets_go, self.rounds = ledger, releases, 0
        ledger.watch(0)

    def horizon(self) -> float:
        return np.inf

    def settle(self, now: float) -> None:
        self.rounds += 1
        if self._lets_go and self._ledger.nodes.vacate[0]:
            self._ledger.hold(0, 0, -2)
        else:
            self._ledger.hold(0, 0, 2)


@pytest.mark.parametrize("releases", [False, True])
def test_a_part_that_keeps_vacated_cores_is_named(releases: bool) -> None:
    ledger = Ledger([[2, 2]], parts=1)
    holder = Holder(ledger, releases=releases)
    times = NodeTimetable.outage(1, 1.0, None, cores=2) + NodeTimetable.outage(
        0, 2.0, None, cores=2, kill=True
    )
    jobs = SitePart(jobs_of((5, 1, 1)), Fcfs(), Ledger([[1]], parts=1))
    cluster = coupled.Coupled([Outages(times, ledger), holder, jobs], ledger)
    if releases:
        assert cluster.wait() is None
        assert ledger.nodes.held.tolist() == [[0], [0]]
    else:
        with pytest.raises(InputError, match=r"^part 0 holds 2 cores of row 0, which was to be vacated"):
            cluster.wait()
    # Requesting unavailable cores again marks no change, so that settling ends.
    assert holder.rounds < 10


def test_unknown_rows_sites_and_parts_are_named() -> None:
    ledger = Ledger([[4], [2, 2]], parts=1)
    for wrong in (
        lambda: ledger.hold(3, 0, 1),
        lambda: ledger.hold(0, 1, 1),
        lambda: ledger.set_capacity(-1, 1),
        lambda: ledger.set_capacity(1, 3),
        lambda: ledger.set_capacity(1, -1),
        lambda: SitePart(jobs_of((0, 1, 1)), Fcfs(), ledger, site=2),
        lambda: SitePart(jobs_of((0, 1, 1)), Fcfs(), ledger, number=1),
        lambda: SitePart(jobs_of((0, 1, 1)), Fcfs(), Ledger([[4]], parts=0)),
    ):
        with pytest.raises(InputError, match=r"^(row|site|part)"):
            wrong()
    assert ledger.nodes.held.sum() == 0


def test_the_width_of_a_site_is_its_full_capacity() -> None:
    # Half of it is away, and some is held by another part, when the jobs' part is made.
    ledger = Ledger([[1] * 8], parts=2)
    for row in range(4, 8):
        ledger.set_capacity(row, 0)
    ledger.hold(0, 1, 1)
    site = SitePart(jobs_of((0, 5, 4), (0, 5, 4), (6, 1, 8)), Fcfs(), ledger, record=True)
    back = NodeTimetable(np.full(4, 1.0), np.arange(4, 8), np.ones(4, np.int64), np.zeros(4, bool))
    other = Releasing(ledger)
    cluster = coupled.Coupled([Outages(back, ledger), other, site], ledger)
    assert cluster.wait() is None
    replay = cluster.result()[2]
    assert replay.start.tolist() == [1.0, 3.0, 8.0]
    assert [len(replay.held[replay.held[:, 0] == row]) for row in range(3)] == [4, 4, 8]
    assert ledger.nodes.held.sum() == 0


class Releasing(Quiet):
    """Releases row 0 at 3 s."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._at = ledger, 3.0

    def horizon(self) -> float:
        return self._at

    def advance(self, until: float) -> float:
        if self._at <= until:
            self._ledger.hold(0, 1, -1)
            self._at = np.inf
        return until
