"""Long forms: a scenario with all defaults runs as before, and short forms run as the cluster that they stand for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml

from windlass.experiment.long_form import long_form
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.worlds import worlds
from windlass.experiment.worlds.composition import ShortForm
from windlass.model import InputError
from windlass.policy.registry import capability

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Examples whose world is a short form of a cluster, each with fields that make it small.
SHORT = {
    "colocated.yaml": {
        "workload": {"batch": {"lublin": {"jobs": 60}}, "tasks": {"tasks": 3000, "load": 0.0005}},
        "policies": {"order": "easy", "dispatch": ["rosella", "pot"]},
        "seeds": [1],
    },
    "admission.yaml": {
        "workload": {"tasks": 1000, "load": [0.6, 0.9]},
        "policies": {
            "dispatch": ["rosella", "pull"],
            "admit": [{"random": {"downtime": 0.2}}, {"forewarn": {"downtime": 0.1}}],
        },
        "warm": 5,
        "seeds": [2],
    },
    "dispatch.yaml": {
        "workload": {"tasks": 20_000},
        "policies": {"dispatch": ["pull", "rosella", "sparrow", "jsq"]},
        "seeds": [2],
    },
    "elastic.yaml": {"workload": {"drawn": {"days": 8, "per_hour": 4}, "earlier": 604_800}, "seeds": [2]},
    "estimates.yaml": {"workload": {"lublin": {"jobs": 300}}, "seeds": [1, 2]},
    "load.yaml": {"workload": {"lublin": {"jobs": 300}}, "seeds": [1, 2]},
    "hpc-sharing.yaml": {"workload": {"where": "job <= 150"}, "seeds": [2]},
    "fleet-job.yaml": {"policies": {"place": ["in-place", "tetrium", "delay-scheduling"]}},
    "fleet-live.yaml": {},
}
#: Fields of jobs that all worlds with them name alike.
TIMES = ("job", "job_id", "submit_s", "start_s", "end_s", "request_s", "why")
SITES = [
    {"name": "tokyo", "slots": 40, "up": 2e8, "down": 2e8},
    {"name": "paris", "slots": 10, "up": 5e7, "down": 1e8},
]
COLOCATED = {
    "world": "colocated",
    "cluster": {"nodes": 4, "cores": 8},
    "workload": {"batch": {"lublin": {"jobs": 20}}, "tasks": {"tasks": 100}},
    "policies": {"order": "easy", "dispatch": "jsq"},
}
#: A part that holds a drawn number of cores of each node for half an hour.
DRAWN = """
from windlass.sim.part import Quiet


class Drawn(Quiet):
    name = "drawn"

    def __init__(self, ledger, site, number, rng, most=5):
        self._ledger, self._rows, self._number = ledger, ledger.rows(site), ledger.join(site, number)
        self._most, self._rng, self._next = most, rng, 600.0
        ledger.watch(site)

    def horizon(self):
        return self._next

    def advance(self, until):
        if self._next <= until:
            for row in self._rows:
                self._ledger.hold(row, self._number, -int(self._ledger.nodes.held[row, self._number]))
        return until

    def decide(self, now):
        if self._next <= now:
            for row in self._rows if now < 40_000 else ():
                self._ledger.hold(row, self._number, int(self._rng.integers(self._most)))
            self._next = now + 1800.0 if now < 40_000 else float("inf")
        return ()
