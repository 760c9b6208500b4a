"""Series and GPU logs: valid files and errors."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.io.traces.helios import read_helios
from windlass.io.traces.openb import read_openb_nodes, read_openb_pods
from windlass.io.traces.philly import read_philly
from windlass.io.traces.series import amounts_held, read_series
from windlass.model import InputError

TRACES = Path(__file__).parents[3] / "shared" / "traces"


def written(folder: Path, text: str) -> Path:
    path = folder / "use.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "time,a,b\n2020-04-01 00:00:00,1,2\n2020-04-01 00:10:00,3,4\n",
        "a,b,timestamp\n1,2,2020-04-01T00:00:00\n3,4,2020-04-01T00:10:00\n",
        "when,a,b\n600,1,2\n1200,3,4\n",
    ],
)
def test_the_column_of_times_is_found(tmp_path, text):
    series = read_series(written(tmp_path, text), 600)
    assert series.columns == ("a", "b")
    assert series.rows.tolist() == [[1, 2], [3, 4]]
    assert series.notes == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2020-03-29T01:50:00+01:00", "2020-03-29T03:00:00+02:00"),
        ("2020-03-29 00:50:00Z", "2020-03-29 01:00:00Z"),
        ("2020-03-29T00:50Z", "2020-03-29T01:00Z"),
        ("2020-03-29 00:50:00 UTC", "2020-03-29 01:00:00 UTC"),
        ("2020-03-29 06:20:00.00+0530", "2020-03-29 06:30:00.00+0530"),
        ("2020-03-28T19:50:00-05", "2020-03-28T20:00:00-05"),
        ("2020-03-29T00:50", "2020-03-29T01:00"),
    ],
)
def test_a_zone_shifts_the_time(tmp_path, first, second):
    """A clock that is set forward in spring leaves no gap if its times have a zone."""
    series = read_series(written(tmp_path, f"when,a\n{first},1\n{second},3\n"), 600)
    assert series.begin == 1_585_443_000.0
    assert series.rows.ravel().tolist() == [1, 3]
    assert series.notes == ()


def test_times_with_and_without_a_zone_are_not_mixed(tmp_path):
    path = written(tmp_path, "time,a\n2020-03-29T00:50:00Z,1\n2020-03-29T01:00:00,3\n")
    with pytest.raises(
        InputError, match="line 3: time is '2020-03-29T01:00:00', expected a time in the form"
    ):
        read_series(path, 600)


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        ("0,1,1\n600,3,4\n", ("column 2", "column 3"), [[1, 1], [3, 4]]),
        ("\n2020-04-01 00:00:00,1\n2020-04-01 00:10:00,3\n", ("column 2",), [[1], [3]]),
        ('"0","1"\n600,3\n', ("column 2",), [[1], [3]]),
    ],
)
def test_the_first_row_of_a_file_without_a_header_is_kept(tmp_path, text, columns, rows):
    series = read_series(written(tmp_path, text), 600)
    assert series.columns == columns
    assert series.rows.tolist() == rows
    names = ", ".join(f"column {place}" for place in range(1, len(columns) + 2))
    assert series.notes == (f"the first line has no names: columns are named {names}",)


def test_a_file_without_a_header_may_have_gaps_and_names_lines_in_errors(tmp_path):
    rows = read_series(written(tmp_path, "0,,2\n10,3,\n"), 10, ["column 3", "column 2"]).rows
    assert np.array_equal(rows, [[2, np.nan], [np.nan, 3]], equal_nan=True)
    for text, message in (
        ("0,1\n10,-2\n", "line 2: column 2 is '-2'"),
        ("\n\n0,1\n10,2\n5,3\n", "line 5: column 1 '5' decreases"),
        ("0,1\n10,2,3\n", "line 2: 3 fields, expected 2"),
    ):
        with pytest.raises(InputError, match=message):
            read_series(written(tmp_path, text), 10)


def test_numbers_as_names_after_an_unnamed_index_are_a_header(tmp_path):
    series = read_series(written(tmp_path, ",0,1\n0,5,6\n10,7,8\n"), 10)
    assert series.columns == ("0", "1")
    assert series.rows.tolist() == [[5, 6], [7, 8]]


def test_rows_of_a_period_are_averaged_and_periods_without_any_are_gaps(tmp_path):
    path = written(tmp_path, "t,a\n0,1\n5,3\n10,7\n31,9\n")
    series = read_series(path, 10)
    assert np.array_equal(series.rows.ravel(), [2, 7, np.nan, 9], equal_nan=True)
    filled = (
        "1 of 4 values (25 %) are missing: forecasters see the value before, and no error is counted there"
    )
    assert series.notes == ("4 rows are averaged in 3 periods", "1 of 4 periods has no row", filled)


def test_an_empty_cell_is_a_gap(tmp_path):
    rows = read_series(written(tmp_path, "t,a,b\n0,1,\n10,,2\n"), 10).rows
    assert np.array_equal(rows, [[1, np.nan], [np.nan, 2]], equal_nan=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "t,a\n0,1\n20,1\n10,1\n",
            "line 4: t '10' decreases, expected a time after that of the previous line",
        ),
        ("t,a\n0,1\n\n0,1\n", "line 4: t '0' is repeated"),
        ("t,a\n0,1\n10,-2\n", "line 3: a is '-2', expected a number of 0 or more"),
        ("t,a\n0,1\n10,many\n", "line 3: a is 'many'"),
        ("t,a\n0,1\n10,inf\n", "line 3: a is 'inf'"),
        ("x,a\nmon,1\ntue,2\n", "line 2: x is 'mon'"),
        ("time,a\nmon,1\n", "line 2: time is 'mon', expected a time as a date or in seconds"),
        (
            "time,a\n1,1\n2,1\nx,1\n4,1\n",
            "line 4: time is 'x', expected a time in the form of the lines before",
        ),
        (
            "time,a\n2020-01-01,1\n\n,1\n",
            "line 4: time is '', expected a time in the form of the lines before",
        ),
        ("time,a\n", "no row after the header"),
        ("t,a,b\n0,1,NaN\n10,2,\n", "column b has no value, expected at least one number"),
        ("t\n0\n10\n", "no column except the time 't'"),
        ("t,a\n0,1\n10,2,3\n", "line 3: 3 fields, expected 2"),
        ("t,a\n0,1\n1e15,1\n", "expected at most ten million"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        read_series(written(tmp_path, text), 10)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_columns_can_be_chosen(tmp_path):
    path = written(tmp_path, "t,a,b\n0,1,x\n10,2,y\n")
    assert read_series(path, 10, ["a"]).rows.ravel().tolist() == [1, 2]
    with pytest.raises(InputError, match="no column 'c', found t, a, b"):
        read_series(path, 10, ["c"])


jobs = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 30), st.integers(0, 5)), min_size=1, max_size=20)


@settings(deadline=None)
@given(jobs)
def test_held_amounts_equal_plain_counting(found):
    begins, spans, amounts = (np.array(x, dtype=float) for x in zip(*found, strict=True))
    counts = amounts_held(begins, begins + spans, amounts, 10.0, until=100.0)
    for row, count in enumerate(counts):
        at = 10.0 * (row + 1)
        assert count == sum(n for b, s, n in found if b <= at < b + s)


def test_a_missing_period_of_helios_is_an_error(tmp_path):
    path = written(
        tmp_path,
        "time,submit_gpu_num,start_gpu_num,end_gpu_num\n2020-04-01 00:00:00,1,1,0\n2020-04-01 00:20:00,1,1,0\n",
    )
    with pytest.raises(InputError, match="no counts for the ten minutes of row 2"):
        read_helios(path)


def test_a_pod_deleted_before_its_creation_is_an_error(tmp_path):
    path = written(
        tmp_path,
        "cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n1,1,0,0,BE,9,8,\n",
    )
    with pytest.raises(InputError, match="line 2: deletion_time is 8, expected at least 9"):
        read_openb_pods(path)


def test_a_philly_job_without_gpus_is_an_error(tmp_path):
    with pytest.raises(InputError, match="line 2: gpus is '0', expected a number above 0"):
        read_philly(written(tmp_path, "vc,arrival_s,gpus,duration_s\na,0,0,5\n"))


@pytest.mark.skipif(not TRACES.is_dir(), reason="../shared/traces is absent")
def test_the_published_files_are_read_completely():
    series = read_helios(TRACES / "elastic" / "helios_venus.csv")
    assert series.rows.shape == (22_032, 2)
    assert series.rows[:, 0].min() == 0
    assert len(read_philly(TRACES / "gpu" / "philly_by_vc.csv")) == 15_264
    pods = read_openb_pods(TRACES / "gpu" / "openb_pod_list_default.csv")
    assert len(pods) == 8_152
    assert (np.diff(pods.created) >= 0).all()
    nodes = read_openb_nodes(TRACES / "gpu" / "openb_node_list_all_node.csv")
    assert len(nodes) == 1_523
    assert nodes.resources[:, 0].max() == 8


@pytest.mark.parametrize(
    ("times", "period", "share"),
    [((0, 600, 1200, 3000), 600.0, "2 of 3"), ((0, 10, 30), 10.0, "1 of 2"), ((5, 5.5, 6), 0.5, "2 of 2")],
)
def test_the_most_frequent_step_is_inferred(tmp_path, times, period, share):
    series = read_series(written(tmp_path, "t,a\n" + "".join(f"{time},1\n" for time in times)), None)
    assert series.period == period
    assert series.notes[0] == f"rows are {period:g} s apart, as in {share} steps"
    assert len(series.rows) == round((times[-1] - times[0]) / period) + 1


def test_the_step_of_one_row_is_unknown(tmp_path):
    with pytest.raises(InputError, match="one row, expected at least two"):
        read_series(written(tmp_path, "t,a\n0,1\n"), None)
