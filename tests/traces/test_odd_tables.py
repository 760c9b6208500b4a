"""Tables of jobs as people have them: each file is read as its generator meant it, or refused in one line."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from windlass.io.traces import Trace, read_trace, to_workload

BEGIN = 1_767_322_985.0  # 2026-01-02T03:03:05Z
#: Submission after BEGIN (s), run time (s), processors, request (s), user.
JOBS = [
    (60.0, 3723.0, 4, 7200.0, "ann"),
    (0.0, 90_061.0, 2, 172_800.0, "Jürgen"),
    (7.0, 59.0, 16, 60.0, "bob"),
]
FIELDS = ("submit", "run", "procs_requested", "request", "user")

Form = Callable[[float], str]


def date(text: str, zone: Any = UTC) -> Form:
    return lambda at: datetime.fromtimestamp(BEGIN + at, zone).strftime(text)


#: How a time is written, and whether the trace counts from the first submission with a note.
TIMES: dict[str, Form] = {
    "seconds": lambda at: f"{at:.0f}",
    "decimals": lambda at: f"{at:.3f}",
    "epoch": lambda at: f"{BEGIN + at:.0f}",
    "epoch-decimals": lambda at: f"{BEGIN + at:.1f}",
    "milliseconds": lambda at: f"{1e3 * (BEGIN + at):.0f}",
    "microseconds": lambda at: f"{1e6 * (BEGIN + at):.0f}",
    "iso": date("%Y-%m-%dT%H:%M:%S"),
    "space": date("%Y-%m-%d %H:%M:%S"),
    "utc": date("%Y-%m-%dT%H:%M:%SZ"),
    "words": date("%Y-%m-%d %H:%M:%S UTC"),
    "fraction": date("%Y-%m-%d %H:%M:%S.%f"),
    "offset": date("%Y-%m-%dT%H:%M:%S%z", timezone(timedelta(hours=5, minutes=30))),
    "slashes": date("%Y/%m/%d %H:%M:%S"),
}
SCALED = ("milliseconds", "microseconds")


def clock(length: float) -> str:
    days, rest = divmod(int(length), 86_400)
    hours, minutes = divmod(rest, 3600)
    text = f"{hours:02}:{minutes // 60:02}:{minutes % 60:02}"
    return f"{days}-{text}" if days else text


DURATIONS: dict[str, Form] = {
    "seconds": lambda length: f"{length:.0f}",
    "decimals": lambda length: f"{length:.2f}",
    "clock": clock,
    "hours": lambda length: f"{int(length) // 3600}:{int(length) % 3600 // 60:02}:{int(length) % 60:02}",
    "iso": lambda length: f"PT{length:.0f}S",
}
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
NAMES = ("submit", "run", "procs", "request", "user")


def rows(time: Form, length: Form) -> list[list[str]]:
    return [
        [time(at), length(run), str(procs), length(request), user] for at, run, procs, request, user in JOBS
    ]


def table(
    names: tuple[str, ...] = NAMES,
    separator: str = ",",
    time: str = "seconds",
    length: str = "seconds",
    end: str = "\n",
) -> str:
    lines = [names, *rows(TIMES[time], DURATIONS[length])]
    return end.join(separator.join(line) for line in lines) + end


def written(folder: Path, content: str | bytes, name: str = "jobs.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_meant(trace: Trace, jobs: list[tuple[Any, ...]] = JOBS) -> None:
    """Check every field of every job, and that the jobs can be replayed."""
    found = trace.records.select(FIELDS).rows()
    assert found == [
        (float(at), float(run), procs, float(request), user) for at, run, procs, request, user in jobs
    ]
    workload = to_workload(trace)
    assert workload.jobs.submit.tolist() == sorted(job[0] for job in jobs)
    assert workload.jobs.run.sum() == sum(job[1] for job in jobs)


@pytest.mark.matrix
@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("time", TIMES)
def test_every_form_of_time_and_separator(tmp_path, separator, time):
    length = "clock" if time in SCALED else "seconds"
    trace = read_trace(
        written(tmp_path, table(separator=SEPARATORS[separator], time=time, length=length), "jobs.txt")
    )
    assert_meant(trace)
    dated = time not in ("seconds", "decimals")
    zone = "" if time in ("iso", "space", "fraction", "slashes") else "Z"
    assert [note for note in trace.notes if note.startswith("times count from")] == (
        [f"times count from 2026-01-02T03:03:05{zone}, the first submission"] if dated else []
    )
    assert any("by its size" in note for note in trace.notes) == (time in SCALED)


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("length", DURATIONS)
def test_every_form_of_duration(tmp_path, separator, length):
    path = written(tmp_path, table(separator=SEPARATORS[separator], length=length))
    assert_meant(read_trace(path))


@pytest.mark.parametrize("separator", ["semicolon", "tab", "bar"])
def test_decimal_commas(tmp_path, separator):
    lines = ["submit;run;procs;request;user", "60,5;3723,25;4;7200,0;ann", "0;1,125;2;2;bob"]
    path = written(tmp_path, "\n".join(lines).replace(";", SEPARATORS[separator]) + "\n")
    assert_meant(read_trace(path), [(60.5, 3723.25, 4, 7200, "ann"), (0, 1.125, 2, 2, "bob")])
    quoted = '"60,5","3723,25",4,7200,ann\n'
    path = written(tmp_path, f"submit,run,procs,request,user\n{quoted}")
    assert_meant(read_trace(path), [(60.5, 3723.25, 4, 7200, "ann")])


ENCODINGS = {
    "utf-8": table().encode(),
    "byte-order-mark": table().encode("utf-8-sig"),
    "utf-16": table().encode("utf-16"),
    "utf-16-le": table().encode("utf-16-le"),
    "utf-16-be": table().encode("utf-16-be"),
    "utf-32": table().encode("utf-32"),
    "latin-1": table().encode("latin-1"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding(tmp_path, encoding):
    assert_meant(read_trace(written(tmp_path, ENCODINGS[encoding], "jobs.txt")))


def zstd(data: bytes) -> bytes:
    """Return a frame of one block that is not compressed."""
    assert 256 <= len(data) < 2**16
    block = struct.pack("<I", len(data) << 3 | 1)[:3]
    return b"\x28\xb5\x2f\xfd\x60" + struct.pack("<H", len(data) - 256) + block + data


def zipped(data: bytes, *names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("jobs.csv", "__MACOSX/._jobs.csv"):
            archive.writestr(name, data)
    return buffer.getvalue()


#: The same jobs several times, so that a frame of zstd is long enough.
LONG = table() + "".join(table().split("\n", 1)[1] for _ in range(3))
COMPRESSED = {
    "gz": gzip.compress(LONG.encode()),
    "bz2": bz2.compress(LONG.encode()),
    "xz": lzma.compress(LONG.encode()),
    "zst": zstd(LONG.encode()),
    "zip": zipped(LONG.encode()),
}


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("suffix", ["{}", "csv.{}", "csv", "gz"])
def test_every_compression_whatever_the_name(tmp_path, kind, suffix):
    assert_meant(read_trace(written(tmp_path, COMPRESSED[kind], f"jobs.{suffix.format(kind)}")), 4 * JOBS)


@pytest.mark.parametrize(
    "text",
    [
        table(end="\r\n"),
        table(end="\r"),
        table().rstrip("\n"),
        "\n\n" + table(),
        table() + "\n\n\n",
        table().replace("\n", "\n\n"),
        "sep=,\n" + table(),
        "# jobs of our cluster\n# times in s\n" + table(),
        "#" + table(),
        "# " + table(separator="\t"),
        table().replace(",", " , "),
        table() + table(),
        table() + "\n" + table() + table(),
        table().replace("ann", '"ann"'),
        '"' + table().replace(",", '","').replace("\n", '"\n"').removesuffix('"'),
        "weight," + table().replace("\n", "\n0.5,").removesuffix("0.5,"),
    ],
)
def test_every_layout_of_lines(tmp_path, text):
    trace = read_trace(written(tmp_path, text))
    times = text.count("procs")
    assert_meant(trace, JOBS * times)
    assert [note for note in trace.notes if "repeat" in note] == (
        [note for note in trace.notes if f"{times - 1:,} lines repeat" in note or "line 5 repeats" in note]
    )
    assert any("repeat" in note for note in trace.notes) == (times > 1)


@pytest.mark.parametrize(
    "names",
    [
        ("Submit", "Run", "CPUs", "Request", "User"),
        ("SUBMIT_TIME", "RUN TIME", "PROCS", "TIME-LIMIT", "USER"),
        ("submitTime", "runTime", "numCPUs", "timeLimit", "userName"),
        (" Submit  Time ", "Elapsed Time", "Num Cores", "Wall.Time", "User ID"),
        ("Arrival (s)", "Duration [s]", "Processors", "Walltime, s", "user"),
        ("submit_seconds", "run_sec", "ncpus", "Requested Time", "username"),
    ],
)
def test_capitals_spaces_and_signs_in_names_do_not_matter(tmp_path, names):
    if names[3] == "Wall.Time":
        names = (*names[:3], "Walltime", names[4])
    trace = read_trace(written(tmp_path, table(names, separator="\t")))
    assert_meant(trace)
    renamed = [note for note in trace.notes if note.startswith("columns: submit is ")]
    assert (renamed != []) == (names[0] != "submit_seconds")


@pytest.mark.parametrize(
    ("name", "factor"), [("run_ms", 1e3), ("Run (min)", 1 / 60), ("run_h", 1 / 3600), ("duration_us", 1e6)]
)
def test_a_name_may_state_the_unit(tmp_path, name, factor):
    lines = [f"{at},{run * factor!r},{procs},{request},{user}" for at, run, procs, request, user in JOBS]
    trace = read_trace(written(tmp_path, f"submit,{name},procs,request,user\n" + "\n".join(lines) + "\n"))
    assert trace.records["run"].to_list() == pytest.approx([job[1] for job in JOBS], rel=1e-12)


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("Queued at", "run", "procs", "request", "user"), {"submit": "Queued at"}),
        (("a", "b", "c", "d", "e"), dict(zip(NAMES, "abcde", strict=True))),
        (("submit", "run", "Weight", "request", "user"), {"procs": "Weight"}),
        (("a", "run", "procs", "request", "Who"), {"submit_s": "a", "user": "Who"}),
        (("run", "submit", "procs", "request", "user"), {"submit": "run", "run": "submit"}),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_columns_that_the_user_names(tmp_path, names, columns, kind):
    cells = rows(TIMES["seconds"], DURATIONS["seconds"])
    path = tmp_path / f"jobs.{kind}"
    if kind == "csv":
        path.write_text(table(names, separator=";"))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in cells))
    else:
        pl.DataFrame(cells, schema=list(names), orient="row").write_parquet(path)
    trace = read_trace(path, columns=columns)
    assert_meant(trace)
    assert any(note.startswith("columns: ") for note in trace.notes)


@pytest.mark.parametrize("time", ["epoch", "milliseconds", "utc", "space"])
def test_start_and_end_replace_the_run_time(tmp_path, time):
    form = TIMES[time]
    lines = ["Submit;Start Time;End;cores"]
    lines += [f"{form(at)};{form(at + 5)};{form(at + 5 + run)};{procs}" for at, run, procs, _, _ in JOBS]
    lines.append(f"{form(90)};Unknown;;2")
    trace = read_trace(written(tmp_path, "\n".join(lines) + "\n"))
    found = trace.records.select("submit", "wait", "run", "procs_requested").rows()
    assert found == [(at, 5.0, run, procs) for at, run, procs, _, _ in JOBS] + [(90.0, None, None, 2)]
    assert "the run time is End less Start Time" in trace.notes
    assert "1 job has no run time and is left out: record 4" in " ".join(to_workload(trace).notes).replace(
        "job 4", "record 4"
    )


@pytest.mark.parametrize("kind", ["lines", "list", "blank-lines", "numbers", "missing-keys"])
def test_json_lines(tmp_path, kind):
    items: list[dict[str, Any]] = [
        dict(zip(NAMES, (at, run, procs, request, user), strict=True))
        for at, run, procs, request, user in JOBS
    ]
    if kind == "numbers":
        items = [{key: str(value) for key, value in item.items()} for item in items]
    if kind == "missing-keys":
        del items[2]["request"]
    lines = [json.dumps(item) for item in items]
    text = json.dumps(items) if kind == "list" else ("\n\n" if kind == "blank-lines" else "\n").join(lines)
    trace = read_trace(written(tmp_path, text, "jobs.ndjson" if kind == "list" else "jobs.log"))
    jobs: list[tuple[Any, ...]] = list(JOBS)
    if kind == "missing-keys":
        assert trace.records["request"].to_list() == [7200.0, 172_800.0, None]
        return
    assert_meant(trace, jobs)


def test_a_file_of_one_job_and_an_unsorted_one(tmp_path):
    assert_meant(read_trace(written(tmp_path, "\n".join(table().split("\n")[:2]))), JOBS[:1])
    assert "sorted by submission" in " ".join(to_workload(read_trace(written(tmp_path, table()))).notes)


def test_a_run_time_that_contradicts_start_and_end_is_noted(tmp_path):
    text = "submit,start,end,run,procs\n0,5,3605,60,1\n0,5,65,60,1\n"
    note = read_trace(written(tmp_path, text)).notes[0]
    assert (
        note
        == "run differs from end less start in 1 of 2 rows, the first: 60 s and 3600 s; the former is used"
    )
