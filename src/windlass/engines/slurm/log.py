"""Finished jobs of Slurm as a table that Windlass can simulate."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from windlass.engines.slurm.client import Client
from windlass.io.traces.logs.slurm_job import ended_unstarted
from windlass.model import BatchError, InputError

_COLUMNS = (
    "job",
    "submit",
    "start",
    "run",
    "procs",
    "request",
    "user",
    "partition",
    "state",
    "name",
    "submit_unix",
)
#: Columns with the size of the site, the same in each row; ``windlass run`` reads the processors.
_SITE_COLUMNS = ("site_procs", "site_nodes")
_SACCT = (
    "JobIDRaw",
    "Submit",
    "Start",
    "End",
    "AllocCPUS",
    "TimelimitRaw",
    "User",
    "Partition",
    "State",
    "JobName",
)
#: The beginning of a record of sacct.
_BEGIN = re.compile(r"[0-9]+\|")
#: A line of the text file. Each field that users choose lies between fields that only Slurm writes.
_LINE = re.compile(
    r"JobId=(?P<job>\d+) UserId=(?P<user>.*)\(\d+\) GroupId=.* Name=(?P<name>.*) JobState=(?P<state>\S+)"
    r" Partition=(?P<partition>\S*) TimeLimit=(?P<limit>\S+) StartTime=(?P<start>\S+) EndTime=(?P<end>\S+)"
    r" NodeList=\S* NodeCnt=(?P<nodes>\d+) ProcCnt=(?P<procs>\d+) WorkDir=.* SubmitTime=(?P<submit>\S+) EligibleTime="
)


#: States of a run after which the job was requeued, so that it is not finished.
_PUT_BACK = ("PENDING", "REQUEUED")


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A finished run of a job.

    Parameters
    ----------
    job
        Slurm's job number.
    submit, start, end
        Unix times in whole seconds.
    procs
        Allocated processors.
    request
        Its time limit, s; None without a limit.
    user, partition, state, name
        As Slurm writes them.
    """

    job: int
    submit: int
    start: int
    end: int
    procs: int
    request: int | None
    user: str
    partition: str
    state: str
    name: str


@dataclass(frozen=True, slots=True)
class SlurmJobLog:
    """Finished jobs in order of submission, and the number of excluded records: jobs that never ran, or ran again.

    With duplicates, a requeued job is listed once for each run.
    """

    jobs: tuple[EndedJob, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class SiteSize:
    """The number of processors and of nodes of a cluster."""

    procs: int
    nodes: int


def read_site(client: Client) -> SiteSize:
    """Return the size of a cluster: all of its nodes count, whether jobs may start on them now or not.

    Raises
    ------
    BatchError, InputError
        Slurm does not list its nodes.
    """
    nodes = client.nodes()
    return SiteSize(sum(node.procs for node in nodes), len(nodes))


def read_log(client: Client, duplicates: bool = False) -> SlurmJobLog:
    """Read the finished jobs of a cluster, from its accounting or else from its job completion file.

    Parameters
    ----------
    client
        Slurm.
    duplicates
        True to list every run of a requeued job, as ``sacct --duplicates`` does; False to list only the last.

    Raises
    ------
    InputError
        The cluster keeps neither record; the message names the settings that enable them.
    BatchError
        Slurm does not answer, or a line cannot be read; the message names the line.
    """
    # Newer releases print the names of plugins as they were set, with or without their kind.
    if client.setting("AccountingStorageType").rpartition("/")[2] == "slurmdbd":
        return read_sacct(client.accounting(_SACCT, duplicates), duplicates)
    kind, place = client.setting("JobCompType"), client.setting("JobCompLoc")
    if kind.rpartition("/")[2] != "filetxt":
        raise InputError(
            "this Slurm keeps no record of ended jobs: expected AccountingStorageType=accounting_storage/slurmdbd"
            f" or JobCompType=jobcomp/filetxt, found JobCompType={kind or 'none'}"
        )
    try:
        text = Path(place).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        text = ""
    except OSError as error:
        raise InputError(f"{place}: {error.strerror}") from error
    return read_completed(text, place, duplicates)


def read_completed(text: str, name: str, duplicates: bool = False) -> SlurmJobLog:
    """Parse a file written by ``jobcomp/filetxt``, with local times.

    It has a line for each run. ``duplicates`` is as in :func:`read_log`.

    Raises
    ------
    BatchError
        A line cannot be read; the message names the line.
    """
    found: list[EndedJob | None] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        fields = _LINE.match(line)
        if fields is None:
            raise BatchError(f"{name}, line {number}: cannot be read, expected what jobcomp/filetxt writes")
        try:
            found.append(_completed(fields))
        except (ValueError, OverflowError) as error:
            raise BatchError(f"{name}, line {number}: cannot be read: {error}") from error
    return _in_order(found, duplicates)


def _completed(fields: re.Match[str]) -> EndedJob | None:
    """Return the run of a line; None for a job that never ran."""
    times = fields.group("submit", "start", "end")
    if fields["nodes"] == "0" or "Unknown" in times:
        return None
    submit, start, end = (int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))) for text in times)
    request = int(fields["limit"]) * 60 if fields["limit"].isdecimal() else None
    words = fields.group("user", "partition", "state", "name")
    return EndedJob(int(fields["job"]), submit, start, end, int(fields["procs"]), request, *words)


