"""Times on the pages are those of the site's zone, also around a change of the clocks."""

from __future__ import annotations

import time

import pytest

from tests.control.test_web import app_of, ask
from windlass.control.journal import DecisionRecord, JobKey, JournalReader, JournalWriter
from windlass.control.words import clock_text, zone_text


@pytest.fixture
def berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_times_are_of_the_sites_zone(berlin):
    # Half an hour before and after the clocks go back.
    assert zone_text(1_792_888_200.0 - 1800) == "2026-10-25 02:00:00 CEST"
    assert zone_text(1_792_888_200.0 + 1800) == "2026-10-25 02:00:00 CET"
    assert clock_text(1.8e9) == "2027-01-15 09:00:00"
    assert zone_text(5.0) == "day 1 00:00:05"


def test_a_table_names_its_zones_and_an_export_has_none(berlin, tmp_path):
    key = JobKey("slurm", "site", "7")
    with JournalWriter(tmp_path / "journal.db") as journal:
        for at in (1_780_000_000.0, 1_800_000_000.0):
            journal.append(DecisionRecord(at, key, "order", "easy", "start", "head"))
    with JournalReader(tmp_path / "journal.db") as reader:
        text = ask(app_of(reader), "/decisions").text
        assert "Times are in CEST and CET." in text
        assert "2027-01-15 09:00:00" in text
        ((first, *_), _) = next(iter(reader.table("decisions")))
        assert first == 1
