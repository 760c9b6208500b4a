"""Dates of spreadsheets: with the day or the month first, dots or slashes, and hours of a half day."""

from datetime import datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.io.traces import read_trace
from windlass.io.traces.regional_dates import UNCLEAR
from windlass.io.traces.time_cells import read_times
from windlass.model import InputError

#: Formats with the day first, and with the month first.
FORMS = (
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%d-%m-%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%m-%d-%Y %H:%M:%S",
)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)).map(lambda each: each.replace(microsecond=0))


def line(row):
    return row + 2


@given(st.lists(st.none() | TIMES, max_size=20), st.sampled_from(FORMS))
def test_regional_dates_are_those_of_the_year_first(times, form):
    # The first date shows which number is the day.
    times = [datetime(2026, 1, 31, 13, 5), *times]
    texts = [None if each is None else each.strftime(form) for each in times]
    plain = [None if each is None else each.strftime("%Y-%m-%d %H:%M:%S") for each in times]
    found = read_times(pl.Series(texts, dtype=pl.String), None, line)
    assert found.wrong == {}
    assert found.form == "dates without a zone"
    assert (
        found.values.to_list() == read_times(pl.Series(plain, dtype=pl.String), None, line).values.to_list()
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1.2.2026", "2026-02-01"),
        ("1.2.2026 3:04", "2026-02-01 03:04:00"),
        ("01/31/2026 12:00 AM", "2026-01-31 00:00:00"),
        ("01/31/2026 12:59 pm", "2026-01-31 12:59:00"),
        ("31/1/2026 1:02:03.25", "2026-01-31 01:02:03.25"),
    ],
)
def test_short_forms(text, plain):
    found, expected = (read_times(pl.Series([each]), None, line).values.to_list() for each in (text, plain))
    assert found == expected


@pytest.mark.parametrize(
    "cells", [["1/2/2026"], ["1/2/2026 1:05 PM", "12/11/2026 1:05 AM"], ["1-2-2026 13:05"]]
)
def test_a_column_that_does_not_show_its_order_is_refused(cells):
    found = read_times(pl.Series(cells), None, line)
    assert found.wrong == dict.fromkeys(range(len(cells)), UNCLEAR)


@pytest.mark.parametrize(
    "cell", ["13/31/2026", "31.13.2026", "30.2.2026", "1/31/2026 13:05 PM", "1/31/2026 0:05 AM"]
)
def test_dates_that_do_not_exist_are_refused(cell):
    assert set(read_times(pl.Series([cell]), None, line).wrong) == {0}


def test_a_log_of_a_spreadsheet_is_read(tmp_path):
    begin, rows = datetime(2026, 1, 30, 22, 0), ["submit;start;end;procs"]
    for hour in range(30):
        at = [(begin + timedelta(hours=hour + more)).strftime("%d.%m.%Y %H:%M") for more in (0, 1, 3)]
        rows.append(";".join([*at, "4"]))
    (tmp_path / "jobs.csv").write_text("\n".join(rows) + "\n")
    records = read_trace(tmp_path / "jobs.csv").records
    assert records["run"].unique().to_list() == [7200.0]
    assert (records["submit"].diff().drop_nulls() == 3600.0).all()


def test_an_unclear_order_names_line_and_field(tmp_path):
    (tmp_path / "jobs.csv").write_text("submit,run,procs\n1/2/2026 13:05,60,4\n")
    with pytest.raises(
        InputError, match=r"line 2: submit is '1/2/2026 13:05', expected a date such as .* is first$"
    ):
        read_trace(tmp_path / "jobs.csv")
