"""Predictions of the demonstration: they use no later time, are scored by the run itself, and cannot stop it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

import windlass.control.demo.predictor as predictor
from windlass.agent.stop import Stop
from windlass.control.demo.engine import DemoEngine
from windlass.control.journal import JobKey, JournalReader, JournalWriter, PredictionRecord, RowFilter
from windlass.control.predicted_starts import replay_policy
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.policy import PolicySpec

#: Later jobs differ after this time, s, as do the run times of jobs that run then.
SPLIT = 12_000.0


def log(path, later: int) -> None:
    """Write 240 jobs; those after the split depend on ``later``."""
    rng = np.random.default_rng(5)
    submit = np.sort(rng.uniform(0, 24_000, 240)).round()
    submit[0] = 0.0
    run, procs = rng.uniform(100, 700, 240).round(), rng.integers(1, 17, 240)
    again = np.random.default_rng(later)
    late = submit > SPLIT
    submit[late] = np.sort(again.uniform(SPLIT + 1, 24_000, late.sum())).round()
    procs[late] = again.integers(1, 17, late.sum())
    run[late] = again.uniform(100, 700, late.sum()).round()
    table = pl.DataFrame({"submit": submit, "run": run, "procs": procs, "request": run * 2})
    table.write_csv(path)


def scenario(path, order: object = "easy", **more):
    return make_scenario(
        {
            "name": "small",
            "world": "cluster",
            "seconds": 24_000,
            "sites": {"iowa": {"nodes": [{"count": 4, "cores": 8}]} | more},
            "loads": {"batch": {"rigid": {"trace": str(path)}}},
            "policies": {"order": order},
            "seeds": [3],
        }
    )


def run(file, made) -> list[PredictionRecord]:
    """Run a scenario, and return its predictions, first ones and later ones, in order."""
    engine = DemoEngine(made, speed=math.inf)
    engine.prepare()
    with JournalWriter(file) as journal:
        engine.run(journal, Stop())
    with JournalReader(file) as journal:
        rows = [row for chunk in journal.table("predictions") for row in chunk]
    return [
        PredictionRecord(
            time, JobKey(engine, site, job), low, median, high, planned, level, scored, bool(first), started
        )
        for _, _, time, engine, site, job, low, median, high, planned, level, started, scored, first in rows
    ]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return the journal, the predictions, and the table of the same run without an observer."""
    folder = tmp_path_factory.mktemp("demo")
    log(folder / "log.csv", 1)
    made = scenario(folder / "log.csv")
    rows = run(folder / "journal.db", made)
    setting = made.variants[0].setting
    outcome = made.world.run(setting, 3, made.world.workload(setting, 3), lambda share: None)
    return folder, rows, outcome.jobs


@pytest.mark.slow
def test_each_job_that_waits_long_enough_is_predicted_while_it_waits(ran):
    _, rows, jobs = ran
    times = {f"batch/{row['job']}": row for row in jobs.to_dicts()}
    assert all(times[row.job.id]["submit_s"] <= row.time < times[row.job.id]["start_s"] for row in rows)
    # A round takes place within two minutes after any other, and reads the queue once a minute.
    long = {
        job
        for job, row in times.items()
        if row["submit_s"] < 23_000 and row["start_s"] - row["submit_s"] > predictor.EVERY + 60.0
    }
    assert long <= {row.job.id for row in rows}
    assert len(long) > 50


@pytest.mark.matrix(0)
def test_a_job_is_predicted_again_after_ten_minutes_and_its_first_prediction_is_marked(ran):
    _, rows, _ = ran
    by_job: dict[str, list[PredictionRecord]] = {}
    for row in rows:
        by_job.setdefault(row.job.id, []).append(row)
    assert max(map(len, by_job.values())) > 3
    for own in by_job.values():
        assert [row.first for row in own] == [True] + [False] * (len(own) - 1)
        times = [row.time for row in own]
        assert all(predictor.AGAIN <= b - a <= predictor.AGAIN + 180.0 for a, b in itertools.pairwise(times))


@pytest.mark.matrix(0)
def test_predictions_have_the_starts_of_the_run(ran):
    folder, rows, jobs = ran
    starts = {f"batch/{row['job']}": row["start_s"] for row in jobs.to_dicts()}
    # After the last observation, jobs still wait.
    last = max(row.time for row in rows)
    for row in rows:
        if starts[row.job.id] <= last:
            assert row.started == starts[row.job.id]
    with JournalReader(folder / "journal.db") as journal:
        assert {row.job.id for row in journal.predictions.waiting("demo")} == {
            row.job.id for row in rows if row.started is None
        }
        score = journal.predictions.score("demo")
        assert score.scored == sum(row.first and row.started is not None for row in rows)
        assert journal.events(RowFilter(topic="error")).rows == ()


@pytest.mark.matrix(0)
def test_predictions_are_in_order_and_name_the_predictions_scored_before(ran):
    _, rows, _ = ran
    assert all(row.time <= row.low <= row.median <= row.high for row in rows)
    assert all(row.planned >= row.time for row in rows)
    for row in rows:
        known = sum(each.first and each.started is not None and each.started <= row.time for each in rows)
        assert row.scored <= known
    assert max(row.scored for row in rows) > 60


