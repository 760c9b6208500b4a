"""Values at and beyond the bounds of the model's classes, and their defaults."""

import math

import numpy as np
import pytest

from windlass.model import InputError, JobTable
from windlass.model.instances import InstanceType
from windlass.model.limits import Limit
from windlass.model.owners import Owners
from windlass.model.pools import Pools
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.model.text import printable
from windlass.model.timetable import FAIL, RETURN, SET_SPEED, NodeTimetable, SiteTimetable, WorkerTimetable
from windlass.model.values import checked_rates, column, number, whole
from windlass.model.vectors import VectorJobs


def assert_rejected(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whole_numbers_below_the_minimum_and_other_types_are_rejected():
    assert whole("x", np.int64(3), 3) == 3
    assert isinstance(whole("x", np.int64(3), 3), int)
    for bad in (2, 3.0, "3", True):
        assert_rejected(
            lambda bad=bad: whole("x", bad, 3), f"x is {bad!r}, expected a whole number of at least 3"
        )


def test_numbers_out_of_bounds_are_rejected():
    assert number("x", 2, 2.0, 5.0) == 2.0
    assert number("x", 5.0, 2.0, 5.0) == 5.0
    assert number("x", 2.1, 2.0, open_below=True) == 2.1
    assert_rejected(lambda: number("x", 1.9, 2.0), "x is 1.9, expected a finite number at least 2")
    assert_rejected(
        lambda: number("x", 5.1, 2.0, 5.0), "x is 5.1, expected a finite number at least 2, at most 5"
    )
    assert_rejected(
        lambda: number("x", 2.0, 2.0, open_below=True), "x is 2.0, expected a finite number above 2"
    )
    for bad in (math.nan, math.inf, -math.inf):
        assert_rejected(lambda bad=bad: number("x", bad, -math.inf), "expected a finite number")


def test_rates_and_columns_are_validated():
    assert checked_rates([0.0, 2.0]).tolist() == [0.0, 2.0]
    assert_rejected(lambda: checked_rates([]), "rates has shape (0,)")
    assert_rejected(lambda: checked_rates([[1.0]]), "rates has shape (1, 1)")
    assert_rejected(lambda: checked_rates([1.0, -1.0]), "worker 1 has -1.0")
    assert_rejected(lambda: checked_rates([math.inf, 1.0]), "worker 0 has inf")
    assert_rejected(lambda: checked_rates([0.0, 0.0]), "all are 0")
    given = np.array([1.0, 2.0])
    found = column("x", given, 2)
    assert found.tolist() == [1.0, 2.0]
    assert found is not given
    assert_rejected(lambda: column("x", [1.0], 2), "x has shape (1,), expected (2,)")
    assert_rejected(lambda: column("x", [1.0, math.nan], 2), "x: value 1 is not a finite number")


def test_a_limit_may_be_raised_by_the_environment(monkeypatch):
    ants = Limit("WINDLASS_MAX_ANTS", 3, "ants")
    monkeypatch.delenv("WINDLASS_MAX_ANTS", raising=False)
    assert (ants.most(), ants.check(3), ants.check(0)) == (3, 3, 0)
    assert_rejected(lambda: ants.check(4), "4 ants, expected at most 3; WINDLASS_MAX_ANTS=4 raises the limit")
    assert_rejected(
        lambda: ants.check(4000, "hill", at_least=True),
        "hill: over 4,000 ants, expected at most 3; WINDLASS_MAX_ANTS raises the limit",
    )
    assert_rejected(
        lambda: ants.check(10**15), "1.0e+15 ants, expected at most 3; WINDLASS_MAX_ANTS raises the limit"
    )
    assert_rejected(
        lambda: ants.check(10**15 - 1),
        f"{10**15 - 1:,} ants, expected at most 3; WINDLASS_MAX_ANTS={10**15 - 1}",
    )
    assert_rejected(lambda: ants.check(10**300), "far too many ants")
    monkeypatch.setenv("WINDLASS_MAX_ANTS", "7")
    assert (ants.most(), ants.check(7)) == (7, 7)
    for bad in ("0", "-1", "many", "1.5", "9" * 19):
        monkeypatch.setenv("WINDLASS_MAX_ANTS", bad)
        assert_rejected(ants.most, f"WINDLASS_MAX_ANTS is {bad!r}, expected a whole number above 0")
    monkeypatch.setenv("WINDLASS_MAX_ANTS", "9" * 18)
    assert ants.most() == int("9" * 18)
    monkeypatch.setenv("WINDLASS_MAX_ANTS", "")
    assert ants.most() == 3


def test_limits_are_as_documented(monkeypatch):
    from windlass.model import limits

    found = {
        each.variable.removeprefix("WINDLASS_MAX_"): each.usual
        for each in vars(limits).values()
        if isinstance(each, Limit)
    }
    assert found == {
        "VARIANTS": 10_000,
        "RUNS": 100_000,
        "PROCESSES": 1024,
        "WORKERS": 1_000_000,
        "TEXT": 512 * 1024 * 1024,
        "YAML_BYTES": 16 * 1024 * 1024,
        "YAML_VALUES": 250_000,
    }


def test_instance_types_out_of_bounds_are_rejected():
    kind = InstanceType("a", cores=1.0)
    assert (kind.gpus, kind.memory, kind.price, kind.launch, kind.most) == (0.0, 0.0, 0.0, 300.0, 1_000_000)
    assert InstanceType("a", gpus=1.0, memory=3.0, launch=0.0, most=0).vector().tolist() == [1.0, 0.0, 3.0]
    assert_rejected(lambda: InstanceType("a"), "instance type a has no resources")
    for field in ("gpus", "cores", "memory", "price", "launch"):
        assert_rejected(
            lambda field=field: InstanceType("a", **{"cores": 1.0, field: -1.0}), f"type a: {field} is -1"
        )
    assert_rejected(lambda: InstanceType("a", cores=1.0, most=-1), "instance type a: most is -1")


GOOD = {"submit": [1.0, 1.0], "run": [0.0, 1e15], "cores": [1e15, 0.0], "gpus": [0.0, 1.0], "job": [5, 3]}


def test_vector_jobs_at_their_bounds_are_accepted():
    jobs = VectorJobs.of(**GOOD)
    assert (jobs.walltime.tolist(), jobs.job.tolist(), len(jobs)) == ([math.inf] * 2, [5, 3], 2)
    assert VectorJobs.of([0.0, 1.0], [1, 1], memory=2.0).job.tolist() == [1, 2]
    assert VectorJobs.of([0.0, 1.0], [1, 1], memory=2.0).resources.tolist() == [[0, 0, 2.0]] * 2
    assert len(VectorJobs.of([], [])) == 0
    assert VectorJobs.of([-1e15], [1], cores=1).submit.tolist() == [-1e15]
    taken = jobs.take(np.array([False, True]))
    assert (taken.job.tolist(), taken.resources.tolist()) == ([3], [[1.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"submit": [1.0, 1.1e15]}, "job 3, submit is 1100000000000000.0, expected a time of at most 1e15 s"),
        ({"run": [-1.0, 1.0]}, "job 5, run is -1.0, expected a time of 0 to 1e15 s"),
        ({"run": [0.0, 1.1e15]}, "job 3, run is 1100000000000000.0"),
        ({"walltime": [1.0, -1.0]}, "job 3, walltime is -1.0, expected a time of 0 or more"),
        ({"cores": [1.1e15, 1.0]}, "job 5, cores is 1100000000000000.0, expected 0 to 1e15"),
        ({"memory": [1.0, -1.0]}, "job 3, memory is -1.0"),
        ({"gpus": [1.0, math.nan]}, "job 3, gpus is nan"),
        ({"gpus": [0.0, 0.0]}, "job 3 requests nothing, expected at least one of gpus, cores, memory"),
        ({"submit": [2.0, 1.0]}, "job 3 is submitted at 1 s, before the job ahead of it"),
        ({"job": [5, 5]}, "job number 5 appears more than once"),
        ({"job": [5]}, "has shape"),
    ],
)
def test_vector_jobs_out_of_bounds_are_rejected(changed, message):
    assert_rejected(lambda: VectorJobs.of(**{**GOOD, **changed}), message)


