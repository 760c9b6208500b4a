"""Events at one instant: expired promises, lost jobs that restart, and ties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.promises import broken
from tests.oracles.shares import read
from tests.sim.sharing import Case, run
from tests.sim.test_shares import problems_of, wrong_elapsed
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable
from windlass.model.use import JobUse, UseStage
from windlass.share import Checkpoint, Interference, Share, ShareView, Sharing


class FixedQuotas:
    """Sets given quotas for pairs of jobs, each from an instant on; records the views."""

    name = "told"

    def __init__(self, *quotas: tuple[float, int, int, int]) -> None:
        self._quotas = quotas
        self.views: list[ShareView] = []

    def decide(self, view: ShareView) -> Sharing:
        self.views.append(view)
        waits = {each.job for each in view.waiting}
        hosts = {each.job: each for each in view.running}
        made = {}
        for since, host, guest, quota in self._quotas:
            there = hosts[host].guest if host in hosts else None
            starts = host in hosts and there is None and guest in waits and quota > 0
            if since <= view.now and (starts or (there is not None and there.job.job == guest)):
                made[host] = Share(host, guest, quota, "told")
        return Sharing(tuple(made.values()))


def case_of(
    processors: int,
    rows: list[tuple[float, float, int, float]],
    every: float,
    outages: NodeTimetable | None = None,
) -> Case:
    """Jobs 1, 2, … by (submit, run, procs, request), each with one stage of 50 %; only time is shared."""
    submit, run_time, procs, request = zip(*rows, strict=True)
    use = JobUse.of(["a"] * len(rows), [0.0] * len(rows), [[UseStage(each, 50.0)] for each in run_time])
    only_time = Interference(0.0, 0.0, 0.0)
    changes = NodeTimetable.none() if outages is None else outages
    return Case(
        JobTable.of(submit, run_time, procs, request), use, processors, every, 0.0, only_time, changes
    )


def test_a_head_with_free_processors_does_not_become_a_guest() -> None:
    # The promise of 3, half of 15 s and then the rest, is over at 42.5 s, but it was stopped for a while. 4 starts,
    # on processors of its own, though it is also a checkpoint, and 1 could take it in.
    rows = [(0.0, 900.0, 4, 1000.0), (0.0, 20.0, 4, 20.0), (0.0, 30.0, 4, 30.0), (1.0, 5.0, 4, 5.0)]
    case = case_of(8, rows, every=2.5)
    done = run(case, FixedQuotas((5.0, 2, 3, 50), (10.0, 2, 3, 0), (42.5, 1, 4, 90)), noise=0.0)
    assert done.replay.start.tolist() == [0.0, 0.0, 47.5, 42.5]
    assert (done.replay.lost.tolist(), done.replay.lost_end.tolist()) == ([2], [42.5])
    assert set(done.shared.guest.tolist()) == {2}
    assert problems_of(case, done) == []


def test_a_late_host_and_its_late_guest_are_both_evicted() -> None:
    # 3 was the guest of 2 and is the host of 4 after it; both were promised to be gone at 72.5 s and were stopped for a
    # while. 3 by itself holds nothing of what 5 needs then.
    rows = [
        (0.0, 900.0, 4, 1000.0),
        (0.0, 20.0, 4, 20.0),
        (0.0, 60.0, 4, 60.0),
        (0.0, 40.0, 4, 40.0),
        (22.0, 5.0, 4, 5.0),
    ]
    sharer = FixedQuotas((5.0, 2, 3, 50), (10.0, 2, 3, 0), (21.0, 3, 4, 90), (25.0, 3, 4, 0))
    case = case_of(8, rows, every=2.5)
    done = run(case, sharer, noise=0.0)
    assert next(view.head.at for view in sharer.views if view.head is not None and view.head.job == 5) == 72.5
    assert sorted(done.replay.lost.tolist()) == [2, 3]
    assert done.replay.lost_end.tolist() == [72.5, 72.5]
    assert done.replay.start[4] == 72.5
    assert broken(read(case.jobs, case.use, done.replay, done.shared, case.physics), case.processors) == []
    assert problems_of(case, done) == []


def test_a_host_that_was_a_guest_keeps_its_promised_end() -> None:
    # Detects a view with its walltime as its end: the guest would then seem to outstay no promise.
    rows = [(0.0, 20.0, 4, 20.0), (0.0, 60.0, 4, 60.0), (21.0, 5.0, 4, 5.0), (21.0, 90.0, 4, 90.0)]
    sharer = FixedQuotas((5.0, 1, 2, 50), (10.0, 1, 2, 0))
    case = case_of(4, rows, every=2.5)
    done = run(case, sharer, noise=0.0)
    view = next(view for view in sharer.views if view.now >= 25.0)
    (host,) = view.running
    assert (host.job, host.ends, host.elapsed) == (2, 72.5, pytest.approx(2.5 + view.now - 20.0))
    assert view.head is not None
    assert (view.head.job, view.head.at, view.head.spare) == (3, 72.5, 0)
    assert view.outstays(host, view.waiting[1], 90) == 4
    assert done.replay.start[2] == 72.5


def test_a_lost_job_that_restarts_at_once_no_longer_shares() -> None:
    # At 10 s three processors go: 2 and its guest 3 are lost, then 1 is, and then there is room for 2 and for 3.
    rows = [(0.0, 50.0, 6, 60.0), (0.0, 50.0, 1, 60.0), (0.0, 50.0, 1, 60.0)]
    case = case_of(7, rows, every=4.0, outages=NodeTimetable.outage(0, 10.0, 30.0, cores=7, left=4))
    sharer = FixedQuotas((4.0, 2, 3, 50))
    done = run(case, sharer, noise=0.0, vacate=True)
    assert sorted(done.replay.lost.tolist()) == [0, 1, 2]
    assert done.replay.start.tolist() == [60.0, 10.0, 10.0]
    assert (done.shared.start.tolist(), done.shared.end.tolist()) == ([4.0], [10.0])
    assert problems_of(case, done) == []
    assert wrong_elapsed(case, done, sharer.views) == []


def test_losing_a_host_does_not_evict_its_guest_needlessly() -> None:
    case = case_of(
        8,
        [(0.0, 50.0, 8, 60.0), (0.0, 20.0, 2, 60.0)],
        every=4.0,
        outages=NodeTimetable.outage(0, 10.0, 30.0, cores=8, left=6),
    )
    done = run(case, FixedQuotas((4.0, 1, 2, 50)), noise=0.0, vacate=True)
    assert (done.replay.lost.tolist(), done.replay.start.tolist()) == ([0], [30.0, 4.0])
    assert problems_of(case, done) == []


def test_jobs_behind_a_head_that_becomes_a_guest_may_start_at_once() -> None:
    # 4 has room, and would take it from 3, the head, at 50 s. At 4 s 3 is taken in, and 4 is the head.
    rows = [(0.0, 90.0, 4, 90.0), (0.0, 50.0, 1, 50.0), (0.0, 5.0, 2, 5.0), (1.0, 900.0, 1, 900.0)]
    case = case_of(6, rows, every=4.0)
    for order in ("easy", "easy in Python"):
        done = run(case, FixedQuotas((4.0, 1, 3, 50)), order, noise=0.0)
        assert done.replay.start.tolist() == [0.0, 0.0, 4.0, 4.0]
    # Also under FCFS, which has no other event at 4 s.
    assert run(case, FixedQuotas((4.0, 1, 3, 50)), "fcfs", noise=0.0).replay.start[3] == 4.0


def test_no_job_is_evicted_if_the_head_would_not_get_its_processors() -> None:
    # From 21 s on the site has 4 processors of 8: the 4 of 3, whose promise is over at 42.5 s, would not be the head's.
    rows = [(0.0, 60.0, 4, 60.0), (0.0, 20.0, 4, 20.0), (0.0, 30.0, 4, 30.0), (1.0, 5.0, 4, 5.0)]
    case = case_of(8, rows, every=2.5, outages=NodeTimetable.outage(0, 21.0, None, cores=8, left=4))
    done = run(case, FixedQuotas((5.0, 2, 3, 50), (10.0, 2, 3, 0)), noise=0.0)
    assert (len(done.replay.lost), done.shared.evicted) == (0, 0)
    assert done.replay.end[2] == 45.0
    assert done.replay.start[3] == 60.0


@pytest.mark.parametrize(("per_core", "given"), [(0.0, [5e9, 3e9]), (1e9, [5e9, 4e9])])
def test_memory_of_an_allocation_is_the_larger_of_request_and_cores(
    per_core: float, given: list[float]
) -> None:
    plain = case_of(8, [(0.0, 20.0, 4, 20.0), (0.0, 20.0, 4, 20.0), (0.0, 1.0, 8, 1.0)], every=5.0)
    case = replace(plain, use=replace(plain.use, memory=np.array([5e9, 3e9, 0.0])), memory_per_core=per_core)
    sharer = FixedQuotas()
    run(case, sharer, noise=0.0)
    assert [host.memory for host in sharer.views[-1].running] == given


@pytest.mark.parametrize(("request_of_host", "killed"), [(20.0, True), (90.0, False)])
def test_the_last_checkpoint_of_a_host_tells_whether_it_was_killed(
    request_of_host: float, killed: bool
) -> None:
    class Learns(FixedQuotas):
        def __init__(self) -> None:
            super().__init__((5.0, 1, 2, 90))
            self.checkpoints: list[Checkpoint] = []

        def observed(self, checkpoint: Checkpoint) -> None:
            self.checkpoints.append(checkpoint)

    rows = [(0.0, 20.0, 4, request_of_host), (0.0, 90.0, 4, 900.0), (0.0, 1.0, 4, 1.0)]
    sharer = Learns()
    run(case_of(4, rows, every=5.0), sharer, noise=0.0)
    ends = [each for each in sharer.checkpoints if each.ended]
    # It has a tenth of the time from 5 s on, of which it needs half: a fifth of its speed.
    assert [(each.killed, each.after.job) for each in ends] == [(killed, 1)]
    assert ends[0].after.elapsed == pytest.approx(20.0 if killed else 80.0)
    assert [each.after.elapsed for each in sharer.checkpoints if not each.ended][:2] == [10.0, 15.0]


@pytest.mark.parametrize("begin", [0.0, 1e8, 1e9])
def test_zero_lengths_and_ties_end_at_their_instants(begin: float) -> None:
    rows: list[tuple[float, float, int, float]] = [
        (begin, 20.0, 2, 20.0),
        (begin, 0.0, 2, 0.0),
        (begin, 0.0, 2, 9.0),
        (begin, 5.0, 2, 0.0),
        (begin, 10.0, 2, 10.0),
    ]
    case = case_of(2, rows, every=1.0)
    sharer = FixedQuotas(*[(begin + 1.0, 1, guest, 50) for guest in (5, 4, 3, 2)])
    done = run(case, sharer, noise=0.0)
    assert problems_of(case, done) == []
    # No promises here: rows of no length may be promised to start and end at one instant.
    ends = done.replay.end - begin
    assert ends[0] == pytest.approx(20.0, abs=1e-6)
    assert len(done.shared.host) >= 3


def test_an_overdue_reservation_moves_to_now() -> None:
    # The order policy was last called at 1 s; without stopping at walltimes, 1 may end at any time from 5 s on.
    rows = [(0.0, 30.0, 2, 5.0), (1.0, 5.0, 2, 5.0)]
    case = case_of(2, rows, every=2.0)
    sharer = FixedQuotas()
    run(case, sharer, kill=False, noise=0.0)
    late = [view for view in sharer.views if view.now > 5.0]
    assert [view.head.at for view in late if view.head is not None] == [view.now for view in late]
    assert len(late) > 5
