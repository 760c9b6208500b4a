"""Plain tables of jobs: names of columns, faults with their lines, and lossless writing."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.io.traces import BadLine, Trace, read_csv, read_parquet, to_workload, write_table
from windlass.model import InputError, JobTable


def write(folder: Path, text: str, name: str = "jobs.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def error_of(path: Path, skip: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        (read_parquet if path.suffix == ".parquet" else read_csv)(path, skip_bad_lines=skip)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "FILE")


@pytest.mark.parametrize("name", ["jobs.csv", "jobs.csv.gz"])
@pytest.mark.parametrize(
    "names",
    [
        "submit,run,procs,request,job",
        "submit_s,runtime,processors,walltime,id",
        " arrival , duration_s,gpus,request_s,job_id",
    ],
)
def test_columns_have_several_names(tmp_path: Path, names: str, name: str) -> None:
    trace = read_csv(write(tmp_path, f"{names}\n0,60,4,90,11\n5.5, 70 ,2,,12\r\n", name))
    assert trace.name == "jobs"
    assert trace.records.columns == ["job", "submit", "run", "procs_allocated", "procs_requested", "request"]
    assert trace.records.rows() == [(11, 0, 60, None, 4, 90), (12, 5.5, 70, None, 2, None)]


def test_job_and_request_may_be_absent_and_other_columns_are_kept(tmp_path: Path) -> None:
    trace = read_csv(write(tmp_path, "team,submit,run,procs,gpus,share\nvision,0,60,4,1,0.5\n,5,70,2,2,1\n"))
    assert trace.records["job"].to_list() == [1, 2]
    assert trace.records["request"].to_list() == [None, None]
    assert trace.records.select("team", "gpus", "share").rows() == [("vision", 1, 0.5), (None, 2, 1.0)]
    assert to_workload(trace).jobs.procs.tolist() == [4, 2]


def test_the_type_of_a_column_comes_from_all_of_its_rows(tmp_path: Path) -> None:
    lines = [*(f"{at},60,1,{at},{at}" for at in range(1200)), "1200,60,1,0.5,late"]
    trace = read_csv(write(tmp_path, "submit,run,procs,share,team\n" + "\n".join(lines) + "\n"))
    assert trace.records["share"].to_list()[-2:] == [1199.0, 0.5]
    assert trace.records["team"].to_list()[-2:] == ["1199", "late"]


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        ("run,procs", "no column 'submit' (or submit_time, arrival, arrival_time, "),
        ("submit,Ran,procs", "no column 'run' (or runtime, "),
        (
            "submit,start,procs",
            "no column 'run' (or runtime, run_time, duration, elapsed, elapsed_time, elapsed_raw)",
        ),
        ("submit,run,size", "no column 'procs_requested' (or procs, processors, cpus, cores, gpus, nodes, "),
    ],
)
def test_a_missing_column_is_named(tmp_path: Path, names: str, missing: str) -> None:
    message = error_of(write(tmp_path, names + "\n" + ",".join("1" for _ in names.split(","))))
    assert message.startswith(f"FILE: {missing}")
    found = "found " + ", ".join(repr(name) for name in names.split(","))
    field = missing.split("'")[1].removesuffix("_requested")
    assert message.endswith(
        f"{found}; name it with --columns {field}=NAME, or with workload.columns in a scenario"
    )


@pytest.mark.parametrize("line", ["0,60,4", "2024-05-01T12:00:00Z,60,4", "1.5, 60, 4"])
def test_a_table_without_names_of_columns_is_named(tmp_path: Path, line: str) -> None:
    message = error_of(write(tmp_path, f"{line}\n{line}"))
    assert message.startswith("FILE: the first line has numbers (")
    assert message.endswith("expected names of columns, such as submit,run,procs; write them above the jobs")


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (
            "x,1,1,b",
            "submit is 'x', expected a time: a number of seconds, or a date such as 2024-05-01T12:00:00",
        ),
        ("-2,1,1,b", "submit is '-2', expected a number of 0 or more"),
        ("1,-0.5,1,b", "run is '-0.5', expected a number of 0 or more"),
        ("1,NaN,1,b", "run is 'NaN', expected a number of 0 or more"),
        ("1,inf,1,b", "run is 'inf', expected a number of 0 or more"),
        ("1,1,1.5,b", "procs is '1.5', expected a whole number of 0 or more"),
        ("1,1,many,b", "procs is 'many', expected a whole number of 0 or more"),
        ("1,1,1,9,9", "5 fields, expected 4"),
        ("1,1,1", "3 fields, expected 4"),
    ],
)
def test_a_bad_line_is_named_or_skipped(tmp_path: Path, cells: str, reason: str) -> None:
    text = f'submit,run,procs,team\n\n0,1,1,"two\nlines"\n{cells}\n2,1,1,b\n'
    path = write(tmp_path, text)
    assert error_of(path) == f"FILE, line 5: {reason}"
    trace = read_csv(path, skip_bad_lines=True)
    assert trace.bad_lines == (BadLine(5, reason),)
    assert trace.notes == ("1 bad line is left out: line 5",)
    assert trace.records["submit"].to_list() == [0, 2]
    assert trace.records["team"].to_list() == ["two\nlines", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "FILE: the file is empty"),
        ("submit,run,procs\n", "FILE: no jobs"),
        ("submit,run,procs\n,,\n\n", "FILE: no jobs"),
        ("submit,run,procs\n0,-1,1\n", "FILE: no jobs, all are bad, line 2: run is '-1'"),
        ('submit,run,procs\n0,1,"1\n', "FILE, line 2: cannot be read as CSV: unexpected end of data"),
        ('submit,run,procs\n0,1,""1"\n,1"', "FILE, line 2: cannot be read as CSV: "),
    ],
)
def test_a_table_without_jobs_is_rejected(tmp_path: Path, text: str, message: str) -> None:
    assert error_of(write(tmp_path, text), skip=True).startswith(message)


def test_an_invalid_parquet_file_is_rejected(tmp_path: Path) -> None:
    assert error_of(write(tmp_path, "submit,run,procs", "jobs.parquet")).startswith(
        "FILE: cannot be read as Parquet: "
    )


def test_rows_of_a_parquet_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "jobs.parquet"
    pl.DataFrame({"submit": [0, 1, 2], "run": [1.0, float("nan"), 3.0], "cpus": [1, 1, None]}).write_parquet(
        path
    )
    assert error_of(path) == "FILE, row 2: run is 'nan', expected a number of 0 or more"
    trace = read_parquet(path, skip_bad_lines=True)
    assert trace.bad_lines == (BadLine(2, "run is 'nan', expected a number of 0 or more"),)
    assert to_workload(trace).jobs.run.tolist() == [1.0]


def test_dates_and_durations_of_parquet_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "jobs.parquet"
    first = datetime.datetime(2020, 1, 1)
    table = {
        "submit": [first + datetime.timedelta(seconds=5), first],
        "run": [datetime.timedelta(minutes=1)] * 2,
    }
    pl.DataFrame(table | {"cpus": [1, 2]}).write_parquet(path)
    trace = read_parquet(path)
    assert trace.records.select("submit", "run").rows() == [(5.0, 60.0), (0.0, 60.0)]
    assert trace.notes == ("times count from 2020-01-01T00:00:00, the first submission",)
    pl.DataFrame({"submit": [datetime.time(1)], "run": [1], "cpus": [1]}).write_parquet(path)
    assert error_of(path).startswith("FILE, row 1: submit is '01:00:00', expected a time: ")


@pytest.mark.parametrize("name", ["again.csv", "again.csv.gz", "again.parquet"])
def test_a_table_round_trips(tmp_path: Path, name: str) -> None:
    jobs = JobTable.of(submit=[0, 1 / 3], run=[1e-9, 2.0**49], procs=[1, 2], request=[5, 1e15], job=[7, 9])
    trace = Trace.of_jobs(jobs, "two")
    trace = Trace("two", trace.records.with_columns(team=pl.Series(["a,b", 'c"d'])))
    write_table(trace, tmp_path / name)
    again = (read_parquet if name.endswith("parquet") else read_csv)(tmp_path / name)
    assert again.records.equals(trace.records)


def test_an_unknown_suffix_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"jobs\.txt: unknown suffix, expected \.csv, \.csv\.gz or \.parquet$"
    ):
        write_table(Trace.of_jobs(JobTable.of([0], [1], [1]), "one"), tmp_path / "jobs.txt")


@given(
    st.binary(max_size=120) | st.text('submitrunpoc,\n"1-0. x', max_size=80).map(str.encode), st.booleans()
)
def test_any_bytes_give_a_trace_or_a_one_line_error(
    tmp_path_factory: pytest.TempPathFactory, outcome, content: bytes, skip: bool
) -> None:
    for name, read in (("fuzz.csv", read_csv), ("fuzz.parquet", read_parquet)):
        path = tmp_path_factory.getbasetemp() / name
        path.write_bytes(b"submit,run,procs\n" + content if name == "fuzz.csv" else content)
        found = outcome(read, path, skip)
        assert "\n" not in found if isinstance(found, str) else len(found) >= 1


def test_a_time_beyond_all_bounds_names_the_log(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("submit,run,procs\n0,1e300,1\n")
    with pytest.raises(InputError, match=r"^jobs: jobs: job 1, run is 1e\+300"):
        to_workload(read_csv(tmp_path / "jobs.csv"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("cells", "processors"),
    [([8, 8], 8), ([8, 64], 64), ([None, 8], 8), ([None, None], None), ([0, 0], None)],
)
def test_a_table_may_state_the_processors_of_its_site(tmp_path, suffix, cells, processors):
    records = pl.DataFrame({"submit": [0, 1], "run": [5, 6], "procs": [4, 4], "site_procs": cells})
    file = tmp_path / f"jobs{suffix}"
    records.write_csv(file) if suffix == ".csv" else records.write_parquet(file)
    read = read_csv if suffix == ".csv" else read_parquet
    assert read(file).processors == processors


def test_a_size_of_the_site_that_is_no_number_is_a_bad_line(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("submit,run,procs,site_procs\n0,5,4,8\n0,5,4,many\n")
    with pytest.raises(InputError, match="line 3: site_procs is 'many', expected a whole number"):
        read_csv(file)
    assert read_csv(file, skip_bad_lines=True).processors == 8