def test_owners_and_pools_have_defaults_and_count_entries():
    found = Owners.of(3, user=[0, 2, 1], queue=[1, 1, 0])
    assert (found.entries, found.group.tolist(), found.queue.tolist()) == (3, [-1] * 3, [1, 1, 0])
    assert Owners.of(3, user=[0, 2, -1]).entries == 4
    assert Owners.of(0).entries == 1
    assert Owners.of(2).entries == 1
    pools = Pools.of(("a", "b"), [4, 9], [[4, 5, 1], [9, 0, 10]])
    assert (len(pools), pools.lacking().tolist()) == (2, [1, 2])
    assert (len(Pools.none(3)), Pools.none(3).lacking().tolist()) == (0, [])


def test_printable_text_escapes_control_characters():
    assert printable("plain \u00e9") == "plain \u00e9"
    assert printable("a\tb\x1b\u202ec\u00a0d") == "a\\tb\\x1b\\u202ec\u00a0d"


def test_clusters_and_queries_out_of_bounds_are_rejected():
    assert (Cluster("a", 0).up, Cluster("a", 0).down, Cluster("a", 0).parent) == (math.inf, math.inf, None)
    assert_rejected(lambda: Cluster("", 1), "a cluster has no name")
    for kind in ("cores", "up", "down"):
        assert_rejected(
            lambda kind=kind: Cluster(**{"name": "a", "cores": 1, kind: -1}),
            f"cluster a: {kind} is -1, expected 0 or more",
        )
    assert_rejected(lambda: Cluster("a", math.nan), "cores is nan")
    assert_rejected(lambda: Hierarchy(()), "no clusters")
    assert_rejected(lambda: Hierarchy((Cluster("a", 1), Cluster("a", 1))), "cluster a appears 2 times")
    assert_rejected(
        lambda: Hierarchy((Cluster("a", 1, parent="b"),)), "cluster a: its parent 'b' does not exist"
    )
    ring = (Cluster("a", 1, parent="b"), Cluster("b", 1, parent="a"))
    assert_rejected(lambda: Hierarchy(ring), "cluster a: the chain of its parents is a cycle")
    tiers = Hierarchy(
        (Cluster("top", 3, 4, 5), Cluster("mid", 6, 7, 8, "top"), Cluster("low", 1, parent="mid"))
    )
    assert tiers.path("low") == (2, 1, 0)
    assert tiers.path("top") == (0,)
    assert tiers.capacity().tolist() == [3, 4, 5, 6, 7, 8, 1, math.inf, math.inf]
    assert_rejected(lambda: tiers.path("none"), "no cluster 'none', expected one of top, mid, low")
    one = Component("a", 0.0, 0.0)
    assert_rejected(lambda: Component("", 1.0, 1.0), "a component has no name")
    assert_rejected(lambda: Component("a", -1.0, 1.0), "component a: cores is -1")
    assert_rejected(lambda: Component("a", 1.0, math.inf), "component a: output is inf")
    assert QueryPlan(0.0, (one,)).accuracy == 0.0
    assert QueryPlan(1.0, (one,)).accuracy == 1.0
    assert_rejected(lambda: QueryPlan(1.1, (one, one)), "plan a, a: accuracy is 1.1")
    assert_rejected(lambda: QueryPlan(-0.1, (one,)), "accuracy is -0.1")
    assert_rejected(lambda: QueryPlan(0.5, ()), "a plan has no components")
    plan = QueryPlan(0.5, (one,))
    assert Query("q", "c", (plan,)).source == 0.0
    assert_rejected(lambda: Query("", "c", (plan,)), "a query has no name")
    assert_rejected(lambda: Query("q", "c", ()), "query q has no plans")
    assert_rejected(lambda: Query("q", "c", (plan,), -1.0), "query q: source is -1")


