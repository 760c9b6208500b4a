"""The simulator compared with Ray and Slurm: workloads, calibration and each row, calculated by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass_reproductions.sim_vs_live import cases, paper
from windlass_reproductions.sim_vs_live.cases import Calibration, Contender
from windlass_reproductions.sim_vs_live.site_case import longer, mixed_jobs

SITES = ("tokyo", "oregon", "paris", "sydney")


def test_workloads_have_four_small_sites():
    order, place = cases.cases()
    assert (order.name, place.name) == ("order", "place")
    assert [each.name for each in order.policies] == ["fcfs", "global-srpt", "swag"]
    assert [each.name for each in place.policies] == ["in-place", "centralised", "iridium", "tetrium"]
    assert order.fleet.names == place.fleet.names == SITES
    assert order.fleet.slots.tolist() == [2, 2, 2, 2]
    assert place.fleet.slots.tolist() == [4, 1, 2, 2]
    assert set(order.fleet.up) == set(order.fleet.down) == {20e6}
    assert place.fleet.up.tolist() == [20e6, 5e6, 10e6, 10e6]
    assert place.fleet.down.tolist() == [20e6, 5e6, 20e6, 10e6]
    assert [each.name for each in place.quick.policies] == ["in-place", "tetrium"]


def test_mixed_jobs_arrive_in_a_burst_and_skewed_jobs_over_eight_seconds():
    mixed = [cases._mixed_jobs(np.random.default_rng(seed)) for seed in range(60)]
    tasks = np.concatenate([jobs.tasks for jobs in mixed])
    assert {len(jobs) for jobs in mixed} == {12}
    assert set(tasks) == {*range(2, 6), *range(14, 24)}
    assert 0.6 < (tasks < 6).mean() < 0.8
    assert 1.9 < max(jobs.submit[-1] for jobs in mixed) <= 2.0
    seconds = np.concatenate([jobs.task_s for jobs in mixed])
    assert 0.3 <= seconds.min() < 0.31
    assert 0.59 < seconds.max() <= 0.6
    assert {float(size) for jobs in mixed for size in jobs.task_bytes} == {1e4}
    skewed = [cases._skewed_jobs(np.random.default_rng(seed)) for seed in range(60)]
    assert {len(jobs) for jobs in skewed} == {6}
    assert {tuple(jobs.tasks.tolist()) for jobs in skewed} == {(12, 4) * 6}
    maps = np.array([jobs.task_s[::2] for jobs in skewed])
    assert 0.5 <= maps.min() < 0.51
    assert 0.89 < maps.max() <= 0.9
    np.testing.assert_allclose(np.array([jobs.task_s[1::2] for jobs in skewed]), maps / 2)
    assert 7.8 < max(jobs.submit[-1] for jobs in skewed) <= 8.0
    here = np.concatenate([jobs.here(4)[::2] for jobs in skewed]).mean(axis=0) / 12
    np.testing.assert_allclose(here, [0.2, 0.5, 0.2, 0.1], atol=0.03)
    assert {float(jobs.task_bytes[0]) for jobs in skewed} == {1e6}


def test_calibration_runs_local_tasks_and_then_single_reads():
    fleet, jobs = cases.calibration_case()
    assert fleet.slots.tolist() == [2] * 4
    assert set(fleet.up) == set(fleet.down) == {4e6}
    assert jobs.submit.tolist() == [0.0] * 8 + [4.0, 6.0, 8.0]
    assert jobs.task_s.tolist() == pytest.approx([0.2 + 0.03 * at for at in range(8)] + [0.1] * 3)
    assert jobs.here(4)[:8].tolist() == np.repeat(6 * np.eye(4), 2, axis=0).tolist()
    assert jobs.here(4)[8:].tolist() == [[1, 0, 0, 0]] * 3
    assert jobs.task_bytes.tolist() == [1e5] * 8 + [4e6] * 3


def test_calibration_results_match_a_hand_calculation():
    """Two tasks are local; one reads 4 MB over a link of 4 MB/s in 2.1 s, of which 0.1 s is overhead."""
    jobs = FleetJobs.of([0.0, 1.0], [[StageSpec(2.0, (2,), 1e5)], [StageSpec(1.0, (1,), 4e6)]])
    run = SimpleNamespace(
        jobs=jobs,
        fleet=Fleet.of([2, 2], [4e6, 1e6], [4e6, 4e6]),
        site=np.array([0, 0, 1]),
        source=np.array([0, 0, 0]),
        launched=np.array([0.0, 0.0, 1.0]),
        begun=np.array([0.5, 0.5, 1.5]),
        read=np.array([0.6, 0.6, 3.6]),
        computed=np.array([2.8, 3.0, 4.7]),
        reported=np.array([3.3, 3.2, 5.0]),
    )
    found = cases.calibrate(run)
    assert found.task_s == pytest.approx(np.mean([3.3 - 2.3, 3.2 - 2.5, 4.0 - 3.2]))
    assert found.compute == pytest.approx(np.mean([1.1, 1.2, 1.1]))
    assert found.read_s == pytest.approx(0.1)
    assert found.link == pytest.approx(1.0 / 2.0)


def test_a_calibrated_simulator_has_longer_tasks_and_slower_links():
    found = Calibration(task_s=0.2, compute=1.5, read_s=0.1, link=0.5)
    jobs = FleetJobs.of([0.0], [[StageSpec(2.0, (2,), 1e5)]])
    calibrated = found.jobs(jobs)
    assert calibrated.task_s.tolist() == pytest.approx([3.3])
    assert calibrated.duration.tolist() == pytest.approx([3.3, 3.3])
    fleet = found.fleet(Fleet.of([2], [4e6], [8e6]))
    assert (fleet.up.tolist(), fleet.down.tolist()) == ([2e6], [4e6])


def compared(policy, live, plain, calibrated):
    return paper._Compared(policy, *(np.array(part) for part in (live, plain, calibrated)))


def test_rows_of_a_case_match_a_hand_calculation():
    case = SimpleNamespace(name="order")
    base = compared("base", [2.0, 4.0], [1.0, 2.0], [2.2, 4.2])
    same = compared("same", [2.0, 4.04], [1.0, 2.0], [2.2, 4.0])
    best = compared("best", [1.0, 2.0], [1.0, 2.0], [1.5, 3.0])
    rows = {row.what: row for row in paper._rows(case, [base, same, best])}
    mean = rows["order, base: mean response, s (simulated; on Ray)"]
    assert (mean.paper, mean.ours, mean.holds) == (3.2, 3.0, True)
    assert "off by +6.7% (-50.0% without calibration)" in mean.note
    assert "by 7.5% (median) and at most 10.0%" in mean.note
    assert mean.judged.parts[0].high == pytest.approx(0.3)
    high = rows["order, base: 95th percentile response, s (simulated; on Ray)"]
    assert (high.paper, high.ours) == (4.1, 3.9)
    order = rows["order: policies by mean response"]
    assert (order.paper, order.ours) == ("best < same < base", "best < base < same")
    assert "no clear difference on Ray: base and same (0.7%)" in order.note
    won = rows["order: mean response of best as a ratio of that of base"]
    assert (won.paper, won.ours, won.holds) == (round(2.25 / 3.2, 3), 0.5, True)
    assert won.note.startswith("the same winner in both")
    lost = paper._rows(case, [base, compared("best", [1.0, 2.0], [1.0, 2.0], [5.0, 6.0])])[-1]
    assert (lost.holds, lost.note.startswith("a different winner")) == (False, True)
    tied = paper._rows(case, [base, same])[-1]
    assert (tied.holds, tied.note.startswith("no winner on Ray")) == (None, True)
    drawn = paper._picture(case, [base, best])
    assert [(line.name, list(line.x), list(line.y)) for line in drawn.lines] == [
        ("on Ray", [0, 1], [3.0, 1.5]),
        ("simulated", [0, 1], [pytest.approx(3.2), 2.25]),
    ]
    assert (axes(drawn), drawn.categories) == (("order", "policy", "s"), ("base", "best"))


@pytest.mark.parametrize("quick", [True, False])
def test_each_policy_runs_live_and_simulated_on_the_same_jobs(monkeypatch, quick):
    closed, live_runs, progress = [], [], []
    found = Calibration(task_s=0.5, compute=1.0, read_s=0.25, link=0.5)
    fleet = Fleet.of([2], [4e6], [4e6])
    drawn = []

    def draw(rng):
        drawn.append(rng.random())
        return FleetJobs.of([0.0], [[StageSpec(1.0 + drawn[-1], (1,), 1e5)]])

    def contender(name):
        return Contender(
            name, name, lambda case: SimpleNamespace(response=case.jobs.task_s + case.fleet.up / 4e6)
        )

    case = cases.Case("one", fleet, draw, (contender("a"), contender("b"), contender("c")))

    def run_live(where, jobs, policy, on):
        live_runs.append((policy, on))
        return SimpleNamespace(response=10 * jobs.task_s)

    monkeypatch.setattr(
        paper, "executors", lambda target: SimpleNamespace(close=lambda: closed.append(target.name))
    )
    monkeypatch.setattr(paper, "Target", lambda name: SimpleNamespace(name=name))
    monkeypatch.setattr(paper, "cases", lambda: (case,))
    monkeypatch.setattr(paper, "run_placed", lambda *_: None)
    monkeypatch.setattr(paper, "run_live", run_live)
    monkeypatch.setattr(paper, "calibrate", lambda run: found)
    kept = []
    monkeypatch.setattr(paper, "_rows", lambda case, results: kept.append((case, results)) or ["row"])
    monkeypatch.setattr(paper, "_picture", lambda case, results: "picture")
    result = paper.SimVsLive().reproduce(quick=quick, notify=lambda *step: progress.append(step))
    seeds, names = ((1,), ["a", "c"]) if quick else ((1, 2, 3), ["a", "b", "c"])
    assert closed == ["ray"]
    assert [policy for policy, _ in live_runs[1:]] == [name for name in names for _ in seeds]
    ((_, results),) = kept
    assert [one.policy for one in results] == names
    seconds = np.array([1.0 + np.random.default_rng([seed, 6]).random() for seed in seeds])
    for one in results:
        np.testing.assert_allclose(one.live, 10 * seconds)
        np.testing.assert_allclose(one.plain, seconds + 1.0)
        np.testing.assert_allclose(one.calibrated, seconds + 0.75 + 0.5)
    total = 1 + len(seeds) * len(names)
    assert [share for _, share in progress] == pytest.approx([place / total for place in range(total)])
    assert progress[0][0] == "calibration"
    assert progress[-1][0] == f"one, c, seed {seeds[-1]}"
    assert [row.ours for row in result.rows[:4]] == [0.5, 1.0, 0.25, 0.5]
    assert (result.rows[4:], result.pictures) == (("row",), ("picture",))


def test_jobs_of_one_site_request_whole_minutes():
    jobs = mixed_jobs(3000, 16, np.random.default_rng(1))
    assert set(jobs.procs) == {2, 4, 6, 8, 12, 16}
    assert 0.3 < (jobs.procs == 2).mean() < 0.37
    assert set(np.round(10 * jobs.run)) == set(map(float, range(10, 41)))
    assert set(jobs.request) == {60.0, 120.0, 180.0, 240.0, 300.0}
    assert set(jobs.submit) == {0.0}
    assert set(mixed_jobs(100, 2, np.random.default_rng(1)).procs) == {1, 2}
    assert longer(jobs, 0.5).run.tolist() == (jobs.run + 0.5).tolist()
