"""A site with changing speeds on any site of a ledger, its job queries, and the defaults of sites."""

from __future__ import annotations

import numpy as np
import pytest

from tests.coupled.cases import jobs_of
from tests.oracles.plain import Answers
from windlass.model import InputError, JobTable
from windlass.model.pools import Pools
from windlass.model.timetable import NodeTimetable
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.view import SiteView, Start
from windlass.sim import replay
from windlass.sim.cores import make_pieces
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.site.part import SitePart
from windlass.sim.site.rated import RatedSite


def test_a_rated_site_uses_the_given_site_and_part() -> None:
    reports: list[int] = []
    ledger = Ledger([[9], [3]], parts=2)
    jobs = JobTable.of([0, 0, 1], [10, 6, 4], [2, 1, 1], [60, 60, 4])
    site = RatedSite(jobs, Fcfs(), ledger, site=1, number=1, progress=reports.append)
    site.advance(0.0)
    site.decide(0.0)
    assert (site.free(), site.owed(), site.began(1), site.width(0)) == (0, 0, 0.0, 2)
    assert ledger.nodes.held.tolist() == [[0, 0], [0, 3]]
    assert np.isnan(site.began(2))
    site.advance(1.0)
    site.decide(1.0)
    assert site.waiting().tolist() == [2]
    site.take_in(host=0, guest=2, promise=9.0, now=1.0, why="it shares")
    assert (site.width(0), site.width(2), site.free()) == (1, 1, 0)
    site.set_rate(2, 1.0, 1.0)
    ledger.set_capacity(1, 1)
    assert (site.owed(), site.free()) == (2, 0)
    ledger.set_capacity(1, 3)
    site.advance(np.inf)
    assert [site.has_ended(row) for row in range(3)] == [True] * 3
    done = site.result()
    assert done.end.tolist() == [10.0, 6.0, 5.0]
    assert [done.reasons[code] for code in done.why][2] == "it shares"
    assert ledger.nodes.held.sum() == 0
    assert (site.ended(), site.waits()) == (True, False)
    assert reports == [3]


@pytest.mark.parametrize(("options", "end"), [({}, 4.0), ({"kill": True}, 4.0), ({"kill": False}, 10.0)])
def test_jobs_are_stopped_at_their_requests_by_default(options: dict[str, bool], end: float) -> None:
    jobs = JobTable.of([0], [10], [1], [4])
    for kind in (RatedSite, SitePart):
        site = kind(jobs, Fcfs(), Ledger([[1], [5]], parts=2), **options)
        site.advance(99.0)
        assert site.result().end.tolist() == [end]
        # On the first site, as the first part; nothing is recorded.
        assert site.result().processors == 1
        assert len(site.result().held) == 0


def test_a_vacated_node_kills_its_own_job_and_not_the_guest_of_a_later_one() -> None:
    jobs = JobTable.of([0, 1, 2], [50, 50, 50], [2, 2, 1], [60, 60, 60])
    ledger = Ledger([[2, 2]], parts=1)
    ledger.watch(0)
    site = RatedSite(jobs, Fcfs(), ledger)
    for now in (0.0, 1.0, 2.0):
        site.advance(now)
        site.decide(now)
    site.take_in(host=1, guest=2, promise=90.0, now=2.0, why="it shares")
    site.set_rate(2, 1.0, 2.0)
    ledger.set_capacity(0, 0, vacate=True)
    ledger.take_changed()
    site.settle(2.0)
    assert site.running().tolist() == [1, 2]
    assert site.waiting().tolist() == [0]


def test_remaining_work_is_never_negative() -> None:
    below = 0
    for work in (0.1, 0.3, 0.7, 1 / 3, 2 / 3, 0.9):
        site = RatedSite(JobTable.of([1e8], [work], [1], [900]), Fcfs(), Ledger([[1]], parts=1))
        site.advance(1e8)
        site.decide(1e8)
        end = 1e8 + work
        below += work - (end - 1e8) < 0.0
        assert 0.0 <= site.work_left(0, end) < 1e-7
        assert site.work_left(0, 1e8) == work
    assert 0 < below < 6


def test_a_job_larger_than_the_site_is_named() -> None:
    wide = JobTable.of([0, 0, 0], [1, 1, 1], [1, 3, 2], job=[7, 8, 9])
    for kind in (RatedSite, SitePart):
        with pytest.raises(InputError, match="job 8 needs 3 processors, the site has 2"):
            kind(wide, Fcfs(), Ledger([[2], [9]], parts=1))
    jobs = JobTable.of([0, 0, 0], [1, 1, 1], [1, 1, 1], job=[7, 8, 9])
    # The second has just all GPUs that there are, and asks for too much memory.
    pools = Pools.of(("GPUs", "memory"), [3, 5], [[0, 3, 4], [5, 6, 0]])
    with pytest.raises(InputError, match="job 8 needs more memory than the site has"):
        replay(jobs, 4, Fcfs(), pools=pools)
    assert replay(jobs, 4, Fcfs(), pools=Pools.of(("GPUs",), [3], [[0, 3, 3]])).start.tolist() == [0, 0, 1]
    for count in (0, -1, 1.5, np.nan):
        with pytest.raises(InputError, match="processors is"):
            replay(jobs, count, Fcfs())


