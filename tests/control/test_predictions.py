"""Predictions in the journal: read back, scored as by a naive loop, voided, bounded, and added to older journals."""

from __future__ import annotations

import sqlite3
import statistics

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.control.journals import decision, prediction
from tests.control.test_journal import instructions
from windlass.control.journal import (
    JobKey,
    JournalReader,
    JournalWriter,
    PredictionRecord,
    PredictionsVoided,
    Retention,
    StartRecord,
)
from windlass.control.journal.export import export_journal
from windlass.control.journal.schema import VERSION
from windlass.model import InputError


@pytest.fixture
def file(tmp_path):
    return tmp_path / "journal.db"


class Jobs:
    """What the journal must contain, kept in plain lists."""

    def __init__(self) -> None:
        self.rows: list[list] = []

    def add(self, row) -> None:
        match row:
            case PredictionRecord():
                self.rows.append([row, None, True])
            case StartRecord():
                for each in self.rows:
                    if each[2] and each[0].job == row.job:
                        each[1:] = [row.time, False]
            case PredictionsVoided():
                for each in self.rows:
                    if each[0].job.engine == row.engine:
                        each[2] = False

    def waiting(self, engine, site):
        latest = {}
        for row, _, is_open in self.rows:
            if is_open and row.job.engine == engine and site in (None, row.job.site):
                latest[row.job] = row
        return sorted(latest.values(), key=lambda row: row.median)

    def score(self, engine, site, least):
        found = [
            (row, start)
            for row, start, _ in self.rows
            if row.first and start is not None and row.job.engine == engine and site in (None, row.job.site)
        ]
        found = [(row, start) for row, start in found if row.scored >= least]
        if not found:
            return 0, 0, 0.0, 0.0, 0.0
        inside = 0
        for row, start in found:
            if row.low <= start <= row.high:
                inside += 1
        errors = [abs(row.median - start) for row, start in found]
        planned = [abs(row.planned - start) for row, start in found]
        widths = [row.high - row.low for row, _ in found]
        count = len(found)
        return count, inside, statistics.median(widths), sum(errors) / count, sum(planned) / count


KEYS = st.builds(
    JobKey,
    engine=st.sampled_from(["demo", "other"]),
    site=st.sampled_from(["iowa", "osaka"]),
    id=st.sampled_from(["a", "b"]),
)
TIMES = st.integers(0, 50).map(float)
PREDICTIONS = st.builds(
    PredictionRecord,
    time=TIMES,
    job=KEYS,
    low=TIMES,
    median=st.floats(0, 50, allow_nan=False).filter(lambda value: value not in (0.0,)),
    high=TIMES,
    planned=TIMES,
    level=st.just(0.9),
    scored=st.integers(0, 60),
    first=st.booleans(),
)
ROWS = st.one_of(
    PREDICTIONS,
    PREDICTIONS,
    st.builds(StartRecord, time=TIMES, job=KEYS),
    st.builds(PredictionsVoided, time=TIMES, engine=st.sampled_from(["demo", "other"])),
)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(ROWS, st.booleans()), max_size=30))
def test_predictions_are_read_back_and_scored_as_by_a_naive_loop(tmp_path_factory, rows):
    file, expected = tmp_path_factory.mktemp("journal") / "journal.db", Jobs()
    with JournalWriter(file) as journal:
        for row, flush in rows:
            expected.add(row)
            journal.append(row)
            if flush:
                journal.flush()
    with JournalReader(file) as journal:
        for engine in ("demo", "other"):
            for site in (None, "iowa", "osaka"):
                found = journal.predictions.waiting(engine, site)
                assert [row.median for row in found] == [row.median for row in expected.waiting(engine, site)]
                assert set(found) == set(expected.waiting(engine, site))
                for least in (0, 30):
                    score = journal.predictions.score(engine, site, least=least)
                    assert (
                        score.scored,
                        score.contained,
                        score.median_width,
                        pytest.approx(score.mean_error),
                        pytest.approx(score.planned_error),
                    ) == expected.score(engine, site, least)
        own = [row for row, _, _ in expected.rows if row.job == JobKey("demo", "iowa", "a")]
        assert [row.median for row in journal.predictions.of_job("demo", "a", "iowa")] == [
            row.median for row in reversed(own)
        ]


def test_a_start_closes_all_predictions_of_its_job_and_of_no_other(file):
    with JournalWriter(file) as journal:
        journal.append(*map(prediction, (1, 51, 2)), prediction(1, "osaka"))
        journal.append(StartRecord(600.0, JobKey("demo", "iowa", "batch/1")))
    with JournalReader(file) as journal:
        assert {(row.job.site, row.job.id) for row in journal.predictions.waiting("demo")} == {
            ("iowa", "batch/2"),
            ("osaka", "batch/1"),
        }
        assert [row.started for row in journal.predictions.of_job("demo", "batch/1", "iowa")] == [
            600.0,
            600.0,
        ]
        assert journal.predictions.score("demo").scored == 1


