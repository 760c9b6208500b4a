"""Replays of jobs on one site: instants, progress, determinism, and invalid answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from tests.oracles.naive import ORACLES
from tests.oracles.plain import Answers, Plain, all_waiting
from tests.oracles.workloads import CHECK, Case, busy, cases
from windlass.model import InputError, JobTable, PolicyError
from windlass.order.site import POLICIES
from windlass.order.site.view import SiteView, Start
from windlass.sim import replay
from windlass.sim.site import part as batch

THREE = JobTable.of(submit=[0, 0, 0], run=[10, 10, 10], procs=[1, 2, 2], job=[5, 6, 7])


def both_paths(name: str) -> list[object]:
    """Return a policy for the compiled loop, and the same one called through Python."""
    return [POLICIES.find(name)(), Plain(POLICIES.find(name)())]


@pytest.mark.parametrize("name", ORACLES)
def test_an_empty_job_table(name: str) -> None:
    for policy in both_paths(name):
        replayed = replay(JobTable.of([], [], []), 4, policy)
        assert [len(replayed.start), len(replayed.end), len(replayed.why)] == [0, 0, 0]


def test_the_policy_is_called_once_per_instant_after_all_events() -> None:
    jobs = JobTable.of(submit=[0, 0, 1, 10, 10], run=[10, 10, 5, 5, 5], procs=[2, 2, 4, 1, 1])
    plain = Plain(POLICIES.find("fcfs")())
    replayed = replay(jobs, 4, plain)
    assert [view.now for view in plain.views] == [0, 1, 10, 15]
    at_ten = plain.views[2]
    assert (at_ten.free, at_ten.waiting.job.tolist(), at_ten.running.job.tolist()) == (4, [3, 4, 5], [])
    assert replayed.start.tolist() == [0, 0, 10, 15, 15]


def test_a_job_of_length_zero_ends_when_it_starts() -> None:
    jobs = JobTable.of(submit=[3, 3, 3], run=[0, 0, 2], procs=[4, 4, 4])
    for policy in both_paths("fcfs"):
        replayed = replay(jobs, 4, policy)
        assert (replayed.start.tolist(), replayed.end.tolist()) == ([3, 3, 3], [3, 3, 5])


def test_time_may_start_below_zero() -> None:
    jobs = JobTable.of(submit=[-7.5, -7.5], run=[1, 1], procs=[1, 1])
    assert replay(jobs, 1, POLICIES.find("easy")()).start.tolist() == [-7.5, -6.5]


@pytest.mark.parametrize(("kill", "end"), [(True, 4.0), (False, 10.0)])
def test_kill_stops_a_job_at_its_request(kill: bool, end: float) -> None:
    jobs = JobTable.of(submit=[0], run=[10], procs=[1], request=[4])
    for policy in both_paths("fcfs"):
        assert replay(jobs, 1, policy, kill=kill).end.tolist() == [end]


@pytest.mark.parametrize("name", ORACLES)
def test_a_replay_is_deterministic(name: str) -> None:
    def run() -> list[bytes]:
        replayed = replay(*busy(3), POLICIES.find(name)())
        return [column.tobytes() for column in (replayed.start, replayed.end, replayed.why)]

    assert run() == run()


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("instants", [1, 7])
def test_stopping_for_reports_changes_nothing(
    name: str, instants: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = replay(*busy(4), POLICIES.find(name)())
    monkeypatch.setattr(batch, "_INSTANTS_BETWEEN_REPORTS", instants)
    parts = replay(*busy(4), POLICIES.find(name)())
    assert [parts.start.tobytes(), parts.why.tobytes()] == [whole.start.tobytes(), whole.why.tobytes()]


@pytest.mark.parametrize("instants", [1, 7, 50_000])
def test_progress_is_monotone_and_ends_with_all_jobs(instants: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_INSTANTS_BETWEEN_REPORTS", instants)
    case = busy(5)
    for policy in both_paths("easy"):
        seen: list[int] = []
        replay(*case, policy, progress=seen.append)
        assert seen == sorted(seen)
        assert (seen[0] >= 0, seen[-1]) == (True, len(case.jobs))


def test_a_replay_does_not_change_its_jobs() -> None:
    case = busy(6)
    columns = ("job", "submit", "run", "procs", "request")
    before = [getattr(case.jobs, name).tobytes() for name in columns]
    for policy in both_paths("conservative"):
        replay(*case, policy)
    assert [getattr(case.jobs, name).tobytes() for name in columns] == before


@CHECK
@given(cases())
def test_views_are_consistent(case: Case) -> None:
    plain = Plain(POLICIES.find("easy")())
    replay(*case, plain)
    for view in plain.views:
        assert view.free + view.running.procs.sum() == view.processors == case.processors
        assert (np.diff(view.waiting.submit) >= 0).all()
        assert (view.waiting.submit <= view.now).all()
        order = list(zip(view.running.expected_end.tolist(), view.running.procs.tolist(), strict=True))
        assert order == sorted(order)
        assert 0 <= view.refused <= len(view.waiting.job)
    times = [view.now for view in plain.views]
    assert times == sorted(times)


def test_changes_to_a_view_do_not_affect_the_replay() -> None:
    def overwrite(view: SiteView) -> Start:
        start = Start(tuple(view.waiting.job[view.waiting.procs <= view.free][:1].tolist()))
        for column in (view.waiting.procs, view.waiting.job, view.waiting.note, view.running.procs):
            column[:] = 99
        view.running.expected_end[:] = 1e9
        return start

    assert replay(THREE, 2, Answers(overwrite)).start.tolist() == [0, 10, 20]


def test_a_job_wider_than_the_site_is_rejected() -> None:
    message = r"^job 6 needs 2 processors, the site has 1$"
    for policy in both_paths("easy"):
        with pytest.raises(InputError, match=message):
            replay(THREE, 1, policy)


def first_of(view: SiteView) -> int:
    return int(view.waiting.job[0])


_WRONG: dict[str, Callable[[SiteView], Start]] = {
    "unknown": lambda view: Start((404,)),
    "negative": lambda view: Start((-1,)),
    "running": lambda view: Start((5,)),
    "twice": lambda view: Start((first_of(view),) * 2),
    "too wide": all_waiting,
    "nobody": lambda view: Start(),
}


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("unknown", "does not wait"),
        ("negative", "does not wait"),
        ("running", "does not wait"),
        ("twice", "the same job twice"),
        ("too wide", "more than the 4 idle processors"),
        ("nobody", "left 3 jobs waiting"),
    ],
)
def test_an_invalid_answer_names_the_policy(kind: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=rf"^policy 'stub' .*{problem}"):
        replay(THREE, 4, Answers(_WRONG[kind]))


@pytest.mark.parametrize("why", [(), ("a",), ("a", "b", "c", "d")])
def test_a_policy_with_a_wrong_number_of_reasons_is_named(why: tuple[str, ...]) -> None:
    with pytest.raises(PolicyError, match="stub"):
        replay(THREE, 9, Answers(lambda view: Start((5, 6, 7), why=why)))


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_a_policy_with_a_wrong_number_of_notes_is_named(count: int) -> None:
    with pytest.raises(PolicyError, match="stub"):
        replay(THREE, 9, Answers(lambda view: Start((5, 6, 7), notes=np.zeros(count))))


def test_a_single_reason_applies_to_all_jobs() -> None:
    replayed = replay(THREE, 9, Answers(lambda view: Start((7, 6, 5), why="all fit")))
    assert (replayed.reasons, replayed.why.tolist()) == (("all fit",), [0, 0, 0])


def test_a_policy_may_start_jobs_in_any_order() -> None:
    reasons = {5: "five", 6: "six", 7: "seven"}
    replayed = replay(
        THREE, 9, Answers(lambda view: Start((7, 5, 6), why=tuple(reasons[job] for job in (7, 5, 6))))
    )
    assert [replayed.reasons[code] for code in replayed.why] == ["five", "six", "seven"]


def test_notes_are_kept_with_their_jobs() -> None:
    seen: list[dict[int, float]] = []

    def count_up(view: SiteView) -> Start:
        jobs, notes = view.waiting.job.tolist(), view.waiting.note
        seen.append(dict(zip(jobs, notes.tolist(), strict=True)))
        return Start(tuple(jobs[-1:]), notes=np.where(np.isnan(notes), np.array(jobs, float), notes + 100))

    replay(THREE, 2, Answers(count_up))
    assert np.isnan(list(seen[0].values())).all()
    assert seen[1:] == [{5: 5.0, 6: 6.0}, {5: 105.0}]
