"""The colocated world: jobs and tasks on the nodes of one site."""

from pathlib import Path

import numpy as np
import pytest

from tests.report.page import page_of
from windlass.experiment.runner import run
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.worlds.batch.world import Batch
from windlass.experiment.worlds.colocated.simulation import Colocation, jobs_alone, tasks_alone, together
from windlass.experiment.worlds.colocated.world import Colocated
from windlass.experiment.worlds.dispatch.world import Dispatch
from windlass.experiment.worlds.outages import Outage, outage_times
from windlass.experiment.worlds.stands_for import cluster_of
from windlass.model import InputError
from windlass.order.site.policies.easy import Easy
from windlass.sim import replay

ROOT = Path(__file__).parents[2]
TRACES = ROOT.parent / "shared" / "traces"
#: Half of the outages kill, so that some of both kinds happen within a run of a day or so.
LAW = {"every": 50_000, "last": 4_000, "kill": 0.5}
FILE = """
class Mine:
    name = "mine"
    def decide(self, view):
        from windlass.order.site.view import Start
        chosen, left = [], view.free
        for job, procs in zip(view.waiting.job, view.waiting.procs):
            if procs > left:
                break
            chosen.append(int(job))
            left -= int(procs)
        return Start(chosen, "mine")
"""


def merged(tree, changes):
    for key, value in changes.items():
        tree[key] = merged(dict(tree.get(key, {})), value) if isinstance(value, dict) else value
    return tree


def scenario(**changes):
    tree = {
        "world": "colocated",
        "cluster": {"nodes": 12, "cores": 4, "outages": LAW},
        "workload": {
            "batch": {"lublin": {"jobs": 120, "load": 0.6}},
            "tasks": {"tasks": 4000, "load": 0.004},
        },
        "policies": {"order": "easy", "dispatch": "rosella"},
    }
    return make_scenario(merged(tree, changes))


def outcome(made):
    (variant,) = run(made).variants
    return variant.outcomes[0]


def case_of(seed=1, **changes):
    """Draw the case of a scenario with one variant."""
    setting, world = scenario(**changes).variants[0].setting, Colocated()
    return Colocation(cluster_of(world, setting), seed, world.workload(setting, seed))


def test_policies_are_swept_and_a_list_of_outages_is_not():
    outages = [{"node": 0, "down": 5}, {"node": 1, "down": 5, "up": 9, "left": 1}]
    policies = {"order": ["easy", "fcfs"], "dispatch": ["rosella", "pot"]}
    made = scenario(cluster={"outages": outages}, policies=policies)
    assert [variant.name for variant in made.variants] == [
        "easy, rosella", "easy, pot", "fcfs, rosella", "fcfs, pot"
    ]  # fmt: skip
    assert made.variants[0].setting.cluster.outages[1] == Outage(node=1, down=5, up=9, left=1)


def test_an_outage_law_is_swept():
    made = scenario(cluster={"outages": {"every": [50_000, 90_000]}})
    assert [variant.name for variant in made.variants] == [
        "easy, rosella, every=50000", "easy, rosella, every=90000"
    ]  # fmt: skip


def test_jobs_and_tasks_are_measured_in_one_table():
    found = outcome(scenario())
    table, metrics = found.jobs, found.metrics
    assert dict(table["kind"].value_counts().iter_rows()) == {"job": 120, "task": 4000}
    jobs, tasks = (table.filter(table["kind"] == kind) for kind in ("job", "task"))
    assert (jobs["procs"].null_count(), jobs["node"].null_count()) == (0, 120)
    assert (tasks["procs"].null_count(), tasks["node"].null_count()) == (4000, 0)
    assert metrics.mean_job_wait_s == pytest.approx((jobs["start_s"] - jobs["submit_s"]).mean())
    assert metrics.mean_task_response_s == pytest.approx((tasks["end_s"] - tasks["submit_s"]).mean())
    assert metrics.lost_attempts > 0
    assert metrics.lost_core_s > 0
    assert metrics.mean_task_stretch > 1


@pytest.mark.parametrize("order", ["easy", "fcfs", "sjf", "conservative"])
@pytest.mark.parametrize("dispatch", ["rosella", "sparrow", "jsq"])
def test_tasks_do_not_delay_jobs(order, dispatch):
    assert outcome(scenario(policies={"order": order, "dispatch": dispatch})).metrics.added_job_wait_s == 0.0


def test_jobs_run_as_they_do_without_tasks():
    case = case_of()
    alone, both = jobs_alone(case), together(case)
    for name in ("start", "end", "why", "lost", "lost_start", "lost_end"):
        assert np.array_equal(getattr(alone, name), getattr(both.jobs, name)), name