@pytest.mark.parametrize("name", ["low", "median", "high", "planned", "time"])
def test_a_prediction_that_is_not_finite_is_refused(file, name):
    values = {"low": 1.0, "median": 2.0, "high": 3.0, "planned": 4.0, "time": 0.0} | {name: float("inf")}
    with JournalWriter(file) as journal, pytest.raises(InputError, match="inf"):
        journal.append(PredictionRecord(job=JobKey("demo"), level=0.9, scored=0, first=True, **values))


def test_a_journal_keeps_at_most_its_rows_of_predictions(file):
    retention = Retention(rows=100)
    with JournalWriter(file, retention=retention) as journal:
        for number in range(2_000):
            journal.append(prediction(number))
            if number % 100 == 0:
                journal.flush()
    with JournalReader(file) as journal:
        count = dict(journal.counts())["predictions"]
        assert 100 <= count <= 100 + retention.every + 1000
        assert journal.predictions.of_job("demo", "batch/49")[0] == prediction(1_999)


@pytest.mark.matrix(0)
def test_queries_take_the_same_steps_in_a_journal_ten_times_as_long(tmp_path):
    """The started jobs of the past are not read, apart from the latest 1,000 of the score."""

    def steps(rows: int) -> list[int]:
        file = tmp_path / f"{rows}.db"
        with JournalWriter(file) as journal:
            for number in range(rows):
                job = JobKey("demo", "iowa", f"batch/{number}")
                row = PredictionRecord(1.0, job, 1.0, 2.0, 3.0, 4.0, 0.9, number, first=True)
                journal.append(row, *([StartRecord(2.0, job)] if number >= 50 else []))
        with JournalReader(file) as journal:
            queries = journal.predictions
            return [
                instructions(journal, lambda: queries.waiting("demo")),
                instructions(journal, lambda: queries.of_job("demo", "batch/7")),
                instructions(journal, lambda: queries.score("demo")),
            ]

    few, many = steps(2_000), steps(20_000)
    assert all(b <= 1.5 * a + 200 for a, b in zip(few, many, strict=True)), (few, many)


def test_an_export_has_the_predictions_and_the_starts(file, tmp_path):
    with JournalWriter(file) as journal:
        journal.append(prediction(3), StartRecord(77.0, prediction(3).job), prediction(4))
    assert export_journal(file, tmp_path / "out.parquet", "predictions") == 2
    rows = pl.read_parquet(tmp_path / "out.parquet").drop("recorded").to_dicts()
    first = prediction(3)
    assert rows[0] == {
        "id": 1,
        "time": first.time,
        "engine": "demo",
        "site": "iowa",
        "job": first.job.id,
        "low": first.low,
        "median": first.median,
        "high": first.high,
        "planned": first.planned,
        "level": 0.9,
        "started": 77.0,
        "scored": 3,
        "first": 1,
    }
    assert rows[1]["started"] is None


# Journals of version 1, which had no predictions, and of version 2, which had no actions.


@pytest.fixture(params=[1, 2])
def older(file, request):
    """Return a journal of an older version with a decision."""
    with JournalWriter(file) as journal:
        journal.append(decision(1))
    with sqlite3.connect(file) as other:
        other.execute("drop table actions")
        for column in ("decisions", "events"):
            other.execute(f"alter table scopes drop column {column}")
        if request.param == 1:
            other.execute("drop table predictions")
        other.execute(f"pragma user_version = {request.param}")
    other.close()
    return file


def tables(file):
    with sqlite3.connect(file) as other:
        found = other.execute("select type, name, sql from sqlite_master order by name").fetchall()
        version = other.execute("pragma user_version").fetchone()[0]
    other.close()
    return found, version


def test_a_writer_upgrades_an_older_journal_in_place(older, tmp_path):
    JournalWriter(tmp_path / "new.db").close()
    with JournalWriter(older) as journal:
        journal.append(prediction(1))
    assert tables(older) == tables(tmp_path / "new.db")
    assert tables(older)[1] == VERSION == 3
    with JournalReader(older) as journal:
        assert journal.decisions().rows == (decision(1),)
        assert journal.predictions.waiting("demo") == (prediction(1),)


def test_a_reader_reads_an_older_journal_without_changing_it(older, tmp_path):
    before = older.read_bytes()
    with JournalReader(older) as journal:
        assert journal.decisions().rows == (decision(1),)
        assert journal.predictions.waiting("demo") == ()
        assert journal.predictions.score("demo").scored == 0
        assert not journal.actions.paused("demo")
        assert [dict(journal.counts())[name] for name in ("predictions", "actions")] == [0, 0]
    for name in ("predictions", "actions"):
        assert export_journal(older, tmp_path / "out.parquet", name) == 0
    assert older.read_bytes() == before
