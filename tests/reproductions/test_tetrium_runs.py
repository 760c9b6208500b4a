"""Tetrium's runs have their requested settings and are combined as the figures need them."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import number_for, rounded_text
from tests.reproductions.tetrium_bench import DELAY, FLEET, SEEDS, WORK, FakeBench, percents, small
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass_reproductions.tetrium import delay_scheduling, examples, paper, runs
from windlass_reproductions.tetrium.runs import JOBS, SITES, Bench, RunSummary, job_columns

FEW, SHORT = SiteModel(sites=6, slots=(2, 9)), JobModel(load=2.0, tasks=5.0)


@pytest.fixture
def simulated(monkeypatch):
    """Record the runs that are requested, in place of simulating them."""
    calls = []

    def run_placed(case, policy, **given):
        calls.append((case, policy, given))
        tasks = int(case.jobs.tasks.sum())
        begun = case.jobs.submit[0] + np.arange(tasks) * 1.0
        return SimpleNamespace(
            site=np.arange(tasks) % len(case.fleet),
            begun=begun,
            computed=begun + 3.0,
            end=begun + 5.0,
            response=np.full(len(case.jobs), float(len(calls))),
            sent=np.full(len(case.jobs), 7.0),
        )

    monkeypatch.setattr(runs, "run_placed", run_placed)
    made = SimpleNamespace(make=lambda name, rng, **given: (name, rng.random(), given))
    monkeypatch.setattr(runs, "POLICIES", made)
    return calls


def test_a_run_is_simulated_once_per_seed_and_setting(simulated):
    bench = Bench((1,), 3)
    first = bench.run("tetrium", 4, FEW, SHORT, rho=0.25)
    assert bench.run("tetrium", 4, FEW, SHORT, rho=0.25) is first
    others = [
        bench.run("in-place", 4, FEW, SHORT),
        bench.run("tetrium", 5, FEW, SHORT, rho=0.25),
        bench.run("tetrium", 4, FEW, SHORT, rho=0.5),
        bench.run("tetrium", 4, FEW, SHORT, estimates="true", rho=0.25),
        bench.run("tetrium", 4, FEW, SHORT, drop=0.5, rho=0.25),
    ]
    assert len({id(each) for each in others} | {id(first)}) == len(simulated) == 6
    case, policy, given = simulated[0]
    fleet = draw_sites(FEW, np.random.default_rng([4, 0]))
    jobs = draw_jobs(JobModel(jobs=3, load=2.0, tasks=5.0), fleet, np.random.default_rng([4, 1]))
    np.testing.assert_array_equal(case.fleet.slots, fleet.slots)
    np.testing.assert_array_equal(case.jobs.submit, jobs.submit)
    np.testing.assert_array_equal(case.jobs.duration, jobs.duration)
    assert policy == ("tetrium", np.random.default_rng(4).random(), {"rho": 0.25})
    assert given == {"look_every": 0.25, "decide_every": 1.0, "estimates": "finished"}
    assert simulated[4][2]["estimates"] == "true"
    assert len(case.timetable.time) == 0
    # Each site's slots are held 3 s a task, from the first submission to the last end.
    tasks = len(jobs.duration)
    counts = np.bincount(np.arange(tasks) % 6, minlength=6)
    np.testing.assert_allclose(first.used, 3.0 * counts / fleet.slots / (tasks - 1 + 5.0))
    assert (first.response == 1.0).all()
    assert (first.sent == 7.0).all()
    assert first.site.tolist() == (np.arange(tasks) % 6).tolist()


@pytest.mark.parametrize("load", [0.001, 50.0])
def test_drops_come_eight_times_during_arrivals_and_continue_as_long_again(simulated, load):
    bench = Bench((1,), 3)
    model = JobModel(load=load, tasks=5.0)
    bench.run("tetrium", 4, FEW, model, drop=0.5)
    case = simulated[0][0]
    last = float(case.jobs.submit[-1])
    every = max(last / 8, 10.0)
    expected = draw_drops(case.fleet, 0.5, 5, every, 2 * last + 100.0, np.random.default_rng([4, 2]))
    assert len(expected.time) > 0
    np.testing.assert_array_equal(case.timetable.time, expected.time)
    np.testing.assert_array_equal(case.timetable.site, expected.site)


def test_a_bench_with_more_seeds_reuses_earlier_runs(simulated):
    bench = Bench((1,), 3)
    wide = bench.over(4)
    assert (wide.seeds, wide.jobs) == ((1, 2, 3, 4), 3)
    assert wide.run("in-place", 1, FEW, SHORT) is bench.run("in-place", 1, FEW, SHORT)


def test_scarcity_reports_the_slots_in_use_at_the_busiest_site_and_overall():
    bench = FakeBench(SEEDS, 4)
    used = [bench.run("in-place", seed).used for seed in SEEDS]
    busiest = np.mean([max(own) for own in used])
    overall = np.mean([(own[0] * 2 + own[1] * 8) / 10 for own in used])
    assert bench.scarce().endswith(
        f"under in-place {busiest:.0%} of the busiest site's are in use, {overall:.0%} of all"
    )


def test_job_columns_match_a_hand_calculation():
    """Job 0 reads 1 MB at each site and writes all at site 1; job 2 reads 4 MB at site 1."""
    site = np.concatenate([[1, 1, 0, 1], [0, 0, 1], [0] * 4, [1] * 4]).astype(np.int16)
    order = np.argsort(WORK.stage, kind="stable")
    run = RunSummary(FLEET, WORK, np.zeros(4), np.zeros(4), site[order], np.zeros(2))
    found = job_columns(run)
    assert found["tasks"].tolist() == [4.0, 3.0, 4.0, 4.0]
    assert found["ratio"].tolist() == [1.0, 1.0, 1.0, 1.0]
    assert found["input skew"].tolist() == [0.0, 1.0, 1.0, 0.0]
    # Two of three tasks of job 1 ran at site 0: 2 and 1 MB, a spread of 0.5 over a mean of 1.5.
    assert found["intermediate skew"].tolist() == pytest.approx([1.0, 1 / 3, 1.0, 1.0])


def test_settings_compared_with_delay_scheduling_are_those_of_the_figures():
    base, site, job = {}, SITES, JOBS

    def own(**changed):
        found = {}
        for key, (start, names) in {
            "sites": (site, ("slots", "slot_zipf", "link_zipf")),
            "jobs": (job, ("load", "task_bytes")),
        }.items():
            mine = {name: value for name, value in changed.items() if name in names}
            if mine:
                values = {field: getattr(start, field) for field in start.__dataclass_fields__}
                found[key] = type(start)(**(values | mine))
        return found

    expected = {
        "base: 2 MB a task, load 3": base,
        "10 MB a task": own(task_bytes=10e6),
        "links by Zipf, e = 1.6": own(link_zipf=1.6),
        "TPC-DS at 8 sites": small(8, (6, 16)),
        "load 1": own(load=1.0),
        "load 0.3": own(load=0.3),
        "0.5 MB a task": own(task_bytes=0.5e6),
        "30 MB a task, load 1": own(task_bytes=30e6, load=1.0),
        "slots alike": own(slot_zipf=0.0),
        "links alike": own(link_zipf=0.0),
        "slots and links alike": own(slot_zipf=0.0, link_zipf=0.0),
        "slots by Zipf, e = 1.6": own(slot_zipf=1.6),
        "a tenth of the slots, 0.2 MB, load 20": own(slots=(25, 500), load=20.0, task_bytes=0.2e6),
        "Big-Data at 8 sites": small(8, (2, 5)),
        "TPC-DS at 30 sites": small(30, (6, 16)),
        "Big-Data at 30 sites": small(30, (2, 5)),
    }
    assert expected == delay_scheduling.SETTINGS


@pytest.mark.parametrize("quick", [True, False])
def test_gather_and_tetrium_are_compared_with_each_variant_of_delay_scheduling(quick):
    bench = FakeBench(SEEDS, 4)
    rows, _ = delay_scheduling.delay_scheduling_rows(bench, quick=quick)
    assert len(rows) == (4 if quick else 16)
    ways = {
        "0 s": {"wait": 0.0},
        "3 s": {"wait": 3.0},
        "5 s": {"wait": 5.0},
        "3 s once": {"wait": 3.0, "restarts": False},
    }
    for row, (label, setting) in zip(rows, delay_scheduling.SETTINGS.items(), strict=False):
        text = "; ".join(
            f"{policy} "
            + ", ".join(
                rounded_text(percents(bench, policy, DELAY, None, way, **setting)) for way in ways.values()
            )
            for policy in ("gather", "tetrium")
        )
        assert row.what == f"Gather and Tetrium against delay scheduling, {label}, %"
        assert row.ours == text
        means = {
            name: [bench.run(DELAY, seed, **setting, **way).response.mean() for seed in SEEDS]
            for name, way in ways.items()
        }
        best = min(means, key=lambda name: sum(means[name]))
        least = []
        for seed in SEEDS:
            slots = 1 + int(
                number_for(
                    seed, setting.get("sites", SITES), setting.get("jobs", JOBS), "slots", low=0.0, high=3.0
                )
            )
            least.append(delay_scheduling.least_response(WORK, slots + 1))
        possible = [100.0 * (1.0 - one / other) for one, other in zip(least, means[best], strict=True)]
        assert f"best is {best}, against which no policy gains more than {rounded_text(possible)}" in row.note
        values = [percents(bench, "gather", DELAY, None, way, **setting) for way in ways.values()]
        side = {True: "ahead of each", False: "behind one", None: "not significantly ahead of each"}
        assert f"gather is {side[delay_scheduling.ahead(values)]};" in row.note


def test_all_parts_run_in_order(monkeypatch):
    calls, progress = [], []
    compiling = SimpleNamespace(done=1, total=3)
    monkeypatch.setattr(paper, "prepare", lambda kernels, report: report(compiling))
    monkeypatch.setattr(paper, "_speed", lambda: ["speed"])
    monkeypatch.setattr(paper, "example_rows", lambda: ["example"])
    parts = tuple(
        (str(part), lambda bench, quick, part=part: calls.append((bench, quick)) or ([part], [-part]))
        for part in range(9)
    )
    assert len(paper._PARTS) == 9
    monkeypatch.setattr(paper, "_PARTS", parts)
    for quick, seeds, jobs in ((True, (1, 2, 3), 14), (False, (1, 2, 3, 4, 5), 40)):
        calls.clear()
        progress.clear()
        found = paper.TetriumPaper().reproduce(quick=quick, notify=lambda *step: progress.append(step))
        assert found.rows == ("example", "speed", *range(9))
        assert found.pictures == tuple(-part for part in range(9))
        assert {(bench.seeds, bench.jobs, given) for bench, given in calls} == {(seeds, jobs, quick)}
        assert progress[:2] == [("compiling, 1 of 3 functions", 0.0), ("worked examples", 0.0)]
        assert [share for _, share in progress[2:]] == pytest.approx([(step + 1) / 10 for step in range(9)])


def test_every_third_job_of_a_busy_view_has_a_shuffle():
    view = paper.busy_view(9, sites=5, seed=3)
    assert view.now == 0.0
    assert view.ready.shuffles.tolist() == [1, 0, 0] * 3
    assert len(view.sites.slots) == 5
    assert ((view.sites.slots >= 25) & (view.sites.slots < 5000)).all()
    for links in (view.sites.up, view.sites.down):
        assert ((links >= 100e6 / 8) & (links <= 2000e6 / 8)).all()


def test_decision_times_are_the_best_of_five_at_50_and_100_jobs(monkeypatch):
    clock = iter([0.0, 5.0, 0.0, 4.0, 0.0, 2.0, 0.0, 3.0, 0.0, 6.0] * 2)
    views = []
    monkeypatch.setattr(paper.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(paper, "busy_view", lambda jobs: jobs)
    monkeypatch.setattr(paper, "Tetrium", lambda: SimpleNamespace(decide=views.append))
    rows = paper._speed()
    assert views == [50] * 5 + [100] * 5
    assert [(row.paper, row.ours, row.holds) for row in rows] == [(0.95, 2.0, None), (2.0, 2.0, None)]
    assert ["50 jobs" in rows[0].what, "100 jobs" in rows[1].what] == [True, True]


def test_the_first_example_matches_the_thesis(monkeypatch):
    def run_placed(case, policy):
        jobs, fleet = case.jobs, case.fleet
        key = jobs.duration.tolist(), jobs.here(3).tolist(), jobs.task_bytes.tolist(), jobs.ratio.tolist()
        end = number_for(
            key, fleet.up.tolist(), fleet.down.tolist(), policy.name, sorted(vars(policy).items())
        )
        return SimpleNamespace(end=np.array([end]))

    monkeypatch.setattr(examples, "run_placed", run_placed)
    rows = examples._first()
    assert [row.paper for row in rows] == [88.5, 93.0, 59.83, 45.7, 59.83, 50.88, None]
    assert [row.holds for row in rows[:4]] == [True] * 4
    assert [row.judged.parts[0].high - row.paper for row in rows[:4]] == pytest.approx(
        [0.05, 0.5, 0.005, 0.05]
    )
    # All at the site of 40 slots: 800 tasks' input comes up 1 and 2 GB/s links, then 25 waves and 12.5 of them.
    assert rows[1].ours == pytest.approx(max(30e9 / 1e9, 50e9 / 2e9, 80e9 / 5e9) + 25 * 2.0 + 13 * 1.0)
    assert rows[4].ours <= 59.835
    assert "optimum is 44.2857 s" in rows[3].note
    slots, gb = [40, 10, 20], 1e9
    fleet = Fleet.of(slots, [5 * gb, 1 * gb, 2 * gb], [5 * gb, 1 * gb, 5 * gb])
    stages = [StageSpec(2.0, (200, 300, 500), 1e8, ratio=0.5), StageSpec(1.0, tasks=500, parents=(0,))]
    case = examples.FleetCase(fleet, FleetJobs.of([0.0], [stages]))
    assert rows[6].ours == run_placed(case, examples.Tetrium()).end[0]
    late = [run_placed(case, examples.DelayScheduling(wait)).end[0] for wait in (0.0, 3.0, 5.0)]
    alone = run_placed(case, examples.InPlace()).end[0]
    assert rows[6].note == (
        f"in-place simulated: {alone:.2f} s; with delay scheduling at 0, 3, 5 s: "
        + ", ".join(f"{end:.2f} s" for end in late)
    )


def test_the_second_example_matches_the_thesis():
    rows = {row.what: row for row in examples._second()}
    assert rows["Example 2, job 1 first, mean response, s"].ours == pytest.approx(1.7)
    assert rows["Example 2, job 2 first, mean response, s"].ours == pytest.approx(2.65)
    assert [row.paper for row in rows.values()] == [1.7, 2.65]
    one, other = rows.values()
    assert "as in the thesis, 2.40 s" in one.note
    assert "job 2 alone: (2, 4, 6), 2 s" in other.note
    assert "it would take 1 s from then, a mean of 2.50 s" in other.note


def test_the_best_integer_placement_matches_a_hand_calculation():
    """Two tasks at one site of one slot: one moves at 1 s a task, and both take 1 s."""
    here, free = np.array([2, 0]), np.array([1, 1])
    seconds, counts = examples.best_whole(here, free, 4.0, 2.0)
    assert (seconds, counts.tolist()) == (1.5, [1, 1])
    # With a slow link, two local waves finish earlier.
    seconds, counts = examples.best_whole(here, free, 1.0, 2.0)
    assert (seconds, counts.tolist()) == (2.0, [2, 0])
    # Without a local slot, all tasks move.
    seconds, counts = examples.best_whole(here, np.array([0, 1]), 4.0, 2.0)
    assert (seconds, counts.tolist()) == (3.0, [0, 2])


def test_moving_takes_as_long_as_the_slowest_link():
    moved = np.array([[9.0, 2.0, 1.0], [0.0, 9.0, 4.0], [6.0, 0.0, 9.0]])
    up, down = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 1.0])
    assert examples.moving_s(moved, up, down) == 5.0
    assert examples.moving_s(moved, up, 10.0 * down) == 3.0
    assert examples.waves_s(np.array([4, 5]), np.array([2, 2]), 1.5) == 4.5
