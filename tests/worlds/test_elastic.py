"""The elastic world: jobs on instances."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from tests.oracles.instances import check
from windlass.cli.overrides import Overrides, overridden
from windlass.experiment.runner import run
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.workloads.seasons import Season, Shape, seasonal
from windlass.experiment.worlds.elastic.simulation import ElasticCase, run_elastic, scale_policy
from windlass.experiment.worlds.elastic.spec import ElasticSetting
from windlass.experiment.worlds.elastic.spot import instance_fleet
from windlass.experiment.worlds.elastic.world import Elastic
from windlass.io.traces import read_trace, to_workload
from windlass.model import InputError
from windlass.results import INSTANCES
from windlass.scale import POLICIES

ROOT = Path(__file__).parents[2]
TRACES = ROOT.parent / "shared" / "traces"
TYPES = [
    {"name": "gpu", "gpus": 4, "cores": 32, "memory": 256e9, "price": 12.0, "launch": 400, "most": 40},
    {"name": "small", "cores": 8, "memory": 32e9, "price": 0.4, "most": 100},
]
SHAPES = [
    {"cores": 2, "memory": 4e9, "weight": 5},
    {"gpus": 1, "cores": 4, "memory": 32e9},
    {"gpus": 8, "weight": 0.2},
]
DRAWN = {"days": 4, "per_hour": 25, "shapes": SHAPES}


def tree(**changes):
    found = {
        "world": "elastic",
        "cluster": {"types": TYPES},
        "workload": {"drawn": DRAWN},
        "policies": {"scale": ["static", "reactive", "consolidate", "clairvoyant"]},
    }
    return found | changes


def of(outcomes, metric):
    return [getattr(variant.outcomes[0].metrics, metric) for variant in outcomes.variants]


@pytest.mark.matrix(0)
def test_scaling_changes_costs_and_waits_but_not_the_jobs():
    done = run(make_scenario(tree()))
    static, reactive, consolidate, clairvoyant = of(done, "cost_usd")
    assert max(reactive, consolidate, clairvoyant) < static
    # The policy that knows the future is a bound.
    assert [variant.bound for variant in done.variants] == [False, False, False, True]
    waits = of(done, "mean_wait_s")
    assert waits[3] < min(waits[1], waits[2])
    tables = [variant.outcomes[0].jobs for variant in done.variants]
    for column in ("job", "submit_s", "gpus", "cores"):
        assert all(table[column].equals(tables[0][column]) for table in tables)
    assert (tables[1]["start_s"] >= tables[1]["submit_s"]).all()
    on_gpus = tables[1].filter(tables[1]["gpus"] > 0)["instance_type"].unique().to_list()
    assert on_gpus == ["gpu"]
    assert any("larger than any instance" in note for note in done.notes())


def test_instances_and_need_over_time_are_those_of_the_metrics():
    made = make_scenario(tree(policies={"scale": "reactive"}))
    (outcome,) = run(made).variants[0].outcomes
    running, waiting, paid = outcome.series
    assert {each.site for each in outcome.series} == {INSTANCES}
    hours = {each.load: float(each.value @ np.diff(each.time)) / 3600 for each in outcome.series}
    assert hours[""] == pytest.approx(outcome.metrics.instance_hours, rel=1e-9)
    table = outcome.jobs
    waits, runs = (table["start_s"] - table["submit_s"]).sum(), (table["end_s"] - table["start_s"]).sum()
    # Each job needs at most one instance, except for the few that are larger.
    assert 0 < hours["waiting jobs"] < 1.5 * waits / 3600
    assert 0 < hours["running jobs"] < min(1.5 * runs / 3600, hours[""])
    assert min(running.value.min(), waiting.value.min(), paid.value.min()) >= 0


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes():
    scenario = make_scenario(tree(seeds=[4]))
    tables = [run(scenario, jobs=jobs).variants[1].outcomes[0].jobs for jobs in (1, 2)]
    assert tables[0].equals(tables[1])


def test_instance_types_are_sorted_and_not_swept():
    scenario = make_scenario(tree())
    assert len(scenario.variants) == 4
    setting = ElasticSetting.model_validate(tree(policies={"scale": "static"}))
    assert [kind.name for kind in setting.cluster.kinds()] == ["small", "gpu"]


def test_an_earlier_part_is_history_and_its_instances_are_running():
    day = 86_400.0
    setting = ElasticSetting.model_validate(
        tree(workload={"drawn": DRAWN, "earlier": 2 * day}, policies={"scale": "reactive"})
    )
    world = Elastic()
    jobs = world.workload(setting, 1).jobs
    case = ElasticCase(jobs, instance_fleet(setting.cluster, jobs), 600.0, 2 * day)
    done = run_elastic(
        case, scale_policy("reactive", {}, case, np.random.default_rng(1)), np.random.default_rng(1)
    )
    begin = done.begin
    assert begin == jobs.submit[0] + 2 * day
    run_on = (jobs.submit < begin) & (jobs.submit + jobs.run > begin)
    assert run_on.any()
    carried = done.jobs.submit == begin
    # Jobs that were still running continue at once, for their remaining time.
    assert carried.sum() == run_on.sum()
    assert (done.start[carried] == begin).all()
    assert np.allclose(done.jobs.run[carried], (jobs.submit + jobs.run)[run_on] - begin)
    assert len(done.jobs) == (jobs.submit + jobs.run > begin).sum()
    check(done, launch_times_are_exact=False)

    seen = []

    class Recording:
        name = "looking"

        def decide(self, view):
            seen.append(len(view.history))
            return POLICIES.make("reactive", np.random.default_rng(1)).decide(view)

    run_elastic(case, Recording(), np.random.default_rng(1))
    assert seen[:2] == [289, 290]


@pytest.mark.matrix(0)
def test_spot_capacity_interrupts_instances(tmp_path):
    trace = tmp_path / "spot.json"
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 3600}, "data": [30, 30, 2, 30, 0, 30]}))
    spot = {"trace": str(trace), "type": "small", "notice": 120}
    scenario = make_scenario(tree(cluster={"types": TYPES, "spot": spot}, policies={"scale": "reactive"}))
    found = run(scenario).variants[0].outcomes[0].metrics
    assert found.failed > 0
    assert found.lost > 0
    drained = make_scenario(
        tree(cluster={"types": TYPES, "spot": spot | {"notice": None}}, policies={"scale": "reactive"})
    )
    assert run(drained).variants[0].outcomes[0].metrics.lost == 0


def test_real_spot_capacity_is_read():
    folder = TRACES / "spot"
    if not folder.is_dir():
        pytest.skip("shared/traces/spot is not here")
    from windlass.io.traces.spot import read_spot

    for path in sorted(folder.rglob("*.json")):
        trace = read_spot(path)
        assert trace.gap > 0
        assert trace.number.max() <= 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": {"types": []}}, "cluster.types"),
        ({"cluster": {"types": [{"name": "x"}]}}, "instance type x has no resources"),
        ({"workload": {}}, "expected one of 'trace', 'bins' and 'drawn'"),
        ({"workload": {"drawn": DRAWN, "cores_per_gpu": 2}}, "are for a trace or bins"),
        (
            {"workload": {"drawn": DRAWN, "where": "run > 5"}},
            "format, where, skip_bad_lines and columns are for a trace",
        ),
        ({"workload": {"drawn": DRAWN | {"daily": 1.5}}}, "daily"),
        ({"policies": {"scale": "reactiv"}}, "did you mean 'reactive'"),
        ({"policies": {"scale": {"reactive": {"unneeded": -3}}}}, "unneeded is -3"),
        ({"cluster": {"types": TYPES, "spot": {"trace": "no.json", "type": "small"}}}, "no.json"),
        ({"cluster": {"types": [TYPES[1]]}}, "no type has all of these"),
    ],
)
def test_a_wrong_field_is_named(changes, message):
    with pytest.raises(InputError, match=message):
        run(make_scenario(tree(policies={"scale": "static"}) | changes))


def test_the_example_needs_no_trace_file():
    scenario = load_scenario(ROOT / "examples" / "elastic.yaml")
    assert not scenario.variants[0].setting.workload.trace
    names = [variant.setting.policies.scale.name for variant in scenario.variants]
    assert {"static", "reactive", "consolidate", "clairvoyant"} <= set(names)


def test_arrivals_have_daily_and_weekly_seasons():
    jobs = seasonal(
        Season(days=70, per_hour=40, daily=0.6, weekend=0.5, batch=4), [Shape()], np.random.default_rng(1)
    )
    assert len(jobs) / (70 * 24) == pytest.approx(40, rel=0.06)
    day = (jobs.submit // 86_400).astype(int) % 7
    per_day = np.bincount(day, minlength=7)
    assert per_day[5:].mean() / per_day[:5].mean() == pytest.approx(0.5, abs=0.08)
    hour = np.bincount((jobs.submit % 86_400 // 3600).astype(int), minlength=24)
    assert hour[14:16].mean() / hour[2:4].mean() == pytest.approx(1.6 / 0.4, rel=0.25)
    assert len(np.unique(jobs.submit)) == pytest.approx(len(jobs) / 4, rel=0.05)


def test_logs_and_counts_are_relative_to_the_scenario(tmp_path):
    (tmp_path / "log.csv").write_text("arrival_s,gpus,duration_s\n0,1,900\n60,2,300\n90,6,120\n")
    counts = "time,submit_gpu_job,start_gpu_job,submit_gpu_num,end_gpu_num\n"
    rows = [f"2020-04-01 0{hour}:00:00,3,3,7,{7 * (hour > 0)}\n" for hour in range(6)]
    (tmp_path / "counts.csv").write_text(counts + "".join(rows))
    text = """
