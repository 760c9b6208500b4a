"""Jobs of Slurm's that have ended, as a table that Windlass runs again."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from windlass.engines.slurm.client import Client
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
#: A line of the text file. What users may write as they like is between what only Slurm writes.
_LINE = re.compile(
    r"JobId=(?P<job>\d+) UserId=(?P<user>.*)\(\d+\) GroupId=.* Name=(?P<name>.*) JobState=(?P<state>\S+)"
    r" Partition=(?P<partition>\S*) TimeLimit=(?P<limit>\S+) StartTime=(?P<start>\S+) EndTime=(?P<end>\S+)"
    r" NodeList=\S* NodeCnt=(?P<nodes>\d+) ProcCnt=(?P<procs>\d+) WorkDir=.* SubmitTime=(?P<submit>\S+) EligibleTime="
)


#: States of a run after which the job was put back into the queue: it is not over.
_PUT_BACK = ("PENDING", "REQUEUED")


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A run of a job.

    Parameters
    ----------
    job
        Slurm's number.
    submit, start, end
        Unix times in whole seconds.
    procs
        Processors that it held.
    request
        Its time limit, s; None where it had none.
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
    """Ended jobs in order of submission, and how many records were left out, as these jobs never ran or ran again.

    Where every run was asked for, a job that was put back into the queue is there once for each.
    """

    jobs: tuple[EndedJob, ...]
    left_out: int


def read_log(client: Client, duplicates: bool = False) -> SlurmJobLog:
    """The ended jobs of a cluster: of its accounting where it has one, or else of its file of completed jobs.

    Parameters
    ----------
    client
        Slurm.
    duplicates
        Whether every run of a job counts that was put back into the queue, and not its last alone, as by ``sacct
        --duplicates``.

    Raises
    ------
    InputError
        It keeps neither; says which settings do.
    BatchError
        Slurm does not answer, or a line cannot be read; names it.
    """
    if client.setting("AccountingStorageType") == "accounting_storage/slurmdbd":
        return read_sacct(client.accounting(_SACCT, duplicates), duplicates)
    kind, place = client.setting("JobCompType"), client.setting("JobCompLoc")
    if kind != "jobcomp/filetxt":
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
    """The jobs of a file that ``jobcomp/filetxt`` writes; times in it are local.

    It has a line for each run. ``duplicates`` is as of :func:`read_log`.

    Raises
    ------
    BatchError
        A line cannot be read; names it.
    """
    found: list[EndedJob | None] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        fields = _LINE.match(line)
        if fields is None:
            raise BatchError(
                f"{name}, line {number}: cannot be read, expected what jobcomp/filetxt of Slurm 22.05 writes"
            )
        try:
            found.append(_completed(fields))
        except (ValueError, OverflowError) as error:
            raise BatchError(f"{name}, line {number}: cannot be read: {error}") from error
    return _in_order(found, duplicates)


def _completed(fields: re.Match[str]) -> EndedJob | None:
    """The run of a line; None where the job never ran."""
    times = fields.group("submit", "start", "end")
    if fields["nodes"] == "0" or "Unknown" in times:
        return None
    submit, start, end = (int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))) for text in times)
    request = int(fields["limit"]) * 60 if fields["limit"].isdecimal() else None
    words = fields.group("user", "partition", "state", "name")
    return EndedJob(int(fields["job"]), submit, start, end, int(fields["procs"]), request, *words)


def read_sacct(text: str, duplicates: bool = False) -> SlurmJobLog:
    """The jobs of ``sacct --parsable2 --noheader`` with the fields of this module, and Unix times.

    ``duplicates`` is as of :func:`read_log`; without it a job counts once, also where the text has all of its runs.

    Raises
    ------
    BatchError
        A line cannot be read; names it.
    """
    found: list[EndedJob | None] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        # The name comes last, as it may have the separator in it.
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


def _in_order(found: Sequence[EndedJob | None], duplicates: bool) -> SlurmJobLog:
    """Of a job that ran more than once, its last run counts, or each of them."""
    runs = [row for row in found if row is not None and row.end >= row.start]
    if not duplicates:
        # A run that was put back into the queue is not the last: the job waits, or has another record by now.
        runs = list({row.job: row for row in runs if row.state not in _PUT_BACK}.values())
    jobs = tuple(sorted(runs, key=lambda row: (row.submit, row.job, row.start)))
    return SlurmJobLog(jobs, len(found) - len(jobs))


def write_log(jobs: Iterable[EndedJob], out: TextIO) -> None:
    """Write jobs as CSV; ``submit`` and ``start`` count from the first submission, s.

    Examples
    --------
    >>> import sys
    >>> write_log([EndedJob(7, 100, 103, 110, 2, 60, "ann", "main", "COMPLETED", "x")], sys.stdout)
    job,submit,start,run,procs,request,user,partition,state,name,submit_unix
    7,0,3,7,2,60,ann,main,COMPLETED,x,100
    """
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(_COLUMNS)
    first: int | None = None
    for job in jobs:
        first = job.submit if first is None else first
        asked = "" if job.request is None else job.request
        times = (job.submit - first, job.start - first, job.end - job.start)
        words = (job.user, job.partition, job.state, job.name)
        rows.writerow((job.job, *times, job.procs, asked, *words, job.submit))