"""
WORKERS = {"world": "dispatch", "workload": {"tasks": 20}, "policies": {"dispatch": "jsq"}}
INSTANCES = {"types": [{"name": "small", "cores": 4, "price": 0.2, "most": 50}]}


def scenarios():
    """Return the examples that are scenarios."""
    named = [path for path in sorted(EXAMPLES.glob("*.yaml"))]
    return [
        path for path in named if (text := path.read_text()) and ("workload:" in text or "loads:" in text)
    ]


def read(path):
    """Return an example; skip one whose log is absent."""
    try:
        return load_scenario(path)
    except InputError as error:
        pytest.skip(f"the example's file is absent: {error}")


def overlaid(tree, fields):
    """Return a tree with some fields replaced."""
    if not isinstance(tree, dict) or not isinstance(fields, dict):
        return fields
    return tree | {name: overlaid(tree.get(name), value) for name, value in fields.items()}


def outcomes(scenario):
    """Run all variants with all seeds."""
    world = scenario.world
    return [
        world.run(each.setting, seed, world.workload(each.setting, seed), lambda share: None)
        for each in scenario.variants
        for seed in scenario.seeds
    ]


def assert_same_times(short, few=100):
    """Check that the long form of a short form is a cluster, in which all jobs have the same times, to the bit."""
    long = make_scenario(yaml.safe_load(long_form(short).yaml()), short.name)
    assert long.world.name == "cluster"
    assert len(long.variants) == len(short.variants)
    for one, other in zip(outcomes(short), outcomes(long), strict=True):
        shared = [name for name in TIMES if name in one.jobs.columns and name in other.jobs.columns]
        first = one.jobs
        if "worker" in first.columns:
            first = first.with_columns(pl.lit("task").alias("kind")).rename({"worker": "node"})
        if "kind" in first.columns:
            shared = [*shared, "kind", "node"]
            first = first.with_columns(
                pl.when(pl.col("kind") == "task").then(pl.col("job") + 1).otherwise("job").alias("job")
            )
        tables = [each.select(shared) for each in (first, other.jobs)]
        assert len(one.jobs) >= few
        assert {"submit_s", "start_s", "end_s"} <= set(shared)
        assert tables[0].equals(tables[1])
        # Short tasks hold no cores.
        assert other.metrics.used_share > 0.0 or not other.metrics.jobs + other.metrics.staged_jobs


@pytest.mark.matrix
@pytest.mark.parametrize("path", scenarios(), ids=lambda path: path.name)
def test_the_long_form_of_an_example_runs_as_the_example(path):
    scenario = read(path)
    found = long_form(scenario)
    again = make_scenario(yaml.safe_load(found.yaml()), scenario.name)
    assert (again.name, again.seeds) == (scenario.name, scenario.seeds)
    if path.name == "video.yaml":
        # Its table names times differently: see test_queries_run_as_in_a_cluster.
        assert again.world.name == "cluster"
        return
    if path.name in SHORT:
        tree = overlaid(yaml.safe_load(path.read_text()), SHORT[path.name])
        assert_same_times(make_scenario(tree, scenario.name, path.parent), few=1)
        return
    # A run depends on the setting and the seed only.
    assert [(each.name, each.setting) for each in again.variants] == [
        (each.name, each.setting) for each in scenario.variants
    ]
    # It is as long as it can be.
    assert long_form(again) == found


@pytest.mark.matrix
@pytest.mark.parametrize(
    "tree",
    [
        {"workload": {"lublin": {"jobs": 200}}, "policies": {"order": ["fcfs", "easy"]}, "seeds": [1, 2]},
        {"workload": {"lublin": {"jobs": 200}}, "policies": {"order": "easy"}, "load": ["x1.5", 1.0]},
        {"workload": {"lublin": {"jobs": 200, "load": 1.0}}, "policies": {"order": "easy"}, "estimates": "perfect"},
        {"workload": {"trace": "log.swf"}, "policies": {"order": ["easy", "queue"]}, "estimates": "history"},
        {
            "workload": {"trace": "log.swf", "ran": "easy"},
            "policies": {"order": {"priority": {"multifactor": {"weight_fairshare": 1000}}}},
        },
        {
            "workload": {"lublin": {"jobs": 200, "load": 1.0}},
            "policies": {"order": "easy"},
            "variants": {"ours": {}, "plain": {"policies": {"order": "fcfs"}}},
        },
        {"cluster": {"processors": [64, 80]}, "workload": {"lublin": {"jobs": 200}}, "policies": {"order": "easy"}},
        {
            "world": "sharing",
            "cluster": {"processors": [64, 96]},
            "workload": {"lublin": {"jobs": 120, "load": 0.9}},
            "policies": {"order": "easy", "share": "pairs"},
            "kill_at_walltime": False,
        },
        {
            "world": "elastic",
            "cluster": INSTANCES | {"launch_spread": 0.2, "boot_failure": 0.05},
            "workload": {"drawn": {"days": 1, "per_hour": 10}},
            "policies": {"scale": ["thrifty", "clairvoyant"]},
            "period": 300,
            "look": 300,
        },
        {
            "world": "fleet",
            "cluster": {"sites": SITES},
            "workload": {"drawn": {"jobs": 20, "tasks": 12, "load": 2.0, "estimate_error": 0.5}},
            "estimates": "true",
            "policies": {"place": ["tetrium", "gather", "in-place"]},
            "decide_every": 0,
            "seeds": [1, 2],
        },
        {
            "world": "colocated",
            "cluster": {"nodes": 4, "cores": 8, "speed": 2.0},
            "workload": {
                "batch": {"lublin": {"jobs": 150}},
                "tasks": {"tasks": 400, "load": 0.001, "tasks_per_job": 4, "arrivals": "bursty"},
            },
            "policies": {"order": "fcfs", "dispatch": ["pull", "jsq"]},
            "keep_tasks": 100,
        },
        {
            "workload": {"trace": "log.swf", "shake": 900.0},
            "policies": {"order": ["fcfs", "easy"]},
        },
        # Cores of 1/49 do not add up to 1 in floating-point numbers.
        COLOCATED | {"cluster": {"nodes": 3, "cores": 49, "speed": 1.0}},
        COLOCATED | {"schedulers": 3, "probe_delay": [0.0, 0.5], "policies": {"order": "easy", "dispatch": "rosella"}},
        COLOCATED
        | {
            "sizes": "known",
            "cluster": {
                "nodes": 4,
                "cores": 8,
                "outages": [
                    {"node": 1, "down": 3600, "up": 40_000, "left": 2, "kill": True},
                    {"node": 1, "down": 40_000},
                    {"node": 0, "down": 0, "up": 7200},
                ],
            },
            "workload": {"batch": {"lublin": {"jobs": 80}}, "tasks": {"tasks": 2000, "load": 0.001}},
        },
        {
            "world": "dispatch",
            "cluster": {
                "groups": [{"workers": 3, "speed": 1.0}, {"workers": 2, "speed": 0.3}],
                "shocks_every": 50,
                "failures": [
                    {"worker": 4, "down": 101, "up": 149},
                    {"worker": 0, "down": 30.5, "up": 90},
                    {"worker": 4, "down": 170.25},
                ],
            },
            "workload": {"tasks": 1200, "tasks_per_job": 3, "arrivals": "bursty", "service": "pareto"},
            "policies": {"dispatch": ["pull", "sparrow", "ppot", "round-robin"]},
            "fetch_delay": 0.1,
            "count_sent": True,
            "probe_delay": 0.2,
            "sizes": "known",
            "schedulers": 2,
        },
        {
            "world": "admission",
            "cluster": {"nodes": 3, "bursts": {"every": [30, 60], "last": 10, "ramp": 1}},
            "workload": {"tasks": 600},
            "policies": {"dispatch": "jsq", "admit": [{"utilisation": {"threshold": 0.6}}, "ready"]},
            "admission": {"full": "refuse"},
            "telemetry": {"every": 0.5},
            "schedulers": 2,
            "probe_delay": 0.1,
        },
        {
            "world": "fleet",
            "cluster": {"sites": SITES},
            "workload": {"drawn": {"jobs": 20, "tasks": 12}},
            "policies": {"order": ["swag", "fcfs"]},
            "variants": {"own": {}, "other": {"policies": {"order": "global-srpt"}}},
        },
    ],
)  # fmt: skip
def test_short_forms_run_as_the_cluster_that_they_stand_for(tree):
    assert_same_times(make_scenario({"seeds": [1], **tree}, "short", EXAMPLES), few=20)


@pytest.mark.matrix(0)
@pytest.mark.parametrize(
    "fields",
    [
        {"policies": {"plan": ["fair", "cascade", "steady"]}},
        {"drops": None, "merge": True, "restart": [2, 9]},
        {
            "changes": [
                {"at": 100, "cluster": "camera-2", "cores": 1, "up": 3e4},
                {"at": 200, "cluster": "cloud", "cores": 3},
            ]
        },
        {
            "changes": [{"at": 60, "cluster": "private", "cores": 2.5}],
            "workload": {"begin": 3, "per_hour": 300},
        },
    ],
)
def test_queries_run_as_in_a_cluster(fields):
    tree = yaml.safe_load((EXAMPLES / "video.yaml").read_text())
    small = {
        "workload": {"seconds": 400, "begin": 6, "last": 200},
        "cluster": {"cameras": 3, "cloud_cores": 6},
        "changes": [{**each, "at": each["at"] / 9} for each in tree["changes"]],
        "drops": {"every": 100, "last": 30},
        "policies": {"plan": "cascade"},
        "restart": 2,
        "seeds": [2],
    }
    scenario = make_scenario(overlaid(overlaid(tree, small), fields), "video")
    long = make_scenario({**yaml.safe_load(long_form(scenario).yaml()), "sample": 10}, "video")
    assert long.world.name == "cluster"
    names = {"submit_s": "arrive_s", "end_s": "leave_s", "accuracy": "accuracy"}
    for one, other in zip(outcomes(scenario), outcomes(long), strict=True):
        assert one.jobs.select(*names.values()).equals(other.jobs.select(*names).rename(names))
        assert one.jobs["accuracy"].n_unique() > 5
        # The ledger counts in thousandths of a core.
        cores = {each.name: each.value for each in other.series}
        assert 0.0 < cores["cores of queries at private"].max() <= cores["cores at private"].max() == 8.0
        assert 0.0 < other.metrics.used_share < 1.0


def test_custom_parts_keep_their_random_streams(tmp_path):
    (tmp_path / "drawn.py").write_text(DRAWN)
    parts = [f"{tmp_path}/drawn.py:Drawn", {f"{tmp_path}/drawn.py:Drawn": {"most": 9}}]
    assert_same_times(make_scenario(COLOCATED | {"parts": parts, "seeds": [1]}, "short"))


@pytest.mark.parametrize(
    ("tree", "lacks"),
    [
        ({"cluster": {"gpus": 8}, "workload": {"lublin": {"jobs": 20}}, "policies": {"order": "easy"}}, "GPUs"),
        (
            {
                "cluster": {"partitions": [{"name": "a", "processors": 8}]},
                "workload": {"trace": "explain.swf"},
                "policies": {"order": "easy"},
            },
            "partitions",
        ),
        (
            {
                "world": "elastic",
                "cluster": {"types": [{"name": "small", "cores": 0.5}]},
                "workload": {"drawn": {"days": 1}},
                "policies": {"scale": "reactive"},
            },
            "instances without whole cores",
        ),
        (
            {"world": "fleet", "cluster": {"alike": {}}, "workload": {"fixed": {}}, "policies": {"order": "swag"}},
            "tasks that are fixed to sites",
        ),
        (
            {"world": "fleet", "cluster": {"sites": SITES}, "workload": {"drawn": {}}, "drops": {"drop": 0.5}},
            "temporary losses of slots and links",
        ),
        (COLOCATED | {"cluster": {"nodes": [2, 4], "cores": 4}}, "sweep over the fields of nodes"),
        (WORKERS | {"cluster": {"groups": [{"workers": 2, "speed": 1}, {"workers": 1, "speed": 0}]}}, "nodes without"),
        (
            WORKERS
            | {
                "cluster": {
                    "groups": [{"workers": 2, "speed": 1}],
                    "failures": [{"worker": 0, "down": 5}, {"worker": 0, "down": 6}],
                }
            },
            "outages of a node that overlap",
        ),
        (
            WORKERS
            | {
                "cluster": {
                    "groups": [{"workers": 2, "speed": 1}],
                    "shocks_every": 2.5,
                    "failures": [{"worker": 0, "down": 7.5}],
                }
            },
            "failures that coincide",
        ),
        (
            {"world": "video", "cluster": {"private_cores": 2.5}, "policies": {"plan": "fair"}},
            "clusters without whole cores",
        ),
        (
            {"world": "video", "workload": {"file": "plan/queries.yaml"}, "policies": {"plan": "fair"}},
            "clusters and queries of files",
        ),
        (
            {"workload": {"lublin": {"jobs": 20}}, "policies": [{"order": "easy"}, {"order": "fcfs"}]},
            "sweep over whole sections",
        ),
        ({"world": "fleet", "cluster": {"drawn": {}}, "workload": {"drawn": {}}}, "sites that are drawn or alike"),
        ({"world": "fleet", "cluster": {"sites": SITES}, "workload": {"drawn": {}}}, "placements that are decided"),
    ],
)  # fmt: skip
def test_what_a_cluster_lacks_is_named(tree, lacks):
    scenario = make_scenario(tree, "short", EXAMPLES)
    found = long_form(scenario)
    assert [f"a cluster has no {lacks}" in line for line in found.comments] == [True]
    again = make_scenario(found.tree, "short")
    assert [each.setting for each in again.variants] == [each.setting for each in scenario.variants]


@pytest.mark.matrix(0)
@pytest.mark.parametrize("place", ["in-place", "tetrium"])
def test_a_log_over_measured_links_runs_as_in_a_cluster(place):
    # Decisions without a least time between them; with one, a cluster decides after the tasks that end then.
    path = EXAMPLES / "fleet-facebook.yaml"
    tree = overlaid(
        yaml.safe_load(path.read_text()),
        {
            "workload": {"swim": {"hours": 0.03}},
            "policies": {"place": place},
            "decide_every": 0,
            "seeds": [1],
        },
    )
    try:
        scenario = make_scenario(tree, "facebook", path.parent)
        assert_same_times(scenario, few=20)
    except InputError as error:
        pytest.skip(f"the example's files are absent: {error}")


def test_all_worlds_but_cluster_are_short_forms_or_name_what_is_missing():
    assert [world.name for world in worlds() if capability(world, ShortForm) is None] == ["cluster"]


def test_policies_are_written_by_address():
    tree = {
        "world": "cluster",
        "sites": {"iowa": {"processors": 8}, "oslo": {"like": "iowa", "up": 1e9}},
        "loads": {"batch": {"rigid": {"lublin": {"jobs": 50, "load": 0.5}}}, "etl": {"staged": {"drawn": {"jobs": 2}}}},
        "policies": {
            "order": {"rigid": "fcfs", "staged": "swag"}, "share@oslo": "pairs", "at": {"iowa": {"order": "sjf"}},
        },
    }  # fmt: skip
    scenario = make_scenario(tree)
    found = long_form(scenario).tree
    assert found["policies"] == {
        "plan": "fair", "order": "fcfs", "order.staged": "swag", "place": "in-place", "scale": "reactive",
        "share": None, "dispatch": "pull", "admit": None, "order@iowa": "sjf", "share@oslo": "pairs",
    }  # fmt: skip
    assert found["sites"]["oslo"]["processors"] == 8
    assert "like" not in found["sites"]["oslo"]
    assert make_scenario(found).variants[0].setting == scenario.variants[0].setting


@pytest.mark.parametrize(
    "policies",
    [
        {"order@iowa": "easy", "at": {"iowa": {"order": "fcfs"}}},
        {"order": {"rigid": "easy", "staged": "swag"}, "order.staged": "fcfs"},
    ],
)
def test_a_policy_is_given_once(policies):
    with pytest.raises(InputError, match=r"order(@iowa|\.staged): given twice"):
        make_scenario(
            {
                "world": "cluster",
                "sites": {"iowa": {"processors": 8}},
                "loads": {"batch": {"rigid": {"lublin": {"jobs": 50}}}},
                "policies": policies,
            }
        )


@pytest.mark.parametrize(
    "policies",
    [
        {"order": {"priority": "sjf"}},
        {"order.staged": "swag", "share@oslo": "pairs", "scale": ["reactive", "thrifty"]},
        {"order": {"staged": "swag"}, "at": {"oslo": {"share": "pairs"}}},
        {"order": ["easy", {"rigid": "fcfs", "estimates": "perfect"}]},
    ],
)
def test_a_saved_scenario_runs_again_with_its_policies(policies):
    tree = {
        "world": "cluster",
        "sites": {"iowa": {"processors": 8}, "oslo": {"processors": 8}},
        "loads": {
            "batch": {"rigid": {"lublin": {"jobs": 50, "load": 0.5}}},
            "etl": {"staged": {"drawn": {"jobs": 2}}},
        },
        "policies": policies,
    }
    scenario = make_scenario(tree)
    for text in (scenario.as_run, long_form(scenario).yaml()):
        again = make_scenario(yaml.safe_load(text))
        assert [each.setting for each in again.variants] == [each.setting for each in scenario.variants]