@pytest.mark.matrix(0)
def test_calibrated_intervals_contain_most_starts(ran):
    """Requests are twice the run times, which the replays learn: the intervals miss few starts, and are not wide."""
    folder, _, _ = ran
    with JournalReader(folder / "journal.db") as journal:
        score = journal.predictions.score("demo", least=30)
    assert score.contained >= 0.8 * score.scored > 25
    assert score.mean_error < 0.7 * score.planned_error


@pytest.mark.slow
def test_no_prediction_uses_a_later_time(ran, tmp_path):
    """Jobs that arrive later, and when running jobs will end, change no prediction."""
    _, rows, _ = ran
    log(tmp_path / "log.csv", 2)
    others = run(tmp_path / "journal.db", scenario(tmp_path / "log.csv"))

    def before(found):
        return [
            (row.time, row.job, row.low, row.median, row.high, row.planned)
            for row in found
            if row.time <= SPLIT
        ]

    assert before(rows) == before(others)
    assert len(before(rows)) > 50
    assert [row.job for row in rows] != [row.job for row in others]


@pytest.mark.slow
def test_a_running_job_has_no_known_end(ran, tmp_path):
    """The table of the simulation has the run time of each job: changing it changes no prediction until it ends."""
    folder, rows, jobs = ran
    table = pl.read_csv(folder / "log.csv")
    # The job that is running at the split and ends last.
    there = jobs.filter((pl.col("start_s") < SPLIT) & (pl.col("end_s") > SPLIT)).sort("end_s")
    row, end = int(there["job"][-1]) - 1, float(there["end_s"][-1])
    longer = table["run"].to_numpy().copy()
    longer[row] = table["request"][row] - 1.0
    table.with_columns(run=pl.Series(longer)).write_csv(tmp_path / "log.csv")
    others = run(tmp_path / "journal.db", scenario(tmp_path / "log.csv"))
    until = [each for each in rows if each.time < end]
    assert [(each.time, each.job, each.low, each.median, each.high) for each in until] == [
        (each.time, each.job, each.low, each.median, each.high) for each in others if each.time < end
    ]
    assert any(SPLIT < each.time < end for each in rows)


@pytest.mark.matrix(0)
def test_a_prediction_that_fails_is_an_error_of_the_journal_and_the_engine_goes_on(
    ran, tmp_path, monkeypatch
):
    folder, _, jobs = ran

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no replay")

    monkeypatch.setattr(predictor, "StartPredictor", fail)
    assert run(tmp_path / "journal.db", scenario(folder / "log.csv")) == []
    with JournalReader(tmp_path / "journal.db") as journal:
        errors = journal.events(RowFilter(topic="error")).rows
        # Once, and not at each of some hundred rounds.
        assert [row.text for row in errors] == ["starts of batch are not predicted: RuntimeError: no replay"]
        assert errors[0].job == JobKey("demo", "iowa")
        starts = journal.events(RowFilter(topic="started"), limit=500).rows
    assert {row.time for row in starts} <= set(jobs["start_s"].to_list())
    assert len(starts) > 150


@pytest.mark.slow
def test_an_outage_of_most_cores_does_not_end_predictions(tmp_path, monkeypatch):
    monkeypatch.setattr(predictor, "EVERY", 600.0)
    log(tmp_path / "log.csv", 1)
    made = scenario(tmp_path / "log.csv", outages={"every": 3000, "last": 1500})
    rows = run(tmp_path / "journal.db", made)
    with JournalReader(tmp_path / "journal.db") as journal:
        assert journal.events(RowFilter(topic="error")).rows == ()
        killed = journal.events(RowFilter(topic="killed"), limit=500).rows
    assert len(killed) > 10
    # A killed job waits again and is predicted again, but only its first prediction is scored.
    first = [row.job for row in rows if row.first]
    assert len(first) == len(set(first)) > 50


@pytest.mark.matrix(0)
def test_a_second_run_voids_open_predictions_of_the_first(ran, tmp_path, monkeypatch):
    folder, _, _ = ran
    monkeypatch.setattr(predictor, "EVERY", 1800.0)
    # The first run has jobs in its queue at its end which the second one, under another policy, has not.
    first = run(tmp_path / "journal.db", scenario(folder / "log.csv", "fcfs"))
    rows = run(tmp_path / "journal.db", scenario(folder / "log.csv"))[len(first) :]
    with JournalReader(tmp_path / "journal.db") as journal:
        waiting = {row.job for row in journal.predictions.waiting("demo")}
    assert waiting == {row.job for row in rows if row.started is None}
    assert {row.job for row in first if row.started is None} - waiting


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"name": "conservative"}, "conservative"),
        ({"name": "queue", "parameters": {"priority": "sjf"}}, "queue"),
        ({"name": "queue", "parameters": {"priority": "./mine.py"}}, "easy"),
        ({"name": "mine.py:Mine"}, "easy"),
    ],
)
def test_a_policy_from_a_file_is_not_run_by_replays(given, expected):
    assert replay_policy(PolicySpec(**given)).name == expected
