"""Runs of queries and of jobs over sites equal the simulator, called directly with the scenario's values."""

import numpy as np
import pytest

from tests.worlds.test_by_hand import equal, rng, run_world
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.fixed import draw_fixed
from windlass.experiment.workloads.queries import drawn_queries, three_tiers
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.experiment.worlds.video.clusters import timetable_of
from windlass.experiment.worlds.video.simulation import VideoCase, run_video
from windlass.experiment.worlds.video.spec import ChangeSpec, LinkDropsSpec
from windlass.experiment.worlds.video.streams import QuerySchedule
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.timetable import SiteTimetable
from windlass.order.fleet import POLICIES as FLEET_ORDERS
from windlass.place import POLICIES as PLACES
from windlass.plan import POLICIES as PLAN
from windlass.results.metrics.fleet import fleet_metrics, service_seconds
from windlass.results.metrics.video import video_metrics
from windlass.sim.fleet import run_ordered, run_placed
from windlass.sim.queries.setup import Terms


def test_the_video_world_equals_the_simulator():
    found, workload, world = run_world(
        "video",
        cluster={"cameras": 3, "camera_cores": 1.0, "private_cores": 4.0, "cloud_cores": 9.5},
        workload={
            **{"seconds": 500.0, "begin": 4, "per_hour": 90.0, "last": 200.0, "frames": 10.0},
            "drawn": {"kinds": ["counter"], "spread": 0.2},
        },
        changes=[{"at": 100.0, "cluster": "private", "cores": 2.0}],
        drops={"every": 60.0, "last": 20.0, "left": 0.5},
        policies={"plan": "fair"},
        restart=2.0,
        notice=0.5,
        buffer=3.0,
        deadline=0.75,
        catch_up=0.5,
        merge=True,
    )
    tiers = three_tiers(3, 1.0, 75e3, 4.0, 625e3, 9.5)
    chance = rng(0)
    later = np.sort(chance.uniform(0.0, 500.0, chance.poisson(90.0 * 500.0 / 3600.0)))
    arrive = np.concatenate((np.zeros(4), later))
    leave = np.minimum(arrive + chance.exponential(200.0, len(arrive)), 500.0)
    assert workload.stays.arrive.tolist() == arrive.tolist()
    assert workload.stays.leave.tolist() == leave.tolist()
    cameras = ["camera-1", "camera-2", "camera-3"]
    queries = drawn_queries(rng(1), cameras, len(arrive), ("counter",), 0.2)
    assert workload.queries == queries
    table = timetable_of(
        tiers,
        [ChangeSpec(at=100.0, cluster="private", cores=2.0)],
        LinkDropsSpec(every=60.0, last=20.0, left=0.5),
        float(leave.max()),
        rng(2),
    )
    case = VideoCase(
        tiers, QuerySchedule(queries, workload.stays), table, Terms(2.0, 0.5, 3.0, 0.75, 0.5), merge=True
    )
    done = run_video(case, PLAN.make("fair", rng(3)))
    equal(found.metrics, video_metrics(done, 10.0))
    assert found.jobs["lost_frames"].to_list() == (done.lost * 10.0).tolist()
    assert found.jobs["late_frames"].to_list() == (done.late * 10.0).tolist()
    assert found.jobs["frames"].to_list() == ((leave - arrive) * 10.0).tolist()
    assert found.jobs["accuracy"].to_list() == pytest.approx((done.accurate / (leave - arrive)).tolist())
    assert found.jobs["changes"].to_list() == done.switches.tolist()
    assert found.jobs["silent_s"].to_list() == done.silent.tolist()
    assert found.jobs["camera"].to_list() == [cameras[at % 3] for at in range(len(arrive))]
    assert set(found.jobs["kind"]) == {"query"}
    assert found.processors == round(3 * 1.0 + 4.0 + 9.5)
    series = {each.name: each for each in found.series}
    assert [each.percent for each in found.series] == [True, False, False, False, False]
    changes = series["changes a minute"]
    assert changes.value @ np.diff(changes.time) == pytest.approx(60.0 * done.switches.sum())
    assert series["accuracy"].value == pytest.approx(done.course.results / np.maximum(done.course.there, 1))
    assert series["queries"].value.tolist() == done.course.there.tolist()
    assert series["cores held"].value == pytest.approx(done.course.held.sum(axis=1))
    assert series["kilobytes a second sent"].value == pytest.approx(done.course.sent.sum(axis=1) / 1000)
    assert world.contents(workload).contents[0].noun == "query"


def test_the_fleet_world_places_jobs_as_the_simulator():
    found, workload, world = run_world(
        "fleet",
        cluster={
            "drawn": {"sites": 4, "least_slots": 5, "most_slots": 30, "least_mbit": 50.0, "slot_zipf": 0.5}
        },
        workload={"drawn": {"jobs": 8, "tasks": 20.0, "least_stages": 1, "most_stages": 3, "load": 0.6}},
        policies={"place": "in-place"},
        drops={"drop": 0.5, "sites": 2, "every": 40.0},
        estimates="true",
        look_every=0.5,
        decide_every=2.0,
    )
    fleet = draw_sites(SiteModel(4, (5, 30), (50.0, 2000.0), 0.5, None), rng(0))
    model = JobModel(jobs=8, tasks=20.0, stages=(1, 3), load=0.6)
    jobs = draw_jobs(model, fleet, rng(1))
    assert workload.jobs.duration.tolist() == jobs.duration.tolist()
    drops = draw_drops(fleet, 0.5, 2, 40.0, float(jobs.submit[-1]) + 20 * 40.0, rng(2))
    case = FleetCase(fleet, jobs, drops)
    policy = PLACES.make("in-place", rng(3))
    done = run_placed(case, policy, look_every=0.5, decide_every=2.0, estimates="true")
    equal(found.metrics, fleet_metrics(done, service_seconds(done)))
    assert found.jobs["start_s"].to_list() == done.start.tolist()
    assert found.jobs["wan_bytes"].to_list() == done.sent.tolist()
    assert found.jobs["stages"].to_list() == np.diff(jobs.stage0).tolist()
    assert found.jobs["tasks"].to_list() == jobs.job_tasks.tolist()
    assert found.jobs["job"].to_list() == list(range(1, 9))
    assert found.processors == fleet.slots.sum()
    assert "service_s" not in found.jobs.columns
    assert world.contents(workload).contents[0].count == 8


