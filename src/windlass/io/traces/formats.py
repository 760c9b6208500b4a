"""The formats of logs, and the detection of a file's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from windlass.io import tables
from windlass.io.traces.compression import is_parquet
from windlass.io.traces.files import check_is_file, check_kind, read_head, uncompressed_name
from windlass.io.traces.jsonl import looks_like_json_lines
from windlass.io.traces.logs.fdata import FDATA
from windlass.io.traces.logs.google import looks_like_google, read_google
from windlass.io.traces.logs.helios import looks_like_helios, read_helios_log
from windlass.io.traces.logs.kubectl import looks_like_kubectl, read_kubectl
from windlass.io.traces.logs.lsf import looks_like_lsf, read_lsf
from windlass.io.traces.logs.openb import looks_like_openb, read_openb_log
from windlass.io.traces.logs.pai import PAI_INSTANCES, PAI_TASKS
from windlass.io.traces.logs.pbs import looks_like_pbs, read_pbs
from windlass.io.traces.logs.philly import looks_like_philly, read_philly_log
from windlass.io.traces.logs.pm100 import PM100
from windlass.io.traces.logs.ray_jobs import looks_like_ray_jobs, read_ray_jobs
from windlass.io.traces.logs.sacct import looks_like_sacct, read_sacct
from windlass.io.traces.logs.sacct_json import looks_like_sacct_json, read_sacct_json
from windlass.io.traces.swf import looks_like_swf, read_swf
from windlass.io.traces.table import looks_like_table, read_csv, read_jsonl, read_parquet
from windlass.io.traces.trace import Trace
from windlass.model import InputError
from windlass.model.nearest import did_you_mean


@dataclass(frozen=True, slots=True)
class Format:
    """A readable format.

    Parameters
    ----------
    name
        Name of the format on the command line.
    suffixes
        Suffixes of the names of its files.
    summary
        Short description of the format.
    read
        Its reader, called with a path and whether to skip bad lines.
    matches
        Returns whether the beginning of a file identifies the format.
    read_table
        The reader of a format whose columns the user may name, called with these columns, too.
    in_parquet
        Whether a file may be in Parquet; ``matches`` is then called with the names of its columns, too.
    """

    name: str
    suffixes: tuple[str, ...]
    summary: str
    read: Callable[[Path, bool], Trace]
    matches: Callable[[str], bool] = lambda head: False
    read_table: Callable[[Path, bool, Mapping[str, str]], Trace] | None = None
    in_parquet: bool = False


FORMATS = (
    Format(
        "swf",
        (".swf",),
        "Standard Workload Format 2.2, the 18 columns of the Parallel Workloads Archive",
        read_swf,
        looks_like_swf,
    ),
    Format(
        "csv",
        (".csv", ".tsv", ".psv"),
        "A table with columns submit, run and procs, and if known request and job",
        read_csv,
        read_table=read_csv,
    ),
    Format("parquet", (".parquet",), "The same table as Parquet", read_parquet, read_table=read_parquet),
    Format("sacct", (), "Slurm, sacct --parsable2 with any columns", read_sacct, looks_like_sacct),
    Format("sacct-json", (), "Slurm, sacct --json", read_sacct_json, looks_like_sacct_json),
    Format("pbs", (), "PBS and Torque, accounting files", read_pbs, looks_like_pbs),
    Format("lsf", (), "LSF, lsb.acct", read_lsf, looks_like_lsf),
    Format("kubectl", (), "Kubernetes, kubectl get pods -o json", read_kubectl, looks_like_kubectl),
    Format("ray", (), "Ray, jobs as the dashboard lists them (JSON)", read_ray_jobs, looks_like_ray_jobs),
    Format(
        "philly", (), "Microsoft Philly, cluster_job_log as published", read_philly_log, looks_like_philly
    ),
    Format("helios", (), "Helios, cluster_log.csv as published", read_helios_log, looks_like_helios),
    Format("openb", (), "Alibaba's openb, pods as published", read_openb_log, looks_like_openb),
    Format(
        "google",
        (),
        "Google 2019, instance_events as published",
        read_google,
        looks_like_google,
        in_parquet=True,
    ),
    Format(
        "pai-tasks",
        (),
        "Alibaba's GPU trace of 2020, pai_task_table with its header",
        PAI_TASKS.read,
        PAI_TASKS.matches,
        in_parquet=True,
    ),
    Format(
        "pai-instances",
        (),
        "Alibaba's GPU trace of 2020, pai_instance_table with its header",
        PAI_INSTANCES.read,
        PAI_INSTANCES.matches,
        in_parquet=True,
    ),
    Format("pm100", (), "PM100, jobs of Marconi100 as published", PM100.read, PM100.matches, in_parquet=True),
    Format("fdata", (), "F-DATA, jobs of Fugaku as published", FDATA.read, FDATA.matches, in_parquet=True),
    Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        "The same table as JSON, an object per line or a list of objects",
        read_jsonl,
        looks_like_json_lines,
        read_table=read_jsonl,
    ),
)
#: Number of bytes at the beginning of a file from which its format is detected.
_HEAD = 65_536
#: Formats whose suffixes no other format uses.
_CERTAIN = frozenset({"swf"})


def read_trace(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - the natural keyword for callers
    skip_bad_lines: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Trace:
    """Read a log in any of :data:`FORMATS`.

    Parameters
    ----------
    path
        The file.
    format
        The name of its format; by default detected from the first lines, or else from the suffix.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.
    columns
        Columns of a table by field, such as ``{"submit": "Queued at"}``.

    Returns
    -------
    Trace
        The unchanged records of the file; :func:`to_workload` converts them to jobs.

    Raises
    ------
    InputError
        There is no such file or format, the suffix is unknown, the format has fixed columns, or the reader rejects the
        file.

    Examples
    --------
    >>> read_trace("jobs.txt")
    Traceback (most recent call last):
    windlass.model.errors.InputError: jobs.txt: no such file
    """
    file = Path(path)
    check_is_file(file)
    if not columns:
        chosen = _detect(file) if format is None else _by_name(format)
        return chosen.read(file, skip_bad_lines)
    chosen = _detected_table(file) if format is None else _by_name(format)
    if chosen.read_table is None:
        able = _listed([known.name for known in FORMATS if known.read_table is not None])
        raise InputError(f"{file}: columns are given, but those of {chosen.name} are fixed, expected {able}")
    return chosen.read_table(file, skip_bad_lines, columns)


def format_of(path: str | PathLike[str]) -> str | None:
    """Return the name of a file's format, detected from the first lines, or else from the suffix; None if unknown.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        There is no such file.

    Examples
    --------
    >>> format_of("examples/log.swf")
    'swf'
    """
    file = Path(path)
    check_is_file(file)
    found = _detected(file)
    return None if found is None else found.name


def _by_name(name: str) -> Format:
    for known in FORMATS:
        if known.name == name:
            return known
    names = [known.name for known in FORMATS]
    raise InputError(f"format {name!r} is unknown, expected {_listed(names)}{did_you_mean(name, names)}")


def _detect(file: Path) -> Format:
    """Detect the format, or raise."""
    found = _detected(file)
    if found is not None:
        return found
    check_kind(file)
    if _is_json(read_head(file, _HEAD)):
        raise InputError(
            f"{file}: JSON of no known form, expected a job per line or a list of jobs with submit, run and procs, or "
            "the JSON of sacct, of kubectl get pods or of Ray's dashboard"
        )
    suffixes = [suffix for known in FORMATS for suffix in known.suffixes]
    names = _listed([known.name for known in FORMATS])
    raise InputError(f"{file}: unknown suffix, expected {_listed(suffixes)}, or a format by name: {names}")


def _detected(file: Path) -> Format | None:
    """Detect the format from the content, since a log of Slurm may have the suffix .csv; otherwise from the suffix."""
    named = _by_suffix(file)
    if named is not None and named.name in _CERTAIN:
        return named
    if is_parquet(file):
        head = ",".join(tables.parquet_names(file)) + "\n"
        found = next((known for known in FORMATS if known.in_parquet and known.matches(head)), None)
        return found or _by_name("parquet")
    head = read_head(file, _HEAD)
    found = next((known for known in FORMATS if known.matches(head)), named)
    if found is not None:
        return found
    return _by_name("csv") if looks_like_table(head) and not _is_json(head) else None


def _detected_table(file: Path) -> Format:
    """Detect the format of a table whose columns the user names."""
    named = _by_suffix(file)
    if named is not None and named.name in _CERTAIN:
        return named
    if (named is not None and named.name == "parquet") or is_parquet(file):
        return _by_name("parquet")
    return _by_name("jsonl" if _is_json(read_head(file, _HEAD)) else "csv")


def _is_json(head: str) -> bool:
    return head.lstrip().startswith(("{", "["))


def _by_suffix(file: Path) -> Format | None:
    name = uncompressed_name(file).lower()
    return next((known for known in FORMATS if name.endswith(known.suffixes)), None)


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1]