def test_jobs_alone_without_outages_equal_the_batch_world():
    case = case_of(cluster={"outages": []})
    jobs = case.arrivals.rigid[0].drawn.jobs.jobs
    whole = replay(jobs, 48, Easy())
    assert np.array_equal(jobs_alone(case).end, whole.end)
    batch = Batch()
    tree = {
        "cluster": {"processors": 48},
        "workload": {"lublin": {"jobs": 120, "load": 0.6}},
        "policies": {"order": "easy"},
    }
    setting = batch.setting.model_validate(tree)
    assert np.array_equal(batch.workload(setting, case.seed).jobs.submit, jobs.submit)


@pytest.mark.parametrize("dispatch", ["rosella", "sparrow", "jsq", "ppot"])
@pytest.mark.parametrize("rest", [{"sizes": "known"}, {}, {"schedulers": 3, "probe_delay": 0.5}])
def test_tasks_alone_without_outages_equal_the_dispatch_world(dispatch, rest):
    # With a floor of 1, policies see the speeds of whole nodes, as in the dispatch world.
    tasks = {"tasks": 4000, "load": 0.7, "tasks_per_job": 2, "service": "pareto"}
    case = case_of(
        cluster={"outages": [], "floor": 1.0, "speed": 2.0},
        workload={"tasks": tasks},
        policies={"dispatch": dispatch},
        **rest,
    )
    world = Dispatch()
    groups = [{"workers": 12, "speed": 2.0}]
    setting = world.setting.model_validate(
        {"cluster": {"groups": groups}, "workload": tasks, "policies": {"dispatch": dispatch}, **rest}
    )
    whole = world.run(setting, case.seed, world.workload(setting, case.seed), lambda share: None)
    assert np.array_equal(tasks_alone(case).end, whole.jobs["end_s"].to_numpy())


def test_with_a_floor_of_one_jobs_do_not_slow_tasks():
    metrics = outcome(scenario(cluster={"floor": 1.0})).metrics
    assert (metrics.mean_task_stretch, metrics.p99_task_stretch) == (1.0, 1.0)


def test_a_drain_loses_no_work_but_a_kill_does():
    drained = outcome(scenario(cluster={"outages": {**LAW, "kill": 0}})).metrics
    killed = outcome(scenario(cluster={"outages": {**LAW, "kill": 1}})).metrics
    assert (drained.lost_attempts, drained.lost_core_s) == (0, 0.0)
    assert killed.lost_attempts > 0


def test_a_listed_outage_kills_the_running_jobs():
    # Every node fails at one instant at which some job runs.
    case = case_of(cluster={"outages": []})
    middle = float((jobs_alone(case).start[60] + jobs_alone(case).end[60]) / 2)
    outages = [{"node": node, "down": middle, "up": middle + 60, "kill": True} for node in range(12)]
    found = together(case_of(cluster={"outages": outages}))
    assert 60 in found.jobs.lost
    assert set(found.jobs.lost_end) == {middle}
    assert found.tasks.response.max() < np.inf


def test_a_python_policy_is_called_at_the_same_instants_as_a_compiled_one(tmp_path):
    (tmp_path / "mine.py").write_text(FILE)
    mine = outcome(scenario(policies={"order": str(tmp_path / "mine.py")}))
    compiled = outcome(scenario(policies={"order": "fcfs"}))
    assert mine.metrics == compiled.metrics
    assert mine.jobs.drop("why").equals(compiled.jobs.drop("why"))


def test_the_task_table_is_sampled_with_a_note():
    whole, some = outcome(scenario()), outcome(scenario(keep_tasks=1500))
    tasks = some.jobs.filter(some.jobs["kind"] == "task")
    assert len(tasks) == 1334
    assert tasks.equals(whole.jobs.filter(whole.jobs["kind"] == "task").gather_every(3))
    assert some.metrics == whole.metrics
    assert some.notes[-1].startswith("one in 3 of the 4,000 tasks is in the table")