def test_a_site_waits_only_if_no_job_can_run() -> None:
    ledger = Ledger([[2]], parts=1)
    site = SitePart(jobs_of((0, 5, 2), (1, 3, 2)), Fcfs(), ledger)
    assert not site.waits()
    site.advance(2.0)
    # The first runs.
    assert not site.waits()
    ledger.watch(0)
    ledger.set_capacity(0, 0)
    site.advance(5.0)
    site.decide(5.0)
    assert (site.waits(), site.ended(), site.horizon()) == (True, False, np.inf)
    assert "left 1 jobs waiting" in str(site.stuck())
    assert not SitePart(JobTable.of([], [], []), Fcfs(), Ledger([[2]], parts=1)).waits()


def test_an_unwatched_site_has_no_horizon() -> None:
    ledger = Ledger([[2], [2]], parts=2)
    sites = [SitePart(jobs_of((3, 5, 2)), Fcfs(), ledger, site=site, number=site) for site in (0, 1)]
    assert [site.horizon() for site in sites] == [np.inf, np.inf]
    ledger.watch(1)
    assert [site.horizon() for site in sites] == [np.inf, 3.0]
    ledger.watch(0)
    assert [site.horizon() for site in sites] == [3.0, 3.0]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (NodeTimetable.outage(2, 1.0, None, cores=3), "outages: node 2, expected 0 to 1"),
        (NodeTimetable.outage(0, 1.0, 2.0, cores=4), "outages: cores of row 1 is 4, the node has 3"),
    ],
)
def test_an_outage_of_unknown_nodes_or_cores_is_named(times: NodeTimetable, message: str) -> None:
    # The first site has a node that the second has not.
    with pytest.raises(InputError, match=message):
        Outages(times, Ledger([[9, 9, 9], [3, 3]], parts=1), site=1)


def test_outages_change_and_watch_only_their_site() -> None:
    ledger = Ledger([[9, 9], [3, 4]], parts=1)
    assert Outages(NodeTimetable.none(), ledger, 1).horizon() == np.inf
    assert ledger.nodes.watched.tolist() == [0, 0, 0, 0]
    outages = Outages(NodeTimetable.outage(1, 2.0, 5.0, cores=4, left=1), ledger, 1)
    assert ledger.nodes.watched.tolist() == [0, 0, 1, 1]
    assert (outages.horizon(), outages.ended(), len(outages.result())) == (2.0, True, 2)
    outages.alter(1.9)
    assert ledger.nodes.capacity.tolist() == [9, 9, 3, 4]
    outages.alter(2.0)
    assert (ledger.nodes.capacity.tolist(), outages.horizon()) == ([9, 9, 3, 1], 5.0)
    outages.alter(7.0)
    assert (ledger.nodes.capacity.tolist(), outages.horizon()) == ([9, 9, 3, 4], np.inf)
    # On a pooled site of any number cores may go, and no job can be killed.
    pooled = Ledger([[9, 9], [3]], parts=1)
    assert Outages(NodeTimetable.outage(0, 2.0, 5.0, cores=3), pooled, 1).horizon() == 2.0
    with pytest.raises(InputError, match="pooled"):
        Outages(NodeTimetable.outage(0, 2.0, 5.0, cores=3, kill=True), pooled, 1)


def test_the_part_that_holds_most_of_a_vacated_row_is_named() -> None:
    ledger = Ledger([[9], [4, 5]], parts=3)
    for part, cores in ((0, 1), (2, 3), (1, 1)):
        ledger.hold(2, part, cores)
    ledger.set_capacity(2, 5, vacate=True)
    # The capacity covers the held cores.
    ledger.check_vacated()
    ledger.set_capacity(2, 3, vacate=True)
    with pytest.raises(InputError, match=r"part 2 holds 3 cores of row 2, which was to be vacated"):
        ledger.check_vacated()
    # The error is raised once; a drained row may be held while its jobs run.
    ledger.check_vacated()
    ledger.set_capacity(2, 2)
    ledger.check_vacated()


def test_free_pieces_start_at_the_first() -> None:
    some, none = make_pieces(2, 3), make_pieces(2, 0)
    assert (some.spare.tolist(), none.spare.tolist()) == ([0], [-1])
    assert [len(column) for column in some] == [2, 2, 2, 3, 3, 3, 1]
    assert some.chain.tolist() == [-1, -1]


def test_a_view_counts_jobs_refused_since_the_last_release() -> None:
    seen: list[tuple[float, int]] = []

    def answer(view: SiteView) -> Start:
        seen.append((view.now, view.refused))
        return Start(tuple(view.waiting.job[view.waiting.procs <= view.free][:1].tolist()))

    jobs = JobTable.of(submit=[0, 1, 2, 3, 4], run=[10, 5, 5, 1, 1], procs=[3, 3, 3, 1, 2])
    replay(jobs, 4, Answers(answer))
    # At 3 s one that fits goes ahead of two, and at 4 s it gives its processor back.
    assert seen[:5] == [(0.0, 0), (1.0, 0), (2.0, 1), (3.0, 2), (4.0, 0)]
    assert (5.0 not in dict(seen), dict(seen)[10.0]) == (True, 0)
