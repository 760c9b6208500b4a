"""Choosing a format by suffix or by name, and the real logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.io.traces import (
    FORMATS,
    SwfLog,
    Trace,
    read_swf,
    read_trace,
    to_workload,
    write_swf,
    write_table,
)
from windlass.model import InputError, JobTable

TWO = Trace.of_jobs(JobTable.of(submit=[0, 5], run=[10, 20], procs=[4, 2]), "two", 8)


@pytest.mark.parametrize("suffix", [suffix for known in FORMATS for suffix in known.suffixes])
def test_each_suffix_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"two{suffix.upper() if suffix == '.swf' else suffix}"
    if "swf" in suffix:
        write_swf(SwfLog.of(TWO), path)
    elif suffix in (".jsonl", ".ndjson"):
        TWO.records.write_ndjson(path)
    elif suffix in (".tsv", ".psv"):
        TWO.records.write_csv(path, separator="\t" if suffix == ".tsv" else "|")
    else:
        write_table(TWO, path)
    trace = read_trace(path)
    assert trace.name == "two"
    assert trace.records["submit"].to_list() == [0, 5]
    assert to_workload(trace, 8).jobs.procs.tolist() == [4, 2]


def test_a_format_name_overrides_the_suffix(tmp_path: Path) -> None:
    write_swf(SwfLog.of(TWO), tmp_path / "two.txt")
    assert len(read_trace(tmp_path / "two.txt", format="swf")) == 2
    with pytest.raises(InputError, match=r"two\.txt: no column 'submit'"):
        read_trace(tmp_path / "two.txt", format="csv")


def test_unknown_formats_and_missing_files_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text("x")
    with pytest.raises(
        InputError, match=r"two\.txt: unknown suffix, expected \.swf, .* or \.ndjson, or a format"
    ):
        read_trace(path)
    with pytest.raises(
        InputError,
        match=r"^format 'swift' is unknown, expected swf, csv, parquet, sacct, .* or jsonl; did you mean 'swf'\?$",
    ):
        read_trace(path, format="swift")
    with pytest.raises(InputError, match=r"none\.swf: no such file$"):
        read_trace(tmp_path / "none.swf")
    with pytest.raises(InputError, match=r"is a directory, expected a file$"):
        read_trace(tmp_path)


def test_skip_bad_lines_is_passed_to_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("submit,run,procs\n0,1,1\n0,x,1\n")
    with pytest.raises(InputError, match=r"line 3"):
        read_trace(path)
    assert len(read_trace(path, skip_bad_lines=True).bad_lines) == 1


def test_the_kth_log_is_read_and_round_trips(real: Path, tmp_path: Path) -> None:
    log = read_swf(real / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz")
    assert (log.name, len(log), log.processors) == ("KTH-SP2-1996-2.1-cln", 28_476, 100)
    assert log.header.get("MaxRecords") == "28476"
    assert len(log.header.all("Note")) == 2
    workload = to_workload(log)
    assert len(workload.jobs) == 28_475
    assert workload.notes == ("1 job has no processors and is left out: job 27313",)
    assert (workload.jobs.request >= 0).all()
    write_swf(log, tmp_path / "kth.swf.gz")
    again = read_swf(tmp_path / "kth.swf.gz")
    assert again.records.equals(log.records)
    assert again.header == log.header


def test_the_lcg_log_is_read(real: Path) -> None:
    log = read_swf(real / "swf" / "LCG-2005-1.swf.gz")
    assert (len(log), log.processors) == (188_041, 24_515)
    partitions = log.header.all("Partition")
    assert len(partitions) == 170
    assert partitions[0] == "1 grid.ici.ro"
    workload = to_workload(log, where="partition = 1")
    assert workload.notes[1].endswith("so the allocated ones are used, the first: job 1 (1)")
    assert len(workload.jobs) == (log.records["partition"] == 1).sum()


def test_the_philly_log_is_read(real: Path) -> None:
    trace = read_trace(real / "gpu" / "philly_by_vc.csv")
    assert len(trace) == 15_264
    assert trace.records["vc"].n_unique() == 15
    assert (to_workload(trace).jobs.run >= 0).all()