def read_sacct(text: str, duplicates: bool = False) -> SlurmJobLog:
    """Parse the output of ``sacct --parsable2 --noheader`` with the fields of this module, and Unix times.

    ``duplicates`` is as in :func:`read_log`; without it a job is listed once, even if the text has all of its runs.

    Raises
    ------
    BatchError
        A line cannot be read; the message names the line.
    """
    found: list[EndedJob | None] = []
    for number, line in _records(text):
        # The name is the last field, as it may contain the separator.
        cells = line.split("|", len(_SACCT) - 1)
        try:
            job, submit, start, end, procs, limit, user, partition, state, name = cells
            ran = start.isdecimal() and end.isdecimal() and procs not in ("", "0")
            request = int(limit) * 60 if limit.isdecimal() else None
            rest = (user, partition, state.partition(" ")[0], name)
            row = (
                EndedJob(int(job), int(submit), int(start), int(end), int(procs), request, *rest)
                if ran
                else None
            )
        except ValueError as error:
            raise BatchError(f"sacct, line {number}: cannot be read: {error}") from error
        found.append(row)
    return _in_order(found, duplicates)


def _records(text: str) -> Iterator[tuple[int, str]]:
    """Return each record and the number of its first line; the name of a job may contain line ends."""
    record, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if record and _BEGIN.match(line) is None and line.count("|") < len(_SACCT) - 1:
            record += f"\n{line}"
            continue
        if record:
            yield first, record.rstrip("\n")
        record, first = (line, number) if line.strip() else ("", 0)
    if record:
        yield first, record.rstrip("\n")


def _in_order(found: Sequence[EndedJob | None], duplicates: bool) -> SlurmJobLog:
    """Sort the runs by submission; without ``duplicates``, keep only the last run of each job."""
    runs = [
        row
        for row in found
        if row is not None
        and row.end >= row.start
        and not ended_unstarted(row.state, row.end - row.start, row.procs)
    ]
    if not duplicates:
        # A requeued run is not the last: the job waits, or has a later record.
        runs = list({row.job: row for row in runs if row.state not in _PUT_BACK}.values())
    jobs = tuple(sorted(runs, key=lambda row: (row.submit, row.job, row.start)))
    return SlurmJobLog(jobs, len(found) - len(jobs))


def write_log(jobs: Iterable[EndedJob], out: TextIO, site: SiteSize | None = None) -> None:
    """Write jobs as CSV; ``submit`` and ``start`` count from the first submission, s.

    Parameters
    ----------
    jobs
        The jobs, in order of submission.
    out
        Where to write.
    site
        The size of the cluster, repeated in each row; None if it is not known.

    Examples
    --------
    >>> import sys
    >>> job = EndedJob(7, 100, 103, 110, 2, 60, "ann", "main", "COMPLETED", "x")
    >>> write_log([job], sys.stdout, SiteSize(8, 4))
    job,submit,start,run,procs,request,user,partition,state,name,submit_unix,site_procs,site_nodes
    7,0,3,7,2,60,ann,main,COMPLETED,x,100,8,4
    """
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(_COLUMNS + (() if site is None else _SITE_COLUMNS))
    size = () if site is None else (site.procs, site.nodes)
    first: int | None = None
    for job in jobs:
        first = job.submit if first is None else first
        request = "" if job.request is None else job.request
        times = (job.submit - first, job.start - first, job.end - job.start)
        words = (job.user, job.partition, job.state, job.name)
        rows.writerow((job.job, *times, job.procs, request, *words, job.submit, *size))
