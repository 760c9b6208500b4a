"""A run of each world equals its part of the simulator, called directly with the scenario's values."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from tests.worlds.admission_cases import draw_case, with_admission
from windlass.dispatch import POLICIES as DISPATCH
from windlass.drive import drive
from windlass.experiment.dispatching import simulate
from windlass.experiment.workloads import lublin
from windlass.experiment.workloads.arrivals import Bursty
from windlass.experiment.workloads.drift import shocks
from windlass.experiment.workloads.outages import draw_outages
from windlass.experiment.workloads.seasons import Season, Shape, seasonal
from windlass.experiment.workloads.service import Pareto
from windlass.experiment.workloads.tasks import draw_tasks
from windlass.experiment.workloads.use import UseLaw, draw_use
from windlass.experiment.worlds import find_world
from windlass.experiment.worlds.elastic.simulation import ElasticCase, ideal, run_elastic, use_over_time
from windlass.experiment.worlds.sharing.simulation import SharingCase, run_sharing
from windlass.model.instances import InstanceType
from windlass.model.timetable import WorkerTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.site import POLICIES as ORDER
from windlass.results.metrics.admission import admission_metrics
from windlass.results.metrics.elastic import delayed, elastic_metrics
from windlass.results.metrics.sharing import sharing_metrics
from windlass.results.metrics.workers import dispatch_metrics
from windlass.scale import POLICIES as SCALE
from windlass.share import POLICIES as SHARE
from windlass.share.interference import Interference
from windlass.sim import replay
from windlass.sim.coupled import Coupled
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.shares.neighbours import NeighbourSpeeds
from windlass.sim.site.part import SitePart

SEED = 5


def rng(*stream):
    """Return the generator of the stream with this number, from the seed of all runs here."""
    return np.random.default_rng([SEED, *stream])


def run_world(name, **fields):
    """Run a scenario; return its outcome, its workload and the world. Check the reported progress."""
    world = find_world(name)
    setting = world.setting.model_validate(fields)
    workload, shares = world.workload(setting, SEED), []
    found = world.run(setting, SEED, workload, shares.append)
    assert found.seed == SEED
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)
    return found, workload, world


def equal(found, wanted):
    """Check that two dataclasses have the same numbers, NaN included."""
    names = type(wanted).__dataclass_fields__
    np.testing.assert_equal({n: getattr(found, n) for n in names}, {n: getattr(wanted, n) for n in names})


@pytest.mark.parametrize("kill", [True, False])
def test_the_batch_world_equals_the_simulator(kill):
    drawn = {"jobs": 150, "load": 0.9, "kinds": True, "overestimate": 1.5}
    found, workload, world = run_world(
        "batch",
        cluster={"processors": 32},
        workload={"lublin": drawn},
        policies={"order": "easy"},
        kill_at_walltime=kill,
    )
    jobs = lublin(150, 32, rng(0), kinds=True, load=0.9, overestimate=1.5)
    done = replay(jobs, 32, ORDER.make("easy", rng(1)), kill=kill)
    table = found.jobs
    for column, values in (
        ("job", jobs.job),
        ("submit_s", jobs.submit),
        ("start_s", done.start),
        ("end_s", done.end),
        ("procs", jobs.procs),
        ("request_s", jobs.request),
    ):
        assert table[column].to_list() == values.tolist()
    assert table["why"].to_list() == [done.reasons[why] for why in done.why]
    assert found.processors == 32
    (content,) = world.contents(workload).contents
    assert (content.noun, content.count, content.first, content.last) == (
        *("job", 150),
        jobs.submit.min(),
        jobs.submit.max(),
    )


def test_the_dispatch_world_equals_the_simulator():
    found, workload, world = run_world(
        "dispatch",
        cluster={
            "groups": [{"workers": 2, "speed": 1.0}, {"workers": 1, "speed": 3.0}],
            "shocks_every": 20.0,
            "failures": [{"worker": 0, "down": 5.0, "up": 9.0}, {"worker": 2, "down": 7.0}],
        },
        workload={"tasks": 400, "load": 0.5, "tasks_per_job": 2, "arrivals": "bursty", "service": "pareto"},
        policies={"dispatch": {"rosella": {"probes": 3}}},
        schedulers=2,
        probe_delay=0.25,
        count_sent=True,
        sizes="known",
    )
    speeds = np.array([1.0, 1.0, 3.0])
    timetable = shocks(speeds, 20.0, 400 / (0.5 * 5.0), rng(2))
    timetable += WorkerTimetable.failure(0, 5.0, 9.0)
    timetable += WorkerTimetable.failure(2, 7.0)
    policy = DISPATCH.make("rosella", rng(1), workers=3, guaranteed=5.0, probes=3)
    done = simulate(
        policy,
        speeds,
        0.5,
        400,
        SEED,
        arrivals=Bursty(),
        service=Pareto(),
        tasks_per_job=2,
        timetable=timetable,
        schedulers=2,
        probe_delay=0.25,
        count_sent=True,
        sizes_known=True,
        record=True,
    )
    assert found.jobs["job"].to_list() == [task // 2 for task in range(400)]
    assert found.jobs["submit_s"].to_list() == done.submit.tolist()
    assert found.jobs["start_s"].to_list() == done.start.tolist()
    assert found.jobs["end_s"].to_list() == (done.submit + done.response).tolist()
    assert found.jobs["worker"].to_list() == done.worker.tolist()
    assert set(found.jobs["procs"]) == {1}
    assert found.processors == 3
    equal(found.metrics, dispatch_metrics(done))
    (content,) = world.contents(workload).contents
    assert (content.noun, content.count, content.first, content.last) == ("task", 400, 0.0, 160.0)


def test_requests_are_scaled_to_the_load(tmp_path):
    path = tmp_path / "requests.csv"
    times = [0.0, 3.0, 4.0, 10.0, 12.0]
    rows = [f"2023-11-16 18:00:{at:06.3f},{10 * n + 5},{n}" for n, at in enumerate(times, start=1)]
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows) + "\n")
    found, workload, _ = run_world(
        "dispatch",
        cluster={"groups": [{"workers": 2, "speed": 2.0}]},
        workload={"llm": str(path), "load": 0.5, "tasks": 4},
        policies={"dispatch": "jsq"},
    )
    work = np.array([10.0 * n + 5 + 20.0 * n for n in range(1, 6)])
    sizes = (work / work.mean())[:4]
    assert workload.service == pytest.approx(sizes)
    stretch = sizes.sum() / (0.5 * 4.0 * 10.0)
    assert found.jobs["submit_s"].to_list() == pytest.approx([at * stretch for at in times[:4]])
    assert (workload.count, workload.per_job, workload.load, workload.last) == (4, 1, None, 10.0 * stretch)


def test_worker_speeds_drift_over_the_run(tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"{value},2023-09-01 0{hour}:00:00.000,0" for hour, value in ((0, 1.0), (2, 3.0), (4, 3.0))]
    path.write_text("value,starttime,VM_id\n" + "\n".join(rows) + "\n")
    found, workload, _ = run_world(
        "dispatch",
        cluster={"groups": [{"workers": 1, "speed": 2.0}], "drift": str(path)},
        workload={"tasks": 300, "load": 0.4, "service": "fixed"},
        policies={"dispatch": "jsq"},
    )
    # Over 200 points of the run: the first half is slow, from the middle on it is three times as fast.
    scores = np.where(np.linspace(0.0, 4.0, 200) < 2.0, 1.0, 3.0)
    speeds = 2.0 * scores / scores.mean()
    table = found.jobs.with_columns(took=pl.col("end_s") - pl.col("start_s"))
    step = workload.last / 200
    seen = set()
    for start, took in table.select("start_s", "took").rows():
        first, last = int(start / step), int((start + took) / step)
        if last < 200 and speeds[first] == speeds[last]:
            assert took == pytest.approx(1.0 / speeds[first])
            seen.add(speeds[first])
    assert len(seen) == 2


def test_the_admission_world_equals_the_simulator():
    fields = {
        "cluster": {"nodes": 3, "bursts": {"every": 20.0, "last": 5.0, "ramp": 1.0}},
        "workload": {"tasks": 500, "load": 0.6},
        "policies": {"dispatch": "jsq", "admit": {"utilisation": {"threshold": 0.5}}},
    }
    found, workload, world = run_world("admission", **fields, keep_tasks=100, warm=3.0)
    setting = world.setting.model_validate(fields)
    capacity = 3 * 4.0 * (1 - setting.cluster.bursts.held(4))
    assert workload.tasks[0].drawn.last == pytest.approx(500 / (0.6 * capacity))
    done, observed = with_admission(draw_case(setting, SEED))
    equal(found.metrics, admission_metrics(done, observed, 3.0))
    assert found.jobs["job"].to_list() == list(range(0, 500, 5))
    assert found.jobs["submit_s"].to_list() == done.submit[::5].tolist()
    assert found.jobs["start_s"].to_list() == done.start[::5].tolist()
    assert found.jobs["end_s"].to_list() == (done.submit + done.response)[::5].tolist()
    assert found.jobs["worker"].to_list() == done.worker[::5].tolist()
    assert (found.processors, found.notes) == (
        3,
        ("one in 5 tasks is in the table; metrics cover all tasks",),
    )
    whole, _, _ = run_world("admission", **fields)
    assert (len(whole.jobs), whole.notes) == (500, ())


@pytest.mark.matrix(0)
@pytest.mark.parametrize(("kill", "host_time"), [(True, "capped"), (False, "weighted")])
def test_the_sharing_world_equals_the_simulator(kill, host_time):
    found, _, _ = run_world(
        "sharing",
        cluster={"processors": 32, "memory_per_core": 3e9},
        workload={
            "lublin": {"jobs": 60, "load": 0.9, "overestimate": 1.2},
            "use": {"cpu": (2.0, 3.0), "memory": (2.0, 9.0), "sequential": 0.2, "classes": 4},
            "interference": {
                "pressure": 0.1,
                "both": 0.2,
                "crowding": 0.3,
                "spread": 0.4,
                "host": host_time,
            },
        },
        policies={"order": "easy", "share": "static"},
        kill_at_walltime=kill,
        checkpoint=45.0,
        noise=0.1,
    )
    jobs = lublin(60, 32, rng(0), load=0.9, overestimate=1.2)
    chance = rng(4)
    classes = chance.integers(0, 4, 60)
    use = draw_use(jobs, classes, UseLaw((2.0, 3.0), (2.0, 9.0), 0.2, 3e9), chance)
    factors = np.exp(rng(5).normal(0.0, 0.4, 1000))
    case = SharingCase(
        jobs,
        32,
        use,
        NeighbourSpeeds(Interference(0.1, 0.2, 0.3, host_time), use, factors, SEED),
        memory_per_core=3e9,
        checkpoint=45.0,
        noise=0.1,
        kill=kill,
    )
    done = run_sharing(case, ORDER.make("easy", rng(1)), SHARE.make("static", rng(2)), rng(3))
    assert found.jobs["end_s"].to_list() == done.jobs.end.tolist()
    assert found.jobs["class"].to_list() == [str(each) for each in classes]
    assert found.jobs["cpu_s"].to_list() == pytest.approx(use.core_seconds(jobs.procs).tolist())
    equal(found.metrics, sharing_metrics(done.jobs, done.shared, use, done.left, kill=kill))
    hosts, quotas = [None] * 60, [None] * 60
    for host, guest, quota in zip(done.shared.host, done.shared.guest, done.shared.quota, strict=True):
        if hosts[guest] is None:
            hosts[guest], quotas[guest] = int(jobs.job[host]), int(quota)
    assert found.jobs["host"].to_list() == hosts
    assert found.jobs["first_quota_percent"].to_list() == quotas
    assert found.processors == 32


def test_the_elastic_world_equals_the_simulator(tmp_path):
    (tmp_path / "spot.json").write_text('{"metadata": {"gap_seconds": 3600}, "data": [2, 2, 0, 3, 3, 1]}')
    types = [
        {"name": "large", "cores": 16, "gpus": 2, "price": 3.0, "launch": 200, "most": 9},
        {"name": "small", "cores": 4, "memory": 8e9, "price": 0.5, "most": 30},
    ]
    found, workload, world = run_world(
        "elastic",
        cluster={
            "types": types,
            "idle": 300.0,
            "launch_spread": 0.3,
            "boot_failure": 0.1,
            "fit": "best",
            "spot": {"trace": str(tmp_path / "spot.json"), "type": "small", "each": 5, "notice": 60.0},
        },
        workload={
            "drawn": {
                **{"days": 1.0, "per_hour": 12.0, "daily": 0.5, "weekend": 0.9, "batch": 1.5, "run": 900.0},
                **{"spread": 0.5, "shapes": [{"cores": 2.0, "weight": 3.0}, {"gpus": 1.0}]},
            },
            "earlier": 7200.0,
        },
        policies={"scale": "reactive"},
        period=300.0,
        look=30.0,
    )
    season = Season(1.0, 12.0, 0.5, 0.9, 1.5, 900.0, 0.5)
    jobs = seasonal(season, [Shape(cores=2.0, weight=3.0), Shape(gpus=1.0, cores=1.0)], rng(0))
    assert workload.jobs.submit.tolist() == jobs.submit.tolist()
    lasts = jobs.submit[-1] - jobs.submit[0] + jobs.run.max() + 30 * 86_400.0
    numbers = [2, 2, 0, 3, 3, 1] * int(np.ceil(lasts / (6 * 3600.0)))
    rows = [(0.0, 10)] + [
        (3600.0 * at, min(5 * now, 30))
        for at, (before, now) in enumerate(pairwise(numbers), start=1)
        if now != before
    ]
    rows.append((3600.0 * len(numbers), 30))
    fleet = InstanceFleet(
        (
            InstanceType("small", cores=4, memory=8e9, price=0.5, launch=300.0, most=30),
            InstanceType("large", cores=16, gpus=2, price=3.0, launch=200.0, most=9),
        ),
        idle=300.0,
        launch_spread=0.3,
        boot_failure=0.1,
        notice=60.0,
        best_fit=True,
        interruptions=Interruptions(
            np.array([time for time, _ in rows]) + jobs.submit[0],
            np.zeros(len(rows), np.int64),
            np.array([limit for _, limit in rows]),
        ),
    )
    case = ElasticCase(jobs, fleet, period=300.0, earlier=7200.0, look=30.0)
    done = run_elastic(case, SCALE.make("reactive", rng(1)), rng(2))
    equal(found.metrics, elastic_metrics(done))
    table = found.jobs
    assert table["start_s"].to_list() == done.start.tolist()
    assert table["end_s"].to_list() == done.end.tolist()
    assert table["waited_for_launch"].to_list() == (delayed(done) & (done.start > done.jobs.submit)).tolist()
    last = dict(
        zip(done.attempts.job.tolist(), done.launches.kind[done.attempts.launch].tolist(), strict=True)
    )
    assert table["instance_type"].to_list() == [("small", "large")[last[row]] for row in range(len(table))]
    for place, name in enumerate(("gpus", "cores", "memory")):
        assert table[name].to_list() == done.jobs.resources[:, place].tolist()
    assert found.processors == 30 * 4 + 9 * 16
    assert world.contents(workload).contents[0].count == len(jobs)


def test_the_colocated_world_draws_outages_from_the_law():
    found, workload, world = run_world(
        "colocated",
        cluster={
            **{"nodes": 4, "cores": 4, "speed": 2.0, "floor": 0.25},
            "outages": {"every": 3000.0, "last": 400.0, "kill": 0.75},
        },
        workload={"batch": {"lublin": {"jobs": 60, "load": 0.8}}, "tasks": {"tasks": 600, "load": 0.002}},
        policies={"order": "easy", "dispatch": "jsq"},
        keep_tasks=200,
    )
    jobs = lublin(60, 16, rng(0), load=0.8)
    tasks = draw_tasks(600, 0.002, "poisson", "exponential", tasks_per_job=1, capacity=8.0, seed=SEED)
    until = max(float(jobs.submit[-1]), 600 / (0.002 * 8.0))
    outages = draw_outages(4, 4, 3000.0, 400.0, 0.75, until, rng(2))
    ledger, policy = Ledger([[4] * 4], parts=1), ORDER.make("easy", rng(1))
    parts = (Outages(outages, ledger), SitePart(jobs, policy, ledger, kill=True))
    done = drive(Coupled(parts, ledger), {ORDER.key: policy})[1]
    of_jobs = found.jobs.filter(pl.col("kind") == "job")
    assert of_jobs["start_s"].to_list() == done.start.tolist()
    assert of_jobs["end_s"].to_list() == done.end.tolist()
    assert found.metrics.lost_attempts == len(done.lost) > 0
    of_tasks = found.jobs.filter(pl.col("kind") == "task")
    assert of_tasks["job"].to_list() == list(range(0, 600, 3))
    assert of_tasks["submit_s"].to_list() == tasks.submit[::3].tolist()
    assert (of_tasks["start_s"] >= of_tasks["submit_s"]).all()
    assert found.processors == 16
    note = "one in 3 of the 600 tasks is in the table and in plots; metrics cover all tasks"
    assert found.notes[-1] == note
    both = world.contents(workload).contents
    assert [(each.noun, each.count) for each in both] == [("job", 60), ("task", 600)]
    assert both[1].last == 600 / (0.002 * 8.0)


def test_the_ideal_fleet_has_no_failures_or_interruptions():
    jobs = VectorJobs.of(submit=[0.0, 50.0, 400.0], run=[300.0, 100.0, 10.0], cores=[4, 4, 4])
    kinds = (InstanceType("small", cores=4, launch=100.0, most=5),)
    taken = Interruptions(np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64))
    poor = InstanceFleet(kinds, boot_failure=0.9, interruptions=taken)
    done = ideal(ElasticCase(jobs, poor))
    # Each job starts on arrival, on an instance that leaves with it.
    assert done.start.tolist() == [0.0, 50.0, 400.0]
    assert done.launches.launched.tolist() == [0.0, 50.0, 400.0]
    assert done.launches.gone[:2].tolist() == [300.0, 150.0]
    assert done.lost == 0
    times, counts = use_over_time(done)
    rows = [(time, row[0]) for time, row in zip(times.tolist(), counts.tolist(), strict=True)]
    assert rows[:5] == [(0.0, 1), (50.0, 2), (150.0, 1), (300.0, 0), (400.0, 1)]


def test_a_complete_task_table_has_no_note():
    fields = {
        "cluster": {"nodes": 2, "cores": 2},
        "workload": {"batch": {"lublin": {"jobs": 3, "load": 0.5}}, "tasks": {"tasks": 10, "load": 1e-4}},
        "policies": {"order": "easy", "dispatch": "jsq"},
    }
    all_kept, _, _ = run_world("colocated", **fields, keep_tasks=10)
    assert not any(note.startswith("one in") for note in all_kept.notes)
    assert (all_kept.jobs["kind"] == "task").sum() == 10
    half, _, _ = run_world("colocated", **fields, keep_tasks=9)
    assert (half.jobs["kind"] == "task").sum() == 5
    assert half.notes[-1].startswith("one in 2 of the 10 tasks is in the table")