def test_a_note_reports_jobs_and_tasks_of_different_spans():
    notes = outcome(scenario(workload={"tasks": {"load": 0.5}})).notes
    assert any("jobs arrive for" in note for note in notes)


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    made = scenario(policies={"order": ["easy", "sjf"]}, seeds=[1, 2])
    for jobs in (1, 2):
        run(made, jobs=jobs).save(tmp_path / str(jobs))
    for name in ("jobs.parquet", "metrics.parquet", "scenario.yaml"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name
    again = run(load_scenario(tmp_path / "1" / "scenario.yaml"))
    assert again.metrics().equals(run(made).metrics())


@pytest.mark.matrix(0)
def test_the_report_has_jobs_and_tasks(tmp_path):
    page = page_of(run(scenario(policies={"order": ["easy", "fcfs"]})), tmp_path)
    both = {"wait", "slowdown", "wait-task", "response-task", "utilisation", "waiting", "requested"}
    assert page.ids() >= both
    assert "2 variants · 120 jobs · 4,000 tasks · 48 processors" in page.text()
    assert "How long tasks wait" in page.text()
    assert "p99 task stretch" in page.text()


@pytest.mark.skipif(not TRACES.exists(), reason="../shared/traces is absent")
def test_real_jobs_and_real_requests():
    log, requests = (
        TRACES / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz",
        TRACES / "llm" / "AzureLLMInferenceTrace_conv.csv",
    )
    made = scenario(
        cluster={"nodes": 25},
        workload={"tasks": {"llm": str(requests), "tasks": 5000}},
        schedulers=2,
        probe_delay=0.5,
    ).variants[0].setting.model_dump(mode="json", exclude_none=True)  # fmt: skip
    batch = {"trace": str(log), "where": "job < 100"}
    found = outcome(make_scenario(made | {"workload": made["workload"] | {"batch": batch}}))
    assert (found.metrics.jobs, found.metrics.tasks) == (85, 5000)
    assert found.metrics.added_job_wait_s == 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": {"nodes": 1}}, "cluster.nodes"),
        ({"cluster": {"cores": 0}}, "cluster.cores"),
        ({"cluster": {"speed": 0}}, "cluster.speed"),
        ({"cluster": {"floor": 0}}, "cluster.floor"),
        ({"cluster": {"floor": 1.5}}, "cluster.floor"),
        ({"cluster": {"outages": {"every": 0}}}, "cluster.outages.every"),
        ({"cluster": {"outages": {"kill": 2}}}, "cluster.outages.kill"),
        ({"cluster": {"outages": {"often": 2}}}, "cluster.outages.often: no such field"),
        ({"cluster": {"outages": [{"node": 1}]}}, "cluster.outages.0.down: missing"),
        ({"cluster": {"outages": [{"node": -1, "down": 1}]}}, "cluster.outages.0.node"),
        ({"cluster": {"outages": 3}}, "cluster.outages"),
        ({"cluster": {"outages": [{"node": 12, "down": 1}]}}, "outages.0.node is 12, expected 0 to 11"),
        ({"cluster": {"outages": [{"node": 1, "down": 1, "left": 4}]}}, "outages.0.left is 4"),
        ({"cluster": {"outages": [{"node": 1, "down": 5, "up": 5}]}}, "outages.0.up is 5"),
        (
            {"cluster": {"outages": [{"node": 1, "down": 5}, {"node": 1, "down": 3, "up": 9}]}},
            "outages.0.down is 5, expected a time from the end of outages.1 on",
        ),
        ({"workload": {"batch": {"lublin": {"jobs": 0}}}}, "workload.batch.lublin.jobs"),
        ({"workload": {"batch": {"trace": "log.swf"}}}, "workload.batch: expected either"),
        ({"workload": {"tasks": {"load": 0}}}, "workload.tasks.load"),
        ({"policies": {"dispatch": "rosela"}}, "did you mean 'rosella'"),
        ({"policies": {"order": "eezy"}}, "unknown policy 'eezy'"),
        ({"keep_tasks": 0}, "keep_tasks"),
        ({"sizes": "guessed"}, "sizes"),
    ],
)
def test_wrong_fields_are_a_one_line_error(changes, message):
    with pytest.raises(InputError, match=message) as caught:
        run(scenario(**changes))
    assert len(str(caught.value).splitlines()) == 1


def test_too_many_outages_are_rejected():
    with pytest.raises(InputError, match=r"outages: every is 0\.001"):
        run(scenario(cluster={"outages": {"every": 1e-3, "last": 1e-3}}))


def test_a_job_that_never_fits_is_rejected():
    outages = [{"node": node, "down": 1e9} for node in range(12)]
    with pytest.raises(
        InputError, match=r"cluster\.outages: outages without an end leave 0 cores, but job [0-9]+ needs"
    ):
        run(scenario(cluster={"outages": outages}))


def test_the_example_is_valid():
    assert [variant.name for variant in load_scenario(ROOT / "examples" / "colocated.yaml").variants][:2] == [
        "easy, rosella", "easy, pot"
    ]  # fmt: skip


def test_a_node_that_returns_and_fails_at_one_instant_is_down_in_any_order():
    message = [{"node": 0, "down": 9, "up": 12}, {"node": 0, "down": 5, "up": 9}]
    tables = [
        outage_times([Outage(**each) for each in law], [(2, 4)], 1.0, np.random.default_rng(1))
        for law in (message, message[::-1])
    ]
    for table in tables:
        assert (table.time.tolist(), table.cores.tolist()) == ([5.0, 9.0, 9.0, 12.0], [0, 4, 0, 4])


@pytest.mark.parametrize("given", ["ledger", "site", "number"])
def test_parameters_that_the_world_sets_are_rejected_in_a_scenario(given):
    tree = {
        "world": "colocated",
        "cluster": {"nodes": 2, "cores": 4},
        "workload": {"batch": {"lublin": {"jobs": 5}}, "tasks": {"tasks": 10}},
        "policies": {"order": "fcfs", "dispatch": "jsq"},
        "parts": [{"backup.py:Backup": {given: 1}}],
    }
    with pytest.raises(InputError, match=f"part 0: {given} is set by the world"):
        make_scenario(tree)
