"""Reader of the published Philly log: ``cluster_job_log``, a JSON list of jobs with all of their attempts.

A job's run time is the sum of its attempts, without the time between them. It holds the GPUs of its largest attempt; a
processor is a GPU. Times have no time zone.

Source: Jeon et al., "Analysis of large-scale multi-tenant GPU clusters for DNN training workloads", USENIX ATC 2019.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from windlass.io.traces import fields
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.json_items import JsonItem, read_json_log, validate_item
from windlass.io.traces.logs.record import NEVER_RAN, STILL_RUNS, LoggedJob, Omission
from windlass.io.traces.logs.rows import UNKNOWN
from windlass.io.traces.trace import Trace


class _Held(JsonItem):
    gpus: tuple[str, ...] = ()


class _Attempt(JsonItem):
    start_time: str | None = None
    end_time: str | None = None
    detail: tuple[_Held, ...] = ()


class _Job(JsonItem):
    jobid: str
    submitted_time: str
    status: str = ""
    vc: str | None = None
    user: str | None = None
    attempts: tuple[_Attempt, ...] = ()


def looks_like_philly(head: str) -> bool:
    """Return whether a file begins like such a list.

    >>> looks_like_philly('[{"status": "Pass", "vc": "a", "jobid": "application_1", "attempts": []}]')
    True
    """
    return head.lstrip().startswith("[") and all(f'"{key}"' in head for key in ("jobid", "attempts"))


def read_philly_log(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read jobs of Philly, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the jobs that cannot be read; ``bad_lines`` counts jobs, from 1.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`: ``queue`` is the virtual cluster.

    Raises
    ------
    InputError
        The file cannot be read, has no job that ran, or has a job that cannot be read and ``skip_bad_lines`` is
        False.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cluster_job_log"
    >>> job = {"jobid": "application_1", "status": "Pass", "vc": "ee9e8c", "user": "ce2c5e",
    ...     "submitted_time": "2017-10-09 07:00:00", "attempts": [{"start_time": "2017-10-09 07:01:00",
    ...     "end_time": "2017-10-09 08:01:00", "detail": [{"ip": "m403", "gpus": ["gpu0", "gpu1"]}]}]}
    >>> _ = path.write_text(json.dumps([job]))
    >>> read_philly_log(path).records.select("wait", "run", "procs_requested", "queue").row(0)
    (60.0, 3600.0, 2, 'ee9e8c')
    """
    return read_json_log(Path(path), (), _logged, skip_bad_lines, lambda reading: ["a processor is a GPU"])


def _logged(item: object) -> LoggedJob | Omission:
    job = validate_item(_Job, item)
    started = [each for each in job.attempts if each.start_time not in (None, *UNKNOWN)]
    if not started:
        return NEVER_RAN
    if started[-1].end_time in (None, *UNKNOWN):
        return STILL_RUNS
    run = 0.0
    for attempt in started:
        if attempt.end_time in (None, *UNKNOWN):
            continue
        took = _at("end_time", attempt.end_time) - _at("start_time", attempt.start_time)
        if took < 0:
            raise UnreadableError.of(
                "end_time", str(attempt.end_time), "a time that is not before start_time"
            )
        run += took
    start = _at("start_time", started[0].start_time)
    gpus = max(sum(len(held.gpus) for held in attempt.detail) for attempt in started)
    return LoggedJob(
        submit=_at("submitted_time", job.submitted_time),
        run=run,
        start=start,
        job_id=job.jobid,
        procs_requested=gpus or None,
        user=job.user,
        queue=job.vc,
        state=job.status or None,
        gpus=float(gpus),
    )


def _at(field: str, text: str | None) -> float:
    # Some copies add the zone, as in 2017-10-09 07:02:39 PDT. It is ignored: all times of the log have the same one.
    words = (text or "").split()
    return fields.instant(
        field, " ".join(words[:2]) if len(words) == 3 and words[2].isalpha() else text or ""
    )