def test_worker_timetables_are_sorted_and_validated():
    steps = WorkerTimetable.speeds([5.0, 1.0, 5.0], [1, 0, 0], [2.0, 0.0, 3.0])
    assert steps.time.tolist() == [1.0, 5.0, 5.0]
    assert (steps.worker.tolist(), steps.value.tolist()) == ([0, 1, 0], [0.0, 2.0, 3.0])
    assert steps.kind.tolist() == [SET_SPEED] * 3
    both = steps + WorkerTimetable.failure(2, 0.0, 5.0)
    assert both.time.tolist() == [0.0, 1.0, 5.0, 5.0, 5.0]
    assert both.kind.tolist() == [FAIL, SET_SPEED, SET_SPEED, SET_SPEED, RETURN]
    assert both.worker.tolist() == [2, 0, 1, 0, 2]
    assert WorkerTimetable.failure(1, 4.0).kind.tolist() == [FAIL]
    assert len(WorkerTimetable.none().time) == 0
    assert_rejected(
        lambda: WorkerTimetable.failure(1, 4.0, 4.0), "up is 4.0, expected a time after down, 4.0"
    )
    assert_rejected(
        lambda: WorkerTimetable.speeds([-1.0], [0], [1.0]), "time of row 0 is negative or not finite"
    )
    assert_rejected(lambda: WorkerTimetable.speeds([math.inf], [0], [1.0]), "time of row 0")
    assert_rejected(lambda: WorkerTimetable.speeds([0.0], [0], [-1.0]), "speed of row 0")
    assert_rejected(lambda: WorkerTimetable.speeds([0.0], [0], [math.inf]), "speed of row 0")
    assert_rejected(lambda: WorkerTimetable.speeds([0.0, 0.0], [0, -1], [1.0, 1.0]), "worker of row 1")
    assert_rejected(lambda: WorkerTimetable.speeds([0.0], [0, 1], [1.0]), "worker has shape")


