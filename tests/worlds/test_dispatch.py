"""Scenarios of the dispatch world."""

from pathlib import Path

import pytest

from windlass.experiment.runner import run
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.model import InputError

ROOT = Path(__file__).parents[2]
TRACES = ROOT.parent / "shared" / "traces"
GROUPS = [{"workers": 3, "speed": 1.0}, {"workers": 1, "speed": 5.0}]


def scenario(**changes):
    tree = {
        "world": "dispatch",
        "cluster": {"groups": GROUPS},
        "workload": {"tasks": 3000, "load": 0.7},
        "policies": {"dispatch": ["rosella", "sparrow", "jsq"]},
    }
    for key, value in changes.items():
        tree[key] = {**tree.get(key, {}), **value} if isinstance(value, dict) else value
    return make_scenario(tree)


def metrics(made):
    return {variant.name: variant.outcomes[0].metrics for variant in run(made).variants}


def test_policies_are_swept_and_worker_groups_are_not():
    assert [variant.name for variant in scenario().variants] == ["rosella", "sparrow", "jsq"]


def test_every_policy_runs_the_same_tasks():
    results = run(scenario())
    tables = [variant.outcomes[0].jobs for variant in results.variants]
    assert all(table["submit_s"].equals(tables[0]["submit_s"]) for table in tables)
    assert all((table["start_s"] >= table["submit_s"]).all() for table in tables)


@pytest.mark.parametrize(
    "changes",
    [
        {"cluster": {"shocks_every": 50}},
        {"cluster": {"failures": [{"worker": 0, "down": 20, "up": 90}, {"worker": 3, "down": 50}]}},
        {"workload": {"arrivals": "bursty", "service": "pareto"}},
        {"workload": {"tasks_per_job": 5, "service": "fixed"}},
        {"schedulers": 4, "probe_delay": 0.1},
        {"schedulers": 4, "probe_delay": 0.1, "count_sent": True},
    ],
)
def test_shocks_failures_and_arrivals_lose_no_tasks(changes):
    assert all(found.tasks == 3000 for found in metrics(scenario(**changes)).values())


def test_sizes_are_hidden_by_default():
    known, hidden = metrics(scenario(sizes="known")), metrics(scenario())
    assert hidden == metrics(scenario(sizes="hidden"))
    # Sparrow and the shortest queue do not use sizes; Rosella learns something else without them.
    assert known["rosella"].mean_response_s != hidden["rosella"].mean_response_s
    assert all(known[name].mean_response_s == hidden[name].mean_response_s for name in ("sparrow", "jsq"))


def test_pull_is_the_default_policy():
    bare = {"world": "dispatch", "cluster": {"groups": GROUPS}, "workload": {"tasks": 300, "load": 0.7}}
    named = {**bare, "policies": {"dispatch": "pull"}}
    assert metrics(make_scenario(bare)) == metrics(make_scenario(named))


def test_parameters_reach_the_policy():
    made = scenario(policies={"dispatch": [{"rosella": {"probe_share": [0.0, 0.5]}}]})
    found = metrics(made)
    assert found["rosella(probe_share=0.0)"].benchmark_tasks == 0
    assert found["rosella(probe_share=0.5)"].benchmark_tasks > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": {"groups": []}}, "cluster.groups"),
        ({"cluster": {"groups": [{"workers": 0, "speed": 1}]}}, "cluster.groups.0.workers"),
        ({"sizes": "guessed"}, "sizes"),
        ({"workload": {"load": 0}}, "workload.load"),
        ({"workload": {"tasks": 7, "tasks_per_job": 2}}, "multiple of tasks_per_job"),
        ({"policies": {"dispatch": "rosela"}}, "did you mean 'rosella'"),
        ({"policies": {"dispatch": [{"rosella": {"by": "luck"}}]}}, "by is 'luck'"),
    ],
)
def test_wrong_fields_are_named(changes, message):
    with pytest.raises(InputError, match=message):
        run(scenario(**changes))


@pytest.mark.skipif(not TRACES.exists(), reason="../shared/traces is absent")
def test_real_requests_and_real_drift():
    made = scenario(
        workload={"llm": str(TRACES / "llm" / "AzureLLMInferenceTrace_conv.csv"), "tasks": 5000},
        cluster={"drift": str(TRACES / "volatility" / "azure_eastus_B8ms.csv")},
    )
    found = metrics(made)
    assert found["rosella"].tasks == 5000
    (note,) = run(made).notes()
    assert note.startswith("times between requests of the log are multiplied by ")
    assert note.endswith(" to reach the load, so that the report has no dates")
    assert found["rosella"].mean_response_s < found["sparrow"].mean_response_s


def test_the_example_loads():
    assert len(load_scenario(ROOT / "examples" / "dispatch.yaml").variants) == 6
