"""A log's recorded waits compared with its replays: a row, a requirement, and the fidelity of a replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from windlass.experiment.checkpoint import begin, resume
from windlass.experiment.recorded import RecordedSchedules
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.report.fidelity import fidelity_sentence
from windlass.results import RECORDED
from windlass.results.metrics.site import batch_metrics
from windlass.results.verdict import fidelity, judge, parse_requirements


def jobs(count: int = 120) -> pl.DataFrame:
    """Jobs on 4 processors, each with a recorded wait."""
    rng = np.random.default_rng(7)
    submit = np.cumsum(rng.integers(1, 40, count)).astype(float)
    return pl.DataFrame(
        {
            "submit": submit,
            "wait": rng.integers(0, 500, count).astype(float),
            "run": rng.integers(1, 90, count).astype(float),
            "procs": rng.integers(1, 5, count),
            "user": [f"user{number % 3}" for number in range(count)],
        }
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    jobs().write_csv(path)
    return path


def scenario(log: Path, order: object = ("fcfs", "easy"), **more: object):
    workload = {"trace": str(log)} | dict(more.pop("workload", {}))
    policies = {"order": list(order) if isinstance(order, tuple) else order}
    return make_scenario({"workload": workload, "policies": policies} | more)


def test_the_recorded_row_has_the_waits_of_the_log(log):
    found = run(scenario(log)).variants[-1]
    table = jobs()
    submit, start = table["submit"].to_numpy(), (table["submit"] + table["wait"]).to_numpy()
    end, procs = start + table["run"].to_numpy(), table["procs"].to_numpy()
    (outcome,) = found.outcomes
    assert (found.name, found.own, found.choices) == (RECORDED, True, ())
    assert outcome.metrics.mean_wait_s == table["wait"].mean()
    assert outcome.metrics.p99_wait_s == pytest.approx(np.percentile(table["wait"].to_numpy(), 99))
    # A table names no site, so its jobs had the processors that they held at once.
    held = [procs[(start <= at) & (at < end)].sum() for at in start]
    assert outcome.processors == max(held)
    whole = batch_metrics(submit, start, end, procs, max(held), np.arange(120) % 3)
    assert outcome.metrics.users_jain == pytest.approx(whole.users_jain)
    assert outcome.metrics.utilisation == pytest.approx(whole.utilisation)


def test_each_point_has_a_recorded_row_with_the_jobs_of_the_point(log):
    found = run(scenario(log, cluster={"processors": [4, 8]}, load=["x1", "x2"], seeds=[1, 2]))
    rows = [each for each in found.variants if each.own_name == RECORDED]
    assert [row.point for row in rows] == [f"processors={p}, load={x}" for p in (4, 8) for x in ("x1", "x2")]
    for row in rows:
        replayed = next(each for each in found.variants if each.point == row.point)
        assert [outcome.seed for outcome in row.outcomes] == [1, 2]
        for one, other in zip(row.outcomes, replayed.outcomes, strict=True):
            assert one.jobs["submit_s"].equals(other.jobs["submit_s"])
            assert one.metrics.mean_wait_s == pytest.approx(jobs()["wait"].mean())


@pytest.mark.parametrize("missing", ["null", "all", "drawn"])
def test_without_all_waits_there_is_no_recorded_row(tmp_path, missing):
    path = tmp_path / "log.csv"
    table = jobs()
    if missing == "null":
        table = table.with_columns(
            pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise("wait").alias("wait")
        )
    else:
        table = table.drop("wait")
    table.write_csv(path)
    made = scenario(path)
    if missing == "drawn":
        made = make_scenario({"workload": {"lublin": {"jobs": 9}}, "policies": {"order": "easy"}})
    assert not RecordedSchedules(made).known()
    assert not any(each.own_name == RECORDED for each in run(made).variants)


def test_a_resumed_run_has_the_recorded_row(log, tmp_path):
    made = scenario(log)
    kept = begin(tmp_path / "cells", made.as_run)
    first = run(made, checkpoint=kept)
    again = run(made, checkpoint=resume(tmp_path / "cells", made.as_run))
    assert again.variants[-1].name == RECORDED
    assert again.metrics().equals(first.metrics())
    assert again.jobs().equals(first.jobs())


def test_the_recorded_row_is_compared_but_cannot_win(log):
    point = judge(run(scenario(log))).points[0]
    assert point.names == ("fcfs", "easy", RECORDED)
    assert point.comparison.best != 2
    assert point.comparison.is_judged(2)
    alone = judge(run(scenario(log, "easy"))).points[0]
    assert (alone.compared, alone.winner) == (1, None)


def test_a_requirement_can_refer_to_the_recorded_row(log):
    results = run(scenario(log, cluster={"processors": 4}))
    wait = jobs()["wait"].mean()
    for factor in (0.001, 1000.0):
        required = parse_requirements(f"mean_wait<={factor}*recorded", ["fcfs", "easy", RECORDED])
        point = judge(results, None, required).points[0]
        assert [each.bound for each in point.broken] == pytest.approx(
            [factor * wait] * (2 if factor < 1 else 0)
        )
        assert (point.comparison.best is None) == (factor < 1)


def swf(path: Path, waits: list[float]) -> Path:
    lines = [
        f"{row + 1} {60 * row} {wait:g} 100 2 -1 -1 2 200 -1 1 {row % 3} 1 -1 1 1 -1 -1"
        for row, wait in enumerate(waits)
    ]
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return path


def test_a_replay_of_the_recorded_policy_reproduces_the_log(tmp_path):
    """A log recorded under first come, first served is replayed without error by the same policy."""
    first = run(scenario(swf(tmp_path / "none.swf", [0.0] * 50), "fcfs"))
    table = first.variants[0].outcomes[0].jobs
    waits = (table["start_s"] - table["submit_s"]).to_list()
    log = swf(tmp_path / "log.swf", waits)
    results = run(scenario(log, ("sjf", "fcfs"), workload={"ran": "fcfs"}))
    found = fidelity(results)
    assert (found.name, found.policy_known, found.half, found.most) == ("fcfs", True, 0.0, 0.0)
    assert found.mean == found.logged == pytest.approx(np.mean(waits))
    assert fidelity_sentence(found).startswith(
        "Fidelity: under fcfs, the recorded system's policy, the replay has "
    )


def test_fidelity_measures_the_error_of_the_waits(tmp_path):
    log = swf(tmp_path / "log.swf", [100.0] * 40)
    results = run(scenario(log, ("fcfs", "easy")))
    found = fidelity(results)
    replayed = results.variants[0].outcomes[0].jobs
    off = np.abs((replayed["start_s"] - replayed["submit_s"]).to_numpy() - 100.0)
    assert (found.name, found.policy_known, found.logged) == ("fcfs", False, 100.0)
    assert [found.half, found.most] == pytest.approx(np.percentile(off, [50, 90]).tolist())
    assert "policy is unknown (set workload.ran); under fcfs, the closest variant, " in fidelity_sentence(
        found
    )


def test_fidelity_needs_the_recorded_site_and_arrivals(tmp_path):
    log = swf(tmp_path / "log.swf", [100.0] * 40)
    assert fidelity(run(scenario(log, cluster={"processors": 8}))) is None
    assert fidelity(run(scenario(log, load="x2"))) is None
    assert fidelity(run(scenario(log, workload={"ran": "sjf"}))) is None
    assert fidelity(run(scenario(log, cluster={"processors": [8, 4]}))).name == "fcfs"
    # Without the jobs that are too wide for a smaller site, the recorded site has less load.
    assert fidelity(run(scenario(log, workload={"widest": 2}))) is None
    assert fidelity_sentence(None) == ""


def test_the_given_site_is_the_recorded_one_if_the_log_names_none(log, tmp_path):
    assert run(scenario(log, cluster={"processors": 4})).variants[-1].own
    named = swf(tmp_path / "log.swf", [100.0] * 40)
    assert not run(scenario(named, cluster={"processors": 5})).variants[-1].own
    assert run(scenario(named)).variants[-1].own