world: elastic
cluster: {types: [{name: gpu, gpus: 4, cores: 32, price: 1.0}]}
workload: {WHICH, cores_per_gpu: 8}
policies: {scale: reactive}
"""
    found = {}
    for which in ("trace: log.csv", "bins: counts.csv"):
        file = tmp_path / "scenario.yaml"
        file.write_text(text.replace("WHICH", which))
        found[which] = run(load_scenario(file)).variants[0].outcomes[0]
    log, made = found.values()
    assert log.jobs["gpus"].to_list() == [1.0, 2.0, 6.0]
    assert log.jobs["cores"].to_list() == [8.0, 16.0, 48.0]
    assert log.notes == ("1 jobs are larger than any instance: each runs on several whole instances at once",)
    assert made.metrics.jobs == 18
    assert made.jobs["gpus"].sum() == 42
    assert "jobs are generated from counts by time: the end of each job is random" in made.notes


@pytest.mark.parametrize(("name", "where"), [("log.swf", "user == 3"), ("sacct.txt", None)])
def test_logs_of_the_batch_world_are_read_as_there(name, where):
    given = {"trace": str(ROOT / "examples" / name), "where": where}
    setting = make_scenario(tree(workload=given)).variants[0].setting
    found = Elastic().workload(setting, 1)
    expected = to_workload(read_trace(ROOT / "examples" / name), where=where)
    assert 1 < len(found.jobs) == len(expected.jobs)
    assert found.jobs.resources[:, 1].tolist() == expected.jobs.procs.tolist()
    assert found.jobs.walltime.tolist() == expected.jobs.request.tolist()
    assert found.notes == expected.notes


@pytest.mark.parametrize(
    "text",
    [
        "Submit Time;Start;End;CPUs;Walltime\n0;5;905;4;01:00:00\n60;60;360;2;3600\n",
        "submit,start,end,procs,request\n2024-05-01 12:00:00,2024-05-01 12:00:05,2024-05-01 12:15:05,4,3600\n"
        "2024-05-01 12:01:00,2024-05-01 12:01:00,2024-05-01 12:06:00,2,3600\n",
        "submit\trun\tprocs\trequest\n0\t900\t4\t1:00:00\n60\t300\t2\t1:00:00\n",
        "submit,run_min,cpus,walltime\n0,15,4,PT1H\n60,5,2,PT1H\n",
    ],
    ids=["semicolons", "dates", "tabs", "units"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_tables_of_the_batch_world_are_read_as_there_in_any_form(text, packed, tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_bytes(lzma.compress(text.encode()) if packed else text.encode())
    found = Elastic().workload(make_scenario(tree(workload={"trace": str(file)})).variants[0].setting, 1).jobs
    assert found.submit.tolist() == [0.0, 60.0]
    assert found.run.tolist() == [900.0, 300.0]
    assert found.resources.tolist() == [[0.0, 4.0, 0.0], [0.0, 2.0, 0.0]]
    assert found.walltime.tolist() == [3600.0, 3600.0]


def test_a_table_with_a_condition_keeps_its_requests(tmp_path):
    (tmp_path / "log.csv").write_text("arrival_s,gpus,duration_s,team\n0,1,900,a\n60,2,300,b\n90,6,120,a\n")
    given = {
        "trace": str(tmp_path / "log.csv"),
        "where": "team = 'a'",
        "cores_per_gpu": 8,
        "memory_per_gpu": 1e9,
    }
    found = Elastic().workload(make_scenario(tree(workload=given)).variants[0].setting, 1)
    assert found.jobs.resources.tolist() == [[1.0, 8.0, 1e9], [6.0, 48.0, 6e9]]
    assert found.jobs.submit.tolist() == [0.0, 90.0]
    assert found.notes == ("2 of 3 jobs are used, those where team = 'a'",)
    for where, message in (
        ("team = 'c'", "no jobs where team = 'c'"),
        ("team >", "expected an SQL condition"),
    ):
        setting = make_scenario(tree(workload=given | {"where": where})).variants[0].setting
        with pytest.raises(InputError, match=message):
            Elastic().workload(setting, 1)


def test_polling_starts_jobs_before_the_next_decision():
    alike = {"period": 1800, "policies": {"scale": "reactive"}}
    looking, seldom = (
        of(run(make_scenario(tree(**alike, look=look))), "p95_wait_s")[0] for look in (10, 1800)
    )
    assert looking < seldom
    assert make_scenario(tree(**alike)).variants[0].setting.look == 10.0


def test_a_polling_interval_of_zero_is_rejected():
    with pytest.raises(InputError, match="look"):
        make_scenario(tree(look=0))


@pytest.mark.matrix(0)
def test_the_calendar_of_a_log_is_that_of_the_result(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text(
        "submit,start,end,procs\n2024-05-01 12:00:00,2024-05-01 12:00:05,2024-05-01 12:15:05,4\n"
        "2024-05-01 12:01:00,2024-05-01 12:01:00,2024-05-01 12:06:00,2\n"
    )
    made = run(make_scenario(tree(workload={"trace": str(file)}))).variants[0].outcomes[0]
    assert made.calendar.text(float(made.jobs["submit_s"][0])) == "Wed 2024-05-01 12:00:00"
    assert run(make_scenario(tree())).variants[0].outcomes[0].calendar is None


def test_columns_of_a_table_are_named_by_field_or_by_the_option(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("Queued at,Length,Width\n0,900,4\n60,300,2\n")
    columns = {"submit": "Queued at", "run": "Length", "procs": "Width"}
    given = {"trace": str(file), "columns": columns}
    found = Elastic().workload(make_scenario(tree(workload=given)).variants[0].setting, 1).jobs
    assert found.resources.tolist() == [[0.0, 4.0, 0.0], [0.0, 2.0, 0.0]]
    words = ("submit=Queued at", "run=Length,procs=Width")
    changed = overridden(
        tree(workload={"trace": str(file)}), Overrides(columns=words, where="procs_requested > 3")
    )
    assert len(Elastic().workload(make_scenario(changed).variants[0].setting, 1).jobs) == 1
    # A table of requests whose columns are named is read as one of the batch world.
    file.write_text("arrival_s,gpus,duration_s,Cores\n0,1,900,4\n")
    named = {"trace": str(file), "columns": {"submit": "arrival_s", "run": "duration_s", "procs": "Cores"}}
    found = Elastic().workload(make_scenario(tree(workload=named)).variants[0].setting, 1).jobs
    assert found.resources[0, 1] == 4.0
    drawn = {"drawn": {"days": 1, "per_hour": 5}, "columns": columns}
    with pytest.raises(InputError, match="columns are for a trace"):
        make_scenario(tree(workload=drawn))
