"""The journal: what is read is what was written, in pages, within its limits, and with one-line errors."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.control.journals import DECISIONS, SITES, decision, event, fill, prediction, ticking
from tests.disks import filled, small_disk
from windlass.control.journal import (
    ActionRecord,
    ActOutcome,
    ActRecord,
    DecisionRecord,
    EngineStatus,
    JobKey,
    JournalReader,
    JournalWriter,
    Retention,
    RowFilter,
    ViewRecord,
)
from windlass.control.journal.export import TABLES, export_journal
from windlass.control.journal.schema import VERSION
from windlass.model import InputError

JOB = JobKey("demo", "iowa", "batch/1")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "journal.db"


def all_pages(query, limit):
    """Return the rows of all pages, the latest first."""
    rows, before = [], None
    while True:
        page = query(before, limit)
        rows += page.rows
        if page.older is None:
            return rows
        assert len(page.rows) == limit
        before = page.older


TEXT = st.text(alphabet=st.characters(codec=None), max_size=12)
KEYS = st.builds(JobKey, engine=TEXT, site=TEXT, id=TEXT)
RECORDS = st.builds(
    DecisionRecord,
    time=st.floats(allow_nan=False, allow_infinity=False),
    job=KEYS,
    decision=TEXT,
    policy=TEXT,
    answer=TEXT,
    reason=TEXT,
)


def stored(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@settings(max_examples=40, deadline=None)
@given(records=st.lists(RECORDS, max_size=20), limit=st.integers(1, 7))
def test_any_rows_are_read_back_in_reverse_order(tmp_path_factory, records, limit):
    file = tmp_path_factory.mktemp("journal") / "a journal?.db"
    with JournalWriter(file) as journal:
        journal.append(*records)
    with JournalReader(file) as journal:
        found = all_pages(lambda before, limit: journal.decisions(before=before, limit=limit), limit)
    assert [each.reason for each in reversed(found)] == [stored(each.reason) for each in records]
    assert [each.time for each in reversed(found)] == [each.time for each in records]
    assert [each.job.id for each in reversed(found)] == [stored(each.job.id) for each in records]


@pytest.mark.matrix
@pytest.mark.parametrize("engine", [None, "demo", "other"])
@pytest.mark.parametrize("site", [None, *SITES])
@pytest.mark.parametrize("decided", [None, *DECISIONS])
@pytest.mark.parametrize("job", [None, "batch/7", "batch/70"])
def test_a_filter_selects_the_rows_that_have_its_values(engine, site, decided, job, filtered):
    journal, records = filtered
    where = RowFilter(engine=engine, site=site, topic=decided, job=job)
    found = all_pages(lambda before, limit: journal.decisions(where, before=before, limit=limit), 30)
    expected = [
        each
        for each in records
        if engine in (None, each.job.engine)
        and site in (None, each.job.site)
        and decided in (None, each.decision)
        and job in (None, each.job.id)
    ]
    assert found == expected[::-1]


@pytest.fixture(scope="module")
def filtered(tmp_path_factory):
    file = tmp_path_factory.mktemp("journal") / "journal.db"
    records = [decision(number, ("demo", "other")[number % 11 == 0]) for number in range(600)]
    with JournalWriter(file) as journal:
        journal.append(*records)
    with JournalReader(file) as journal:
        yield journal, records


def test_a_page_takes_the_same_steps_in_a_journal_ten_times_as_long(tmp_path):
    """SQLite counts the instructions of a query, so no clock is needed: each query uses an index."""

    def steps(rows: int) -> list[int]:
        file = tmp_path / f"{rows}.db"
        fill(file, rows)
        found = []
        with JournalReader(file) as journal:
            for where in (
                RowFilter(),
                RowFilter(engine="demo"),
                RowFilter(site="iowa"),
                RowFilter(topic="share"),
                RowFilter(topic="share", site="iowa"),
                RowFilter(engine="demo", topic="share"),
                RowFilter(engine="demo", site="osaka"),
                RowFilter(job="none of these"),
                RowFilter(engine="none of these"),
            ):
                found.append(instructions(journal, lambda where=where: journal.decisions(where, before=1500)))
            found.append(instructions(journal, lambda: journal.events(RowFilter(topic="ended"))))
            found.append(instructions(journal, lambda: journal.decision_scopes()))
            found.append(instructions(journal, journal.change))
            found.append(instructions(journal, journal.counts))
        return found

    few, many = steps(2_000), steps(20_000)
    assert all(b <= 1.5 * a + 200 for a, b in zip(few, many, strict=True)), (few, many)


def instructions(journal: JournalReader, query) -> int:
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    journal._file.set_progress_handler(tick, 10)
    query()
    journal._file.set_progress_handler(None, 0)
    return 10 * count


def test_the_latest_view_is_the_present_one_and_earlier_ones_are_sampled(file):
    with JournalWriter(file, view_every=10.0) as journal:
        for time in range(25):
            # Within one transaction the last view of a site wins; each is written in its own here.
            journal.append(ViewRecord(float(time), "demo", "iowa", json.dumps({"time": time})))
            journal.flush()
    with JournalReader(file) as journal:
        assert [(view.time, json.loads(view.content)) for view in journal.views()] == [(24.0, {"time": 24})]
        assert dict(journal.counts())["views"] == 3
        assert journal.view_before("demo", "iowa", 19.5).time == 10.0
        assert journal.view_before("demo", "iowa", -1.0) is None


def test_an_equal_view_is_not_stored_again(file):
    with JournalWriter(file, view_every=0.0) as journal:
        for time in range(5):
            journal.append(ViewRecord(float(time), "demo", "iowa", "{}"))
            journal.flush()
    with JournalReader(file) as journal:
        assert (dict(journal.counts())["views"], journal.views()[0].time) == (1, 4.0)


def test_an_act_has_one_intent_and_stays_open_until_its_outcome(file):
    act = ActRecord("release 1", 5.0, JOB, "release")
    with JournalWriter(file) as journal:
        assert journal.intend(act)
        assert not journal.intend(ActRecord("release 1", 6.0, JOB, "hold"))
        assert not journal.conclude("release 2", 6.0, "done")
    with JournalWriter(file) as journal:
        with JournalReader(file) as reader:
            assert reader.open_acts() == (act,)
        assert not journal.intend(act)
        assert journal.conclude("release 1", 7.0, "released")
    with JournalReader(file) as reader:
        assert reader.open_acts() == ()
        assert [each.outcome for each in reader.acts().rows] == ["released"]


def test_the_condition_of_an_engine_is_the_latest_one(file):
    with JournalWriter(file, clock=lambda: 50.0) as journal:
        journal.append(EngineStatus("demo", "running", 1.0), EngineStatus("slurm", "running", 1.0))
        journal.append(EngineStatus("demo", "failed", 2.0, "a day", "policy 'x' raised"))
    with JournalReader(file) as reader:
        found = reader.engines()
    assert [(each.status.engine, each.status.state, each.recorded) for each in found] == [
        ("demo", "failed", 50.0),
        ("slurm", "running", 50.0),
    ]


@pytest.mark.parametrize("limit", [1, 10, 333])
def test_a_journal_keeps_at_most_its_rows(file, limit):
    retention = Retention(rows=limit)
    fill(file, 3_000, retention)
    with JournalReader(file) as journal:
        for table, count in journal.counts():
            if table in ("decisions", "events"):
                assert limit <= count <= limit + retention.every + 1000
        assert journal.decisions().rows[0] == decision(2_999)


def test_rows_older_than_the_age_are_deleted_and_open_acts_stay(file):
    now = 0.0
    with JournalWriter(file, retention=Retention(rows=20, age=100.0), clock=lambda: now) as journal:
        journal.intend(ActRecord("open", 0.0, JOB, "release"))
        journal.intend(ActRecord("over", 0.0, JOB, "release"))
        journal.conclude("over", 0.0, "released")
        journal.append(decision(1))
        journal.flush()
        now = 101.0
        for number in range(2, 6):
            journal.append(decision(number))
            journal.flush()
    with JournalReader(file) as reader:
        assert [each.key for each in reader.acts().rows] == ["open"]
        assert [row.time for row in reader.decisions().rows] == [5.0, 4.0, 3.0, 2.0]


def test_an_old_open_act_does_not_keep_later_acts(file):
    """More acts than one statement deletes lie between the open act and those that are kept."""
    count, retention = 12_000, Retention(rows=500)
    with JournalWriter(file, retention=retention) as journal:
        journal.intend(ActRecord("open", 0.0, JOB, "release"))
        for begin in range(0, count, 2_000):
            acts = [ActRecord(str(begin + each), 1.0, JOB, "release") for each in range(2_000)]
            journal.intend_all(acts)
            journal.conclude_all([ActOutcome(each.key, 1.0, "released") for each in acts])
        for number in range(2 * retention.every):
            journal.append(decision(number))
        journal.flush()
    with contextlib.closing(sqlite3.connect(file)) as database:
        keys = [key for (key,) in database.execute("select key from acts order by id")]
    assert keys == ["open", *map(str, range(count - 500, count))]


def test_rows_of_many_threads_keep_the_order_of_each(file):
    with JournalWriter(file) as journal:

        def write(engine: str) -> None:
            for number in range(200):
                journal.append(decision(number, engine))

        threads = [threading.Thread(target=write, args=(str(each),)) for each in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    with JournalReader(file) as reader:
        for each in range(4):
            where = RowFilter(engine=str(each))
            rows = all_pages(
                lambda before, limit, where=where: reader.decisions(where, before=before, limit=limit), 500
            )
            assert [row.time for row in rows] == [float(number) for number in reversed(range(200))]


def test_scopes_are_those_of_decisions_and_not_of_events(filtered, file):
    journal, records = filtered
    expected = {(each.job.engine, each.job.site, each.decision) for each in records}
    assert journal.decision_scopes() == tuple(sorted(expected))
    with JournalWriter(file) as writer:
        writer.append(event(1))
    with JournalReader(file) as reader:
        assert reader.decision_scopes() == ()


def test_an_unexpected_error_of_the_writing_thread_reaches_its_callers(file, monkeypatch):
    from windlass.control.journal import batch

    def fail(*_: object) -> None:
        raise RuntimeError("unexpected")

    journal = JournalWriter(file)
    monkeypatch.setattr(batch.BatchWriter, "write", fail)
    for call in (journal.flush, journal.flush, journal.close):
        with pytest.raises(InputError, match="unexpected"):
            call()
    assert journal.failed


def test_a_closed_journal_accepts_nothing(file):
    journal = JournalWriter(file)
    journal.close()
    journal.close()
    for call in (journal.flush, lambda: journal.append(decision(1))):
        with pytest.raises(InputError, match="closed"):
            call()


def test_a_reader_sees_each_flushed_row_while_the_writer_is_open(file):
    with JournalWriter(file) as journal:
        journal.flush()
        with JournalReader(file) as reader:
            for number in range(5):
                before = reader.change()
                journal.append(decision(number), event(number))
                journal.flush()
                assert reader.decisions(limit=1).rows == (decision(number),)
                assert reader.change() != before


# Errors: one line, with the file.


def one_line(error: pytest.ExceptionInfo[InputError], *parts: str) -> None:
    text = str(error.value)
    assert "\n" not in text
    assert all(part in text for part in parts), text


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to have a header" * 20, b"PAR1"]
)
def test_another_file_is_not_a_journal(file, content):
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        JournalWriter(file)
    one_line(error, str(file), "not a journal of Windlass")
    with pytest.raises(InputError) as error:
        JournalReader(file)
    one_line(error, str(file), "not a journal of Windlass")
    assert file.read_bytes() == content


def test_another_database_is_not_a_journal(file):
    with sqlite3.connect(file) as other:
        other.execute("create table mine (a)")
    other.close()
    for opening in (JournalWriter, JournalReader):
        with pytest.raises(InputError) as error:
            opening(file)
        one_line(error, str(file), "not a journal of Windlass")


def test_a_newer_version_is_refused(file):
    JournalWriter(file).close()
    with sqlite3.connect(file) as other:
        other.execute(f"pragma user_version = {VERSION + 1}")
    other.close()
    for opening in (JournalWriter, JournalReader):
        with pytest.raises(InputError) as error:
            opening(file)
        one_line(error, f"version {VERSION + 1} of the journal", "newer Windlass")


def test_a_second_writer_is_refused_until_the_first_is_closed(file):
    with JournalWriter(file):
        with pytest.raises(InputError) as error:
            JournalWriter(file)
        one_line(error, "another process writes this journal")
    JournalWriter(file).close()


def test_missing_places_are_errors_of_one_line(tmp_path):
    with pytest.raises(InputError) as error:
        JournalWriter(tmp_path / "none" / "journal.db")
    one_line(error, "journal.db")
    with pytest.raises(InputError) as error:
        JournalReader(tmp_path / "journal.db")
    one_line(error, "no such file")
    with pytest.raises(InputError):
        JournalReader(tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error_of_one_line(tmp_path, monkeypatch):
    import os

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError) as error:
        JournalWriter(tmp_path / "journal.db")
    one_line(error, "journal.db", "Permission denied")


def write_until_refused(journal: JournalWriter) -> None:
    for number in range(10, 100_000):
        journal.append(decision(number))
        journal.flush()


def test_a_full_disk_rejects_further_rows_and_keeps_the_acknowledged_ones(tmp_path):
    with small_disk(tmp_path / "disk", 2 << 20) as disk:
        journal = JournalWriter(disk / "journal.db")
        journal.append(*map(decision, range(10)))
        journal.flush()
        with filled(disk):
            with pytest.raises(InputError) as error:
                write_until_refused(journal)
            one_line(error, "journal.db", "cannot be written", "full")
            with pytest.raises(InputError):
                journal.intend(ActRecord("release", 0.0, JOB, "release"))
            with pytest.raises(InputError):
                journal.close()
        with JournalReader(disk / "journal.db") as reader:
            found = reader.decisions(limit=500).rows
        assert found[-10:] == tuple(decision(number) for number in reversed(range(10)))


@pytest.mark.parametrize("time", [float("nan"), float("inf")])
def test_a_time_that_is_not_finite_is_refused_and_the_journal_goes_on(file, time):
    with JournalWriter(file) as journal:
        with pytest.raises(InputError):
            journal.append(EngineStatus("demo", "running", time))
        with pytest.raises(InputError):
            journal.conclude("a", time, "")
        journal.append(decision(1))
    with JournalReader(file) as reader:
        assert reader.decisions().rows == (decision(1),)


@pytest.mark.parametrize("limit", [0, 501, -1])
def test_a_page_has_a_limited_size(file, limit):
    JournalWriter(file).close()
    with JournalReader(file) as reader, pytest.raises(InputError):
        reader.decisions(limit=limit)


@pytest.mark.parametrize("rows", [7, 40, 10_000])
def test_the_counts_of_scopes_are_those_of_the_rows_that_are_left(file, rows):
    fill(file, 3_000, Retention(rows=rows))
    with JournalReader(file) as reader:
        found = {(each.engine, each.site, each.topic): each.count for each in reader.totals.decisions()}
        scopes = reader._scopes()
        left = Counter(scopes[row[0]] for row in reader._rows("select scope from decisions"))
        errors = reader.totals.errors()
        assert found == left
        assert set(reader.decision_scopes()) == set(left)
        assert (errors, sum(found.values()) >= min(rows, 3_000)) == ((), True)


# Export.


def test_an_exported_table_has_all_rows_in_order(file, tmp_path):
    with JournalWriter(file, view_every=0.0) as journal:
        journal.append(
            *map(decision, range(30)),
            *map(event, range(20)),
            *map(prediction, range(7)),
            ViewRecord(1.0, "demo", "iowa", '{"ä": 1}'),
        )
        journal.intend(ActRecord("release", 0.0, JOB, "release"))
        journal.intend_action(ActionRecord("k", 0.0, JOB, "hold", "ann", "why", undoes=3))
    counts = {table: export_journal(file, tmp_path / f"{table}.parquet", table) for table in TABLES}
    assert counts == {"decisions": 30, "events": 20, "acts": 1, "actions": 1, "views": 1, "predictions": 7}
    table = pl.read_parquet(tmp_path / "decisions.parquet")
    assert table["reason"].to_list() == [decision(number).reason for number in range(30)]
    assert table.schema["time"] == pl.Float64
    (action,) = pl.read_parquet(tmp_path / "actions.parquet").to_dicts()
    assert (action["by"], action["reason"], action["undoes"], action["outcome"]) == ("ann", "why", 3, None)
    assert pl.read_parquet(tmp_path / "views.parquet")["content"].to_list() == ['{"ä": 1}']


def test_the_export_of_an_empty_journal_has_the_columns(file, tmp_path):
    JournalWriter(file, clock=ticking()).close()
    for table in TABLES:
        assert export_journal(file, tmp_path / "out.parquet", table) == 0
    with pytest.raises(InputError):
        export_journal(file, file)
