"""Readers of telemetry: valid files, and one-line errors."""

import gzip

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windlass.io.traces.telemetry import read_bitbrains, read_recorded, read_smd, read_telemetry
from windlass.model import InputError

HEAD = "Timestamp [ms];\tCPU cores;\tCPU usage [%]\n"


def test_real_bitbrains_match_their_text(real):
    path = real / "telemetry" / "bitbrains" / "7.csv.gz"
    machine = read_bitbrains(path)
    rows = gzip.decompress(path.read_bytes()).decode().splitlines()[1:]
    assert len(machine) == len(rows) > 8000
    for row in (0, 17, len(rows) - 1):
        texts = rows[row].split(";\t")
        assert [machine.time[row], *machine.values[row]] == [float(text) for text in texts]
    assert machine.step == pytest.approx(300, abs=2)
    assert machine.names[3] == "CPU usage [%]"


@pytest.mark.parametrize("count", [5, pytest.param(None, marks=pytest.mark.slow)], ids=["some", "all"])
def test_real_bitbrains_can_be_read(real, count):
    for path in sorted((real / "telemetry" / "bitbrains").glob("*.csv.gz"))[:count]:
        assert read_telemetry(path).values.shape[1] == 10, path


def test_real_smd_is_read_in_both_parts(real):
    path = real / "telemetry" / "smd" / "machine-2-1.npz"
    machine = read_smd(path)
    archive = np.load(path)
    assert np.array_equal(machine.test.values, archive["test"].astype(np.float64))
    assert np.array_equal(machine.label, archive["label"] > 0)
    both = read_telemetry(path)
    assert len(both) == len(machine.train) + len(machine.test)
    assert np.array_equal(both.values[len(machine.train)], machine.test.values[0])
    assert (np.diff(both.time) == 60.0).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\x1c", "no line with names"),
        (HEAD, "no lines below the names"),
        ("time;\tCPU\n1;\t2\n", "line 1: begins with 'time'"),
        ("Timestamp [ms]\n1\n", "line 1: begins with 'Timestamp [ms]'"),
        ("Timestamp [ms];\tCPU;\tCPU\n1;\t2;\t3\n", "field 'CPU' appears twice"),
        (HEAD + "0;\t1;\t2\n5;\t1\n", "line 3: 2 fields, expected 3"),
        (HEAD + "0;\t1;\t2\n\n5;\t1;\tmany\n", "line 4: CPU usage [%] is 'many'"),
        (HEAD + "0;\t1;\t-2\n", "line 2: CPU usage [%] is '-2'"),
        (HEAD + "0;\t1;\tnan\n", "line 2: CPU usage [%] is 'nan'"),
        (HEAD + "0;\t1;\t\n", "line 2: CPU usage [%] is ''"),
        (HEAD + "5;\t1;\t2\n4;\t1;\t2\n", "line 3: Timestamp [ms] is 4, expected at least 5"),
    ],
)
def test_bad_bitbrains_are_named(tmp_path, text, message):
    path = tmp_path / "vm.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_bitbrains(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def error_of(path):
    """Return the error of a file that cannot be read, or an empty string."""
    try:
        read_telemetry(path)
    except InputError as error:
        return str(error)
    return ""


@given(data=st.binary(max_size=200), suffix=st.sampled_from([".csv", ".csv.gz", ".npz", ".parquet"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_are_telemetry_or_a_one_line_error(tmp_path, data, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    message = error_of(path)
    assert not message or (str(path) in message and "\n" not in message)


def test_bad_smd_is_named(tmp_path):
    path = tmp_path / "machine.npz"

    def message(**arrays):
        np.savez(path, **arrays)
        with pytest.raises(InputError) as error:
            read_smd(path)
        assert "\n" not in str(error.value)
        return str(error.value)

    good = {"train": np.zeros((3, 2)), "test": np.zeros((2, 2)), "label": np.zeros(2)}
    assert "array label is missing, found train, test" in message(train=good["train"], test=good["test"])
    assert "array train: shape (3,)" in message(**good | {"train": np.zeros(3)})
    assert "array test: 3 columns, expected 2" in message(**good | {"test": np.zeros((2, 3))})
    assert "array label: shape (5,), expected (2,)" in message(**good | {"label": np.zeros(5)})
    holed = np.zeros((2, 2))
    holed[1, 0] = np.nan
    assert "array test, row 1, column 0: nan" in message(**good | {"test": holed})
    assert "array train: values are <U1" in message(**good | {"train": np.full((3, 2), "a")})
    assert "cannot be read as a NumPy archive" in message(**good | {"train": np.array([{}], object)})


def recorded(tmp_path, **columns):
    path = tmp_path / "run.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_a_recording_keeps_its_columns_and_gaps(tmp_path):
    path = recorded(
        tmp_path,
        a=[1, 2, None],
        time=[5.0, 6.0, 7.0],
        cpu_ready=pl.Series([0.0, 0.5, np.inf], dtype=pl.Float32),
    )
    found = read_telemetry(path)
    assert found.names == ("a", "cpu_ready")
    assert found.time.tolist() == [5.0, 6.0, 7.0]
    assert np.array_equal(found.values, [[1.0, 0.0], [2.0, 0.5], [np.nan, np.nan]], equal_nan=True)
    assert read_recorded(recorded(tmp_path, a=[4.0, 5.0])).time.tolist() == [0.0, 1.0]
    with pytest.raises(
        InputError, match="there is no column 'ready', found a, cpu_ready; did you mean 'cpu_ready'"
    ):
        found.of("ready")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"time": [1.0]}, "0 metrics and 1 rows"),
        ({"a": pl.Series([], dtype=pl.Float64)}, "1 metrics and 0 rows"),
        ({"a": ["x"]}, "column a is String, expected numbers"),
        ({"time": [1.0, 0.0], "a": [1, 1]}, "row 1: time is 0, expected a time of at least 1"),
        ({"time": [None, 0.0], "a": [1, 1]}, "row 0: time is nan, expected a time"),
        ({"a": [1, 1], "cpu_ready": [0.0, -0.5]}, "row 1: cpu_ready is -0.5, expected at least 0"),
    ],
)
def test_bad_recordings_are_named(tmp_path, columns, message):
    with pytest.raises(InputError) as error:
        read_recorded(recorded(tmp_path, **columns))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
