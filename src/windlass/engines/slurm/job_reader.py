"""Reading of Slurm's jobs from JSON, in the shapes of Slurm 21.08 to 26.05."""

from __future__ import annotations

import re

import msgspec

from windlass.engines.slurm.misfits import describe_misfit, release_in
from windlass.engines.slurm.models import WAITS, JobRow
from windlass.engines.slurm.output import (
    as_utf8,
    check_errors,
    decode_loosely,
    decode_output,
    raise_errors,
    shape_error,
)
from windlass.engines.slurm.shapes import (
    JobShape,
    QueueShape,
    amount,
    is_zero,
    minutes,
    processors_in,
    state_of,
)
from windlass.model import BatchError

_QUEUE = msgspec.json.Decoder(QueueShape)
_JOBS = msgspec.json.Decoder(list[JobShape])
#: The list of jobs, up to the name of the first field of its first job.
_FIRST = re.compile(rb'"jobs"\s*:\s*\[\s*(\{\s*"(?:[^"\\]|\\.)*"\s*:)')


class JobReader:
    """Parses the output of ``squeue --json`` as it arrives, so that a long queue is never in memory as a whole.

    The list of jobs is cut wherever a job begins: at the name of the first field of the first job, which Slurm writes
    for each job. Such a place cannot lie within a string, as a quotation mark ends a string.

    Parameters
    ----------
    command
        The command, for messages.
    piece
        The output is parsed in steps of this many bytes.

    Examples
    --------
    >>> reader = JobReader()
    >>> reader.feed(b'{"jobs": [')
    >>> reader.feed(b'], "errors": []}')
    >>> reader.finish()
    []
    """

    def __init__(self, command: str = "squeue --json", piece: int = 1 << 18) -> None:
        self._command, self._piece, self._enough = command, piece, piece
        self._rows: list[JobRow] = []
        #: What came before the first job, and the beginning of each job.
        self._head, self._start = b"", b""
        #: What has not been parsed; once a job was found, with the bracket before it.
        self._left = bytearray()
        self._misfit = ""
        #: Slurm's errors that do not concern the list of jobs.
        self.notices: tuple[str, ...] = ()

    def feed(self, data: bytes) -> None:
        """Take in the next part of the output."""
        self._left += data
        if len(self._left) >= self._enough:
            self._parse()
            self._enough = max(self._piece, 2 * len(self._left))

    def finish(self) -> list[JobRow]:
        """Return the jobs, sorted by number.

        Raises
        ------
        BatchError
            Slurm reports an error and no jobs, or the output cannot be read; the message names the release, the job,
            the field and its value.
        """
        rest = self._head + bytes(self._left[1:] if self._head else self._left)
        tree = decode_output(_QUEUE, rest, self._command)
        release = release_in(tree.meta)
        if self._misfit:
            raise shape_error(self._command, release, self._misfit)
        if tree.jobs is None:
            raise_errors(tree.errors, self._command)
            raise shape_error(self._command, release, "there is no field jobs")
        rows = [*self._rows, *map(_job, tree.jobs)]
        self.notices = check_errors(tree.errors, bool(rows), self._command)
        return sorted(rows, key=lambda row: row.job)

    @property
    def printed(self) -> str:
        """The beginning of the output, for messages."""
        return bytes((self._head or self._left)[:1000]).decode(errors="replace")

    def problem(self) -> str:
        """Return what a command that failed printed: Slurm's errors in its JSON, or else its beginning."""
        if self.printed.lstrip().startswith("{"):
            try:
                self.finish()
            except BatchError as error:
                return str(error)
        return self.printed

    def _parse(self) -> None:
        """Parse all jobs that are complete but the last, which may be followed by the end of the output."""
        left = self._left
        if not self._head:
            first = _FIRST.search(left)
            if first is None:
                return
            self._head, self._start = bytes(left[: first.start(1)]), first[1]
            left[: first.start(1)] = b"["
        cut = left.rfind(self._start, 2)
        comma = cut - 1
        while comma > 0 and left[comma] in b" \t\r\n":
            comma -= 1
        if comma <= 0 or left[comma] != ord(","):
            return
        left[comma] = ord("]")
        try:
            self._take(left, comma + 1)
        except (msgspec.DecodeError, RecursionError):
            # What is no JSON is reported at the end.
            left[comma] = ord(",")
            return
        del left[1:cut]

    def _take(self, left: bytearray, end: int) -> None:
        try:
            with memoryview(left) as view, view[:end] as part:
                jobs = decode_loosely(_JOBS, part)
        except msgspec.ValidationError as error:
            # The release is only known at the end.
            self._misfit = self._misfit or describe_misfit(as_utf8(left[:end]), error)
        else:
            self._rows.extend(map(_job, jobs))


def read_jobs(text: str | bytes, command: str = "squeue --json") -> list[JobRow]:
    """Parse the jobs of ``squeue --json``, ``scontrol show job --json`` or slurmrestd, sorted by number.

    Raises
    ------
    BatchError
        See :meth:`JobReader.finish`.
    """
    reader = JobReader(command)
    reader.feed(text.encode(errors="replace") if isinstance(text, str) else text)
    return reader.finish()


def _job(row: JobShape) -> JobRow:
    state = state_of(row.job_state)
    waits = state in WAITS
    cpus = amount(row.cpus)
    if not waits and state != "COMPLETING":
        # Whole nodes and both threads of a core count, whatever was requested.
        cpus = max(cpus, processors_in(row.tres_alloc_str))
    procs = cpus or processors_in(row.tres_req_str if waits else row.tres_alloc_str)
    per_node, per_cpu = amount(row.memory_per_node), amount(row.memory_per_cpu)
    return JobRow(
        job=row.job_id,
        state=state,
        reason=row.state_reason or "",
        submit=float(amount(row.submit_time)),
        start=float(amount(row.start_time)),
        end=float(amount(row.end_time)),
        limit=minutes(row.time_limit),
        procs=procs,
        nodes=row.nodes or "",
        memory=(per_node * amount(row.node_count) or per_cpu * procs) << 20,
        name=row.name or "",
        comment=row.comment or "",
        user=row.user_name or "",
        partition=row.partition or "",
        held=waits and is_zero(row.priority),
        restarts=amount(row.restart_cnt),
        requeues=row.requeue,
        many=bool(row.array_task_string) or amount(row.array_job_id) > 0 or amount(row.het_job_id) > 0,
        suspended=float(amount(row.suspend_time)),
        ran_before=float(amount(row.pre_sus_time)),
        description=row.state_description or "",
        dependency=row.dependency or "",
        account=row.account or "",
        qos=row.qos or "",
        whole_nodes=max(1, amount(row.node_count)) if waits and _is_exclusive(row.shared) else 0,
    )


def _is_exclusive(shared: object) -> bool:
    # A word up to 22.05, a list of words later.
    return shared == "none" or (isinstance(shared, list) and "none" in shared)
