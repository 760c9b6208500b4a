"""The page When: waiting jobs by their predicted start, the score in words, and links from the page Now."""

from __future__ import annotations

import re

import pytest

from tests.control.test_web import app_of, ask
from windlass.control.journal import (
    EngineStatus,
    JobKey,
    JournalReader,
    JournalWriter,
    PredictionRecord,
    StartRecord,
    ViewRecord,
)
from windlass.control.journal.predictions import StartScore
from windlass.control.site_status import JobState, SiteStatus, status_text
from windlass.control.web.pages.when import score_sentences

NOW = 3600.0


def predicted(job: str, median: float, *, site: str = "iowa", scored: int = 40, first: bool = True):
    key = JobKey("demo", site, f"batch/{job}")
    low, high = NOW + median - 60.0, NOW + median + 120.0
    return PredictionRecord(
        NOW - 120.0, key, low, NOW + median, high, NOW + 9 * 3600.0, 0.9, scored, first=first
    )


@pytest.fixture
def journal(tmp_path):
    waits = tuple(JobState(f"batch/{job}", "batch job", 0.0, 4, "first in the queue") for job in "abc")
    state = status_text(SiteStatus((), waits, 0, 3))
    with JournalWriter(tmp_path / "journal.db") as writer, JournalReader(tmp_path / "journal.db") as reader:
        writer.append(
            EngineStatus("demo", "running", NOW),
            ViewRecord(NOW, "demo", "iowa", state),
            ViewRecord(NOW, "demo", "osaka", state),
        )
        writer.flush()
        yield writer, reader


def page(journal, target: str, *rows) -> str:
    writer, reader = journal
    writer.append(*rows)
    writer.flush()
    answer = ask(app_of(reader), target)
    assert answer.status == 200
    return answer.text


def test_jobs_are_sorted_by_their_median_with_interval_and_slurms_rule(journal):
    text = page(
        journal, "/when", predicted("a", 7200.0), predicted("b", 600.0), predicted("c", 1800.0, site="osaka")
    )
    assert re.findall(r">batch/(\w)<", text) == ["b", "c", "a"]
    assert ">10 min<" in text
    assert ">9 min to 12 min<" in text
    assert ">9 h 00 min<" in text
    assert "90 % interval" in text
    assert "not calibrated" not in text.lower()
    assert re.findall(r">batch/(\w)<", ask(app_of(journal[1]), "/when?site=osaka").text) == ["c"]


def test_an_interval_that_has_passed_is_marked_and_a_start_that_is_due_is_now(journal):
    text = page(journal, "/when", predicted("a", -600.0), predicted("b", -30.0))
    assert ">ended 8 min ago<" in text
    assert ">now to 1 min 30 s<" in text


def test_one_calibrated_interval_is_enough_for_the_header(journal):
    text = page(journal, "/when", predicted("a", 600.0, scored=30), predicted("b", 600.0, scored=2))
    assert "Not calibrated yet" not in text
    assert text.count(", not calibrated<") == 1


def test_an_interval_without_calibration_is_marked_with_what_is_missing(journal):
    text = page(journal, "/when", predicted("a", 600.0, scored=12))
    assert "Not calibrated yet: 12 of 30 scored." in text
    assert "9 min to 12 min, not calibrated" in text
    assert "No prediction was scored yet" in text


def test_the_score_is_of_the_chosen_site(journal):
    for_a = predicted("a", 600.0)
    text = page(
        journal,
        "/when?site=iowa",
        for_a,
        predicted("b", 60.0, site="osaka"),
        StartRecord(NOW + 700.0, for_a.job),
        StartRecord(NOW + 9000.0, JobKey("demo", "osaka", "batch/b")),
    )
    assert (
        "Of 1 prediction that was scored, 100 % contained the start; median width 3 min; mean error 1 min, against"
        " 8 h 48 min by Slurm" in text
    )
    assert (
        "Of 2 predictions that were scored, 50 % contained the start" in ask(app_of(journal[1]), "/when").text
    )


@pytest.mark.parametrize("scored", [0, 29, 30])
def test_calibration_is_reported_missing_until_enough_were_scored(scored):
    lines = list(
        score_sentences(
            StartScore(0, 0, 0, 0, 0), StartScore(0, 0, 0, 0, 0), [predicted("a", 1.0, scored=scored)]
        )
    )
    assert any("Not calibrated yet" in line for line in lines) == (scored < 30)


def test_the_page_of_a_job_has_its_predictions_and_its_start(journal):
    rows = predicted("a", 600.0), predicted("a", 300.0, first=False), predicted("b", 100.0)
    text = page(
        journal, "/when?engine=demo&site=iowa&job=batch/a", *rows, StartRecord(NOW + 400.0, rows[0].job)
    )
    assert text.count("day 1 01:06:40") == 2
    assert "batch/b" not in text
    assert "No prediction of this job" in ask(app_of(journal[1]), "/when?job=none").text


def test_a_waiting_job_on_now_leads_to_its_predictions(journal):
    assert "/when?" not in page(journal, "/")
    text = page(journal, "/", predicted("a", 600.0))
    assert text.count('<a href="/when?engine=demo&amp;site=iowa&amp;job=batch%2Fa">10 min</a>') == 1
    # The job of this name at the other site has no prediction.
    assert "site=osaka&amp;job=batch%2Fa" not in text


def test_rows_are_limited_with_a_link_to_more(journal):
    text = page(journal, "/when", *(predicted(str(number), 60.0 * number) for number in range(60)))
    assert "50 of 60 shown." in text
    assert len(re.findall(r">batch/\d+<", ask(app_of(journal[1]), "/when?rows=500").text)) == 60


def test_an_engine_without_predictions_has_a_sentence(journal):
    assert "No waiting job has a prediction." in page(journal, "/when")
