"""Reader of Google's cluster traces of 2019: events of instances (``instance_events``) in JSON lines, CSV or Parquet.

A job is a task: an instance of a collection that is no alloc set. It starts at its first SCHEDULE event. Its run time
is the time from each SCHEDULE to the EVICT, FAIL, FINISH, KILL or LOST that follows, in total. CPUs are in units of the
largest machine; a processor is a hundredth of it, rounded up. Times are microseconds since the start of the trace.

Source: Wilkes, "Google cluster-usage traces v3", 2020.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from windlass.io.traces.columns import quote
from windlass.io.traces.csv_text import TextTable
from windlass.io.traces.files import stem
from windlass.io.traces.logs.published import PublishedTable, load_table
from windlass.io.traces.trace import BadLine, Trace

_NAMES = "SUBMIT QUEUE ENABLE SCHEDULE EVICT FAIL FINISH KILL LOST UPDATE_PENDING UPDATE_RUNNING"
_EVENTS = {name: number for number, name in enumerate(_NAMES.split())}
_SUBMIT, _SCHEDULE = _EVENTS["SUBMIT"], _EVENTS["SCHEDULE"]
_FIRST_END, _LAST_END = _EVENTS["EVICT"], _EVENTS["LOST"]
#: Times of events before and after the trace.
_BEFORE, _AFTER = 0, 2**63 - 1
_CPUS = ("resource_request.cpus", "resource_request_cpus", "cpus")
_NEEDED = ("time", "type", "collection_id", "instance_index")
_OTHERS = ("collection_type", "priority", "scheduling_class", "resource_request", *_CPUS)
_TASKS = PublishedTable(
    needed=_NEEDED,
    fields={
        "job": ("task",),
        "submit": ("submit",),
        "start": ("start",),
        "run": ("run",),
        "procs_requested": ("processors",),
        "queue": ("scheduling_class",),
    },
    units={"submit": 1e-6, "start": 1e-6, "run": 1e-6},
    others=_OTHERS,
    notes=("a processor is a hundredth of the largest machine, rounded up",),
)


def looks_like_google(head: str) -> bool:
    """Return whether the first line has the columns of events of instances.

    >>> looks_like_google("time,type,collection_id,scheduling_class,instance_index,machine_id\\n")
    True
    """
    return _TASKS.matches(head)


def read_google(path: Path, skip_bad_lines: bool = False) -> Trace:
    """Read the tasks of a table of events.

    Parameters
    ----------
    path
        The file; text files may be compressed.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The tasks that were submitted within the trace: ``job_id`` is the collection and the index of the instance.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column or has no tasks, or has a bad line and ``skip_bad_lines`` is False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "instance_events.csv"
    >>> _ = path.write_text("time,type,collection_id,instance_index,resource_request.cpus\\n"
    ...     "1000000,0,7,0,0.025\\n3000000,SCHEDULE,7,0,0.025\\n9000000,6,7,0,0.025\\n")
    >>> read_google(path).records.select("job_id", "submit", "wait", "run", "procs_requested").row(0)
    ('7/0', 1.0, 2.0, 6.0, 3)
    """
    table, unit = load_table(path, _TASKS.wanted, _NEEDED)
    events, bad = _events(table)
    tasks, notes = _tasks(events)
    rows = tasks["row"].to_numpy()
    found = TextTable(
        tasks.drop("row"),
        lambda row: table.line_of(int(rows[row])),
        (*table.bad, *bad),
        (*table.notes, *notes),
    )
    return _TASKS.trace(str(path), stem(path), found, unit, skip_bad_lines)


def _events(table: TextTable) -> tuple[pl.DataFrame, list[BadLine]]:
    """Return the events as numbers, and the lines whose time, type or instance is no number."""
    records = table.records.with_row_index("row")
    kind = pl.col("type").cast(pl.String).str.strip_chars().str.to_uppercase()
    numbers = {
        "time": pl.col("time").cast(pl.Int64, strict=False),
        "kind": kind.replace(_EVENTS).cast(pl.Int64, strict=False),
        "collection": pl.col("collection_id").cast(pl.Int64, strict=False),
        "index": pl.col("instance_index").cast(pl.Int64, strict=False),
    }
    events = records.select("row", cpus=_cpus(records), **numbers, **_described(records))
    bad: dict[int, str] = {}
    for name, column in zip(numbers, _NEEDED, strict=True):
        for row in events.filter(pl.col(name).is_null() | (pl.col(name) < 0))["row"].to_list():
            cell = quote(str(table.records[column][row]))
            wanted = "an event such as 3 or SCHEDULE" if name == "kind" else "a whole number of 0 or more"
            bad.setdefault(row, f"{column} is {cell}, expected {wanted}")
    good = events.filter(~pl.col("row").is_in(list(bad)))
    return good, [BadLine(table.line_of(row), reason) for row, reason in sorted(bad.items())]


def _cpus(records: pl.DataFrame) -> pl.Expr:
    if "resource_request" in records.columns:
        column = pl.col("resource_request")
        if isinstance(records.schema["resource_request"], pl.Struct):
            return column.struct.field("cpus").cast(pl.Float64, strict=False)
        return column.str.json_path_match("$.cpus").cast(pl.Float64, strict=False)
    name = next((name for name in _CPUS if name in records.columns), None)
    return pl.lit(None, pl.Float64) if name is None else pl.col(name).cast(pl.Float64, strict=False)


def _described(records: pl.DataFrame) -> dict[str, pl.Expr]:
    known = [name for name in ("collection_type", "priority", "scheduling_class") if name in records.columns]
    return {name: pl.col(name).cast(pl.String) for name in known}


def _tasks(events: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return a row for each task, and notes on instances that are left out."""
    notes: list[str] = []
    if "collection_type" in events.columns:
        is_set = pl.col("collection_type").is_in(["1", "ALLOC_SET"]).fill_null(False)
        sets = events.filter(is_set).select("collection", "index").n_unique()
        events = events.filter(~is_set)
        if sets:
            notes.append(f"{sets:,} instances of alloc sets are left out")
    owner = ["collection", "index"]
    ordered = events.filter(pl.col("time") < _AFTER).sort(*owner, "time", "row")
    following = pl.col("kind").is_between(_FIRST_END, _LAST_END)
    runs = (
        ordered.filter((pl.col("kind") == _SCHEDULE) | following)
        .with_columns(
            next_kind=pl.col("kind").shift(-1).over(owner), next_time=pl.col("time").shift(-1).over(owner)
        )
        .filter(pl.col("kind") == _SCHEDULE)
    )
    ended = pl.col("next_kind").is_between(_FIRST_END, _LAST_END)
    ran = runs.group_by(owner, maintain_order=True).agg(
        pl.col("time").first().alias("start"),
        pl.when(ended.fill_null(False).all()).then((pl.col("next_time") - pl.col("time")).sum()).alias("run"),
        pl.len().alias("starts"),
    )
    kept = [name for name in ("priority", "scheduling_class") if name in events.columns]
    submitted = ordered.group_by(owner, maintain_order=True).agg(
        pl.col("row").first(),
        pl.col("time").filter(pl.col("kind") == _SUBMIT).first().alias("submit"),
        pl.col("time").first().alias("first"),
        pl.col("cpus").max(),
        *(pl.col(name).first() for name in kept),
    )
    early = submitted.filter((pl.col("first") <= _BEFORE) | pl.col("submit").is_null())
    if len(early):
        notes.append(f"{len(early):,} instances were submitted before the trace and are left out")
    tasks = submitted.filter((pl.col("first") > _BEFORE) & pl.col("submit").is_not_null())
    tasks = tasks.join(ran, on=owner, how="left", maintain_order="left")
    again = tasks.filter(pl.col("starts") > 1)
    if len(again):
        notes.append(f"{len(again):,} tasks started more than once; their run time is that of all attempts")
    processors = (pl.col("cpus") * 100.0 - 1e-9).ceil().clip(1.0).fill_null(1.0).cast(pl.Int64)
    tasks = tasks.with_columns(
        processors=processors, task=pl.format("{}/{}", pl.col("collection"), pl.col("index"))
    )
    return tasks.drop("collection", "index", "first", "cpus", "starts"), notes
