"""`/metrics`, read by Prometheus's own parser and compared with the journal."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.control.journals import decision, event
from tests.control.test_web import EVIL, app_of, ask
from windlass.agent.token import Token
from windlass.control.journal import (
    ActRecord,
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    PredictionRecord,
    Retention,
    StartRecord,
    ViewRecord,
)
from windlass.control.site_status import SiteStatus, status_text
from windlass.control.web.access import PageAccess


def samples_of(path, wall: float = 1000.0, access: PageAccess | None = None, **headers: str):
    """Return the samples of a journal by name and labels."""
    with JournalReader(path) as reader:
        answer = ask(app_of(reader, access), "/metrics", **headers)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_the_metrics_of_an_empty_journal_are_zero_rows(tmp_path):
    JournalWriter(tmp_path / "journal.db").close()
    found = samples_of(tmp_path / "journal.db")
    assert set(found) == {
        ("windlass_journal_rows_written_total", ("table", table))
        for table in ("decisions", "events", "acts", "actions", "views", "predictions")
    }
    assert set(found.values()) == {0.0}


@pytest.fixture
def filled(tmp_path):
    """A journal of two engines; one waits at iowa, and has predictions and acts."""
    path = tmp_path / "journal.db"
    state = SiteStatus((), (), running_count=3, waiting_count=7, cores=16, idle=4)
    with JournalWriter(path, clock=lambda: 900.0) as journal:
        journal.append(*(decision(number) for number in range(30)), *(event(number) for number in range(9)))
        for number in range(4):
            key = JobKey("demo", "iowa", f"batch/{number}")
            journal.append(
                PredictionRecord(0.0, key, 10.0, 20.0, 30.0, 50.0, 0.9, 0, first=True),
                StartRecord(20.0 if number else 90.0, key),
            )
        journal.append(
            EventRecord(5.0, JobKey("demo", "iowa"), "error", "broken"),
            ViewRecord(50.0, "demo", "iowa", status_text(state)),
            EngineStatus("demo", "running", 50.0, "simulated"),
            EngineStatus("other", "failed", 7.0, "", "gone"),
        )
        journal.intend(ActRecord("a", 1.0, JobKey("demo", "iowa", "batch/1"), "release"))
        journal.intend(ActRecord("b", 1.0, JobKey("demo", "iowa", "batch/2"), "release"))
        journal.conclude("b", 2.0, "released")
    return path


def test_the_metrics_are_those_of_the_journal(filled):
    found = samples_of(filled)
    engine, iowa = ("engine", "demo"), ("site", "iowa")
    assert found["windlass_engine_state", engine, ("state", "running")] == 1
    assert found["windlass_engine_state", ("engine", "other"), ("state", "failed")] == 1
    assert found["windlass_engine_lag_seconds", engine] == 100
    assert found["windlass_engine_clock_seconds", engine] == 50
    assert found["windlass_jobs", engine, iowa, ("state", "waiting")] == 7
    assert found["windlass_jobs", engine, iowa, ("state", "running")] == 3
    assert found["windlass_cores", engine, iowa, ("state", "held")] == 12
    assert found["windlass_cores", engine, iowa, ("state", "idle")] == 4
    assert found["windlass_errors", engine, iowa] == 1
    assert found["windlass_open_acts", engine] == 1
    assert found["windlass_open_acts", ("engine", "other")] == 0
    assert found["windlass_predictions_scored", engine, iowa] == 4
    assert found["windlass_prediction_coverage_ratio", engine, iowa] == 0.75
    assert found["windlass_prediction_width_seconds", engine, iowa] == 20
    assert found["windlass_prediction_error_seconds", engine, iowa] == 70 / 4
    decisions = {key[1:]: value for key, value in found.items() if key[0] == "windlass_decisions"}
    assert sum(decisions.values()) == 30
    expected = sum(decision(number).job.site == "iowa" for number in range(30))
    assert sum(value for labels, value in decisions.items() if iowa in labels) == expected
    assert found["windlass_journal_rows_written_total", ("table", "decisions")] == 30


def test_written_rows_are_counted_after_old_ones_are_deleted(tmp_path):
    path = tmp_path / "journal.db"
    with JournalWriter(path, retention=Retention(rows=100)) as journal:
        for first in range(0, 3000, 500):
            journal.append(*(decision(number) for number in range(first, first + 500)))
    found = samples_of(path)
    assert found["windlass_journal_rows_written_total", ("table", "decisions")] == 3000


def test_labels_with_quotes_and_line_breaks_are_read_back(tmp_path):
    name = f'{EVIL} "\\ \n'
    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.append(
            DecisionRecord(1.0, JobKey(name, name), name, "p", "a", "r"), EngineStatus(name, "running", 1.0)
        )
    found = samples_of(tmp_path / "journal.db")
    assert found["windlass_decisions", ("decision", name), ("engine", name), ("site", name)] == 1


def test_the_metrics_need_the_token(filled):
    secret = "0123456789abcdef"
    access = PageAccess(Token(secret))
    assert samples_of(filled, access=access, authorization=f"Bearer {secret}")
    with JournalReader(filled) as reader:
        assert ask(app_of(reader, access), "/metrics").status == 401
        assert ask(app_of(reader), "/metrics", host="evil.example").status == 421
        assert ask(app_of(reader), "/metrics", "HEAD").body == b""
