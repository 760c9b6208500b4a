"""What happens at one instant: promises that are over, jobs that are lost and start again, ties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.promises import broken
from tests.oracles.shares import read
from tests.sim.sharing import Case, run
from tests.sim.test_shares import elapsed_off, wrong
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable
from windlass.model.use import JobUse, UseStage
from windlass.share import Checkpoint, Interference, Share, ShareView, Sharing


class Told:
    """Gives the quotas that it was told for pairs of jobs, each from an instant on; keeps the views."""

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
    """Jobs 1, 2, … by (submit, run, procs, request), each with one stage of 50 % in which time alone is shared."""
    submit, run_time, procs, request = zip(*rows, strict=True)
    use = JobUse.of(["a"] * len(rows), [0.0] * len(rows), [[UseStage(each, 50.0)] for each in run_time])
    only_time = Interference(0.0, 0.0, 0.0)
    changes = NodeTimetable.none() if outages is None else outages
    return Case(
        JobTable.of(submit, run_time, procs, request), use, processors, every, 0.0, only_time, changes
    )


def test_a_head_that_has_room_at_last_is_nobody_s_guest() -> None:
    # The promise of 3, half of 15 s and then the rest, is over at 42.5 s, but it was stopped for a while. 4 starts,
    # on processors of its own, though it is also a checkpoint, and 1 could take it in.
    rows = [(0.0, 900.0, 4, 1000.0), (0.0, 20.0, 4, 20.0), (0.0, 30.0, 4, 30.0), (1.0, 5.0, 4, 5.0)]
    case = case_of(8, rows, every=2.5)
    done = run(case, Told((5.0, 2, 3, 50), (10.0, 2, 3, 0), (42.5, 1, 4, 90)), noise=0.0)
    assert done.replay.start.tolist() == [0.0, 0.0, 47.5, 42.5]
    assert (done.replay.lost.tolist(), done.replay.lost_end.tolist()) == ([2], [42.5])
    assert set(done.shared.guest.tolist()) == {2}
    assert wrong(case, done) == []


def test_a_late_host_and_its_late_guest_both_make_way() -> None:
    # 3 was the guest of 2 and is the host of 4 after it; both were promised to be gone at 72.5 s and were stopped for a
    # while. 3 by itself holds nothing of what 5 needs then.
    rows = [
        (0.0, 900.0, 4, 1000.0),
        (0.0, 20.0, 4, 20.0),
        (0.0, 60.0, 4, 60.0),
        (0.0, 40.0, 4, 40.0),
        (22.0, 5.0, 4, 5.0),
    ]
    told = Told((5.0, 2, 3, 50), (10.0, 2, 3, 0), (21.0, 3, 4, 90), (25.0, 3, 4, 0))
    case = case_of(8, rows, every=2.5)
    done = run(case, told, noise=0.0)
    assert next(view.head.at for view in told.views if view.head is not None and view.head.job == 5) == 72.5
    assert sorted(done.replay.lost.tolist()) == [2, 3]
    assert done.replay.lost_end.tolist() == [72.5, 72.5]
    assert done.replay.start[4] == 72.5
    assert broken(read(case.jobs, case.use, done.replay, done.shared, case.physics), case.processors) == []
    assert wrong(case, done) == []


def test_a_host_that_was_a_guest_is_expected_back_by_its_promise() -> None:
    # Would catch a view in which it stays for its walltime: then the guest would seem to outstay nobody.
    rows = [(0.0, 20.0, 4, 20.0), (0.0, 60.0, 4, 60.0), (21.0, 5.0, 4, 5.0), (21.0, 90.0, 4, 90.0)]
    told = Told((5.0, 1, 2, 50), (10.0, 1, 2, 0))
    case = case_of(4, rows, every=2.5)
    done = run(case, told, noise=0.0)
    view = next(view for view in told.views if view.now >= 25.0)
    (host,) = view.running
    assert (host.job, host.ends, host.elapsed) == (2, 72.5, pytest.approx(2.5 + view.now - 20.0))
    assert view.head is not None
    assert (view.head.job, view.head.at, view.head.spare) == (3, 72.5, 0)
    assert view.outstays(host, view.waiting[1], 90) == 4
    assert done.replay.start[2] == 72.5


def test_who_is_lost_and_starts_again_at_once_is_not_what_it_was() -> None:
    # At 10 s three processors go: 2 and its guest 3 are lost, then 1 is, and then there is room for 2 and for 3.
    rows = [(0.0, 50.0, 6, 60.0), (0.0, 50.0, 1, 60.0), (0.0, 50.0, 1, 60.0)]
    case = case_of(7, rows, every=4.0, outages=NodeTimetable.outage(0, 10.0, 30.0, cores=7, left=4))
    told = Told((4.0, 2, 3, 50))
    done = run(case, told, noise=0.0, vacate=True)
    assert sorted(done.replay.lost.tolist()) == [0, 1, 2]
    assert done.replay.start.tolist() == [60.0, 10.0, 10.0]
    assert (done.shared.start.tolist(), done.shared.end.tolist()) == ([4.0], [10.0])
    assert wrong(case, done) == []
    assert elapsed_off(case, done, told.views) == []


def test_a_guest_is_not_lost_for_processors_that_its_host_would_have() -> None:
    case = case_of(
        8,
        [(0.0, 50.0, 8, 60.0), (0.0, 20.0, 2, 60.0)],
        every=4.0,
        outages=NodeTimetable.outage(0, 10.0, 30.0, cores=8, left=6),
    )
    done = run(case, Told((4.0, 1, 2, 50)), noise=0.0, vacate=True)
    assert (done.replay.lost.tolist(), done.replay.start.tolist()) == ([0], [30.0, 4.0])
    assert wrong(case, done) == []


def test_who_waits_behind_a_head_that_is_taken_in_may_start_at_once() -> None:
    # 4 has room, and would take it from 3, the head, at 50 s. At 4 s 3 is taken in, and 4 is the head.
    rows = [(0.0, 90.0, 4, 90.0), (0.0, 50.0, 1, 50.0), (0.0, 5.0, 2, 5.0), (1.0, 900.0, 1, 900.0)]
    case = case_of(6, rows, every=4.0)
    for order in ("easy", "easy in Python"):
        done = run(case, Told((4.0, 1, 3, 50)), order, noise=0.0)
        assert done.replay.start.tolist() == [0.0, 0.0, 4.0, 4.0]
    # Under FCFS nothing else happens at 4 s, either.
    assert run(case, Told((4.0, 1, 3, 50)), "fcfs", noise=0.0).replay.start[3] == 4.0


def test_nobody_makes_way_where_what_comes_back_goes_to_nobody() -> None:
    # From 21 s on the site has 4 processors of 8: the 4 of 3, whose promise is over at 42.5 s, would not be the head's.
    rows = [(0.0, 60.0, 4, 60.0), (0.0, 20.0, 4, 20.0), (0.0, 30.0, 4, 30.0), (1.0, 5.0, 4, 5.0)]
    case = case_of(8, rows, every=2.5, outages=NodeTimetable.outage(0, 21.0, None, cores=8, left=4))
    done = run(case, Told((5.0, 2, 3, 50), (10.0, 2, 3, 0)), noise=0.0)
    assert (len(done.replay.lost), done.shared.evicted) == (0, 0)
    assert done.replay.end[2] == 45.0
    assert done.replay.start[3] == 60.0


@pytest.mark.parametrize(("per_core", "given"), [(0.0, [5e9, 3e9]), (1e9, [5e9, 4e9])])
def test_an_allocation_has_what_its_job_asked_for_and_no_less_than_its_cores_bring(
    per_core: float, given: list[float]
) -> None:
    plain = case_of(8, [(0.0, 20.0, 4, 20.0), (0.0, 20.0, 4, 20.0), (0.0, 1.0, 8, 1.0)], every=5.0)
    case = replace(plain, use=replace(plain.use, memory=np.array([5e9, 3e9, 0.0])), memory_per_core=per_core)
    told = Told()
    run(case, told, noise=0.0)
    assert [host.memory for host in told.views[-1].running] == given


@pytest.mark.parametrize(("request_of_host", "killed"), [(20.0, True), (90.0, False)])
def test_of_a_host_that_ends_the_policy_is_told_whether_it_was_killed(
    request_of_host: float, killed: bool
) -> None:
    class Learns(Told):
        def __init__(self) -> None:
            super().__init__((5.0, 1, 2, 90))
            self.told: list[Checkpoint] = []

        def observed(self, checkpoint: Checkpoint) -> None:
            self.told.append(checkpoint)

    rows = [(0.0, 20.0, 4, request_of_host), (0.0, 90.0, 4, 900.0), (0.0, 1.0, 4, 1.0)]
    sharer = Learns()
    run(case_of(4, rows, every=5.0), sharer, noise=0.0)
    ends = [each for each in sharer.told if each.ended]
    # It has a tenth of the time from 5 s on, of which it needs half: a fifth of its speed.
    assert [(each.killed, each.after.job) for each in ends] == [(killed, 1)]
    assert ends[0].after.elapsed == pytest.approx(20.0 if killed else 80.0)
    assert [each.after.elapsed for each in sharer.told if not each.ended][:2] == [10.0, 15.0]


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
    told = Told(*[(begin + 1.0, 1, guest, 50) for guest in (5, 4, 3, 2)])
    done = run(case, told, noise=0.0)
    assert wrong(case, done) == []
    # No promises here: rows of no length may be promised to start and end at one instant.
    ends = done.replay.end - begin
    assert ends[0] == pytest.approx(20.0, abs=1e-6)
    assert len(done.shared.host) >= 3


def test_the_reservation_is_of_now() -> None:
    # The order policy was asked last at 1 s; without stopping at walltimes, 1 may end at any time from 5 s on.
    rows = [(0.0, 30.0, 2, 5.0), (1.0, 5.0, 2, 5.0)]
    case = case_of(2, rows, every=2.0)
    told = Told()
    run(case, told, kill=False, noise=0.0)
    late = [view for view in told.views if view.now > 5.0]
    assert [view.head.at for view in late if view.head is not None] == [view.now for view in late]
    assert len(late) > 5