@pytest.mark.parametrize("sizes", ["tasks", "seconds"])
def test_the_fleet_world_orders_jobs_as_the_simulator(sizes):
    fixed = {"law": "google", "jobs": 30, "utilisation": 0.6, "skew": 1.0, "longest_s": 9.0}
    found, _, _ = run_world(
        "fleet",
        cluster={"alike": {"sites": 3, "slots": 4}},
        workload={"fixed": fixed},
        policies={"order": "swag"},
        estimates={"accuracy": 0.3, "sizes": sizes},
    )
    case = draw_fixed(
        rng(0),
        law="google",
        jobs=30,
        fleet=Fleet.of([4, 4, 4]),
        utilisation=0.6,
        skew=1.0,
        longest=9.0,
        accuracy=0.3,
    )
    done = run_ordered(case, FLEET_ORDERS.make("swag", rng(1)), by_seconds=sizes == "seconds")
    assert found.jobs["end_s"].to_list() == done.end.tolist()
    assert found.jobs["service_s"].to_list() == service_seconds(done).tolist()
    assert found.jobs["sites"].to_list() == np.diff(case.jobs.part0).tolist()
    assert "wan_bytes" not in found.jobs.columns
    equal(found.metrics, fleet_metrics(done, service_seconds(done)))


def test_listed_jobs_run_at_listed_sites():
    sites = [
        {"name": "a", "slots": 2, "up": 8.0, "down": 5.0},
        {"name": "b", "slots": 1, "up": 4.0, "down": 6.0},
    ]
    first = {"task_s": 2.0, "input": {"b": 2, "a": 1}, "task_bytes": 3.0, "ratio": 0.5}
    listed = [
        {"submit": 9.0, "stages": [{"task_s": 1.0, "input": {"b": 1}}]},
        {"name": "x", "stages": [first, {"task_s": 1.5, "tasks": 2, "parents": [0]}]},
    ]
    found, workload, _ = run_world(
        "fleet",
        cluster={"sites": sites, "pair": [[9.0, 7.0], [3.0, 9.0]], "usd_per_gb": [[0.0, 1e9], [2e9, 0.0]]},
        workload={"jobs": listed},
    )
    jobs = FleetJobs.of(
        [0.0, 9.0],
        [
            [StageSpec(2.0, (1, 2), 3.0, ratio=0.5), StageSpec(1.5, tasks=2, parents=(0,))],
            [StageSpec(1.0, (0, 1))],
        ],
    )
    for name in ("submit", "tasks", "site", "duration", "task_bytes", "ratio", "children"):
        assert getattr(workload.jobs, name).tolist() == getattr(jobs, name).tolist(), name
    fleet = workload.fleet
    assert (fleet.names, fleet.slots.tolist()) == (("a", "b"), [2, 1])
    assert (fleet.up.tolist(), fleet.down.tolist()) == ([8.0, 4.0], [5.0, 6.0])
    assert fleet.pair.tolist() == [[9.0, 7.0], [3.0, 9.0]]
    assert fleet.price.tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert len(workload.timetable) == 0
    done = run_placed(FleetCase(fleet, jobs, SiteTimetable.none()), PLACES.make("in-place", rng(3)))
    assert found.jobs["end_s"].to_list() == done.end.tolist()


@pytest.mark.parametrize("fixed", [{"utilisation": 0.5, "skew": "one-site"}, None])
def test_selected_jobs_of_a_log_of_bytes(tmp_path, fixed):
    path = tmp_path / "log.tsv"
    rows = [(0, 300e6, 10e6), (5, 3.0, 0), (9, 900e6, 0), (11, 200e6, 0)]
    path.write_text("".join(f"j\t{at}\t0\t{read}\t{moved}\t0\n" for at, read, moved in rows) + "bad\n")
    fields = {"trace": str(path), "where": "map_input > 250e6", "skip_bad_lines": True}
    found, workload, _ = run_world(
        "fleet",
        cluster={"sites": [{"name": name, "slots": 2, "up": 1e8, "down": 1e8} for name in "ab"]},
        workload=fields | ({} if fixed is None else {"fixed": fixed}),
    )
    assert len(found.jobs) == len(workload.jobs) == 2
    # Blocks of 128 MiB; a shuffle is one more task.
    assert workload.jobs.job_tasks.tolist() == ([3 + 1, 7] if fixed is None else [3, 7])
    if fixed is not None:
        used = workload.jobs.duration.sum() / (4 * workload.jobs.submit[-1])
        assert used == pytest.approx(0.5)
        assert len(workload.jobs.site) == 2