def test_site_timetables_are_validated():
    one = np.ones(2)
    table = SiteTimetable(np.array([0.0, 0.0]), np.array([0, 1]), np.array([0, 5]), one, np.zeros(2))
    assert len(table) == 2
    good = {"time": np.array([1.0, 2.0]), **dict.fromkeys(("site", "slots", "up", "down"), one)}
    for name in ("site", "slots", "up", "down"):
        bad = {**good, name: np.array([0.0, -1.0])}
        assert_rejected(
            lambda bad=bad: SiteTimetable(**bad), f"timetable: {name} of row 1 is -1.0, expected 0 or more"
        )
        assert_rejected(
            lambda name=name: SiteTimetable(**{**good, name: np.ones(3)}), f"{name} has shape (3,)"
        )
    for times in ([2.0, 1.0], [1.0, math.inf], [math.nan, 1.0]):
        assert_rejected(
            lambda times=times: SiteTimetable(**{**good, "time": np.array(times)}), "ascending order"
        )


def test_node_timetables_are_sorted_and_validated():
    assert NodeTimetable.outage(1, 5.0, 9.0, cores=4).cores.tolist() == [0, 4]
    left = NodeTimetable.outage(1, 5.0, 9.0, cores=4, left=3, kill=True)
    assert (left.cores.tolist(), left.kill.tolist(), left.node.tolist()) == ([3, 4], [True, False], [1, 1])
    assert NodeTimetable.outage(0, 0.0, None, cores=4).time.tolist() == [0.0]
    assert not NodeTimetable.outage(0, 0.0, None, cores=4).kill.any()
    assert_rejected(
        lambda: NodeTimetable.outage(0, 5.0, 5.0, cores=4), "up is 5.0, expected a time after down"
    )
    both = left + NodeTimetable.outage(0, 5.0, 7.0, cores=2)
    assert (both.time.tolist(), both.node.tolist()) == ([5.0, 5.0, 7.0, 9.0], [1, 0, 0, 1])
    assert both.cores.tolist() == [3, 0, 2, 4]
    good = {"time": np.array([0.0, 0.0]), "node": np.zeros(2), "cores": np.ones(2), "kill": np.ones(2, bool)}
    assert len(NodeTimetable(**good)) == 2
    for name in ("node", "cores"):
        assert_rejected(
            lambda name=name: NodeTimetable(**{**good, name: np.array([1, -1])}), f"{name} of row 1 is -1"
        )
    assert_rejected(lambda: NodeTimetable(**{**good, "kill": np.ones(3, bool)}), "kill has shape (3,)")
    for times in ([2.0, 1.0], [-1.0, 1.0], [0.0, math.inf]):
        assert_rejected(
            lambda times=times: NodeTimetable(**{**good, "time": np.array(times)}), "at least 0 in ascending"
        )


@pytest.mark.parametrize("name", ["submit", "run", "request"])
def test_jobs_with_times_above_1e15_seconds_are_rejected(name):
    good = {"submit": [0.0], "run": [1.0], "procs": [1], "request": [1.0]}
    assert getattr(JobTable.of(**{**good, name: [1e15]}), name).tolist() == [1e15]
    assert_rejected(lambda: JobTable.of(**{**good, name: [1.1e15]}), f"job 1, {name} is 1100000000000000.0")
    assert JobTable.of(**{**good, "submit": [-1e15]}).submit.tolist() == [-1e15]
    assert JobTable.of(**{**good, "procs": [2.0**52], "job": [True]}).procs.tolist() == [2**52]
    for bad in (2.0**53, math.inf, 0.5):
        assert_rejected(lambda bad=bad: JobTable.of(**{**good, "job": [bad]}), "expected a whole number")
    assert_rejected(
        lambda: JobTable.of(**{**good, "job": ["a"]}), "column job holds <U1, expected whole numbers"
    )
