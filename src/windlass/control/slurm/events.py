"""Events that polls of Slurm show: jobs submitted, started and ended, and nodes that fail or return.

An event has Slurm's own time, so that a process that is restarted finds which of them the journal has already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from windlass.control.journal import EventRecord, JobKey
from windlass.engines.slurm.models import JobRow, NodeRow, Phase
from windlass.report.units import counted, duration

#: The kind of an event, and its time, s.
_Seen = set[tuple[str, float]]


class QueueEvents:
    """Events of jobs and nodes, each of them once.

    Parameters
    ----------
    key
        Returns the key of a job's number, and that of the site for None.
    known
        Returns the kinds and times of a job's events that the journal has, when the job is first seen.

    Examples
    --------
    >>> from windlass.engines.slurm.models import NodeRow
    >>> events = QueueEvents(lambda job: JobKey("slurm", "iowa", str(job or "")), lambda job: set())
    >>> up, down = NodeRow("n1", 4, True, (), condition="up"), NodeRow("n1", 4, False, (), condition="drained")
    >>> [[each.text for each in events.of([], [node], 5.0)] for node in (up, down, down, up)]
    [[], ['n1: drained'], [], ['n1: up again']]
    """

    def __init__(
        self, key: Callable[[int | None], JobKey], known: Callable[[JobKey], set[tuple[str, float]]]
    ) -> None:
        self._key, self._known = key, known
        #: By job: its number of events so far, and the row of the last poll.
        self._seen: dict[int, _Seen] = {}
        self._rows: dict[int, JobRow] = {}
        self._nodes: dict[str, NodeRow] = {}

    def of(self, rows: Sequence[JobRow], nodes: Sequence[NodeRow], now: float) -> list[EventRecord]:
        """Return the events since the poll before, by their times.

        Parameters
        ----------
        rows, nodes
            The jobs and the nodes that Slurm lists.
        now
            Unix time of the poll, s.
        """
        found = [each for row in rows if self._rows.get(row.job) != row for each in self._new(row)]
        there = {row.job: row for row in rows}
        for job in self._rows.keys() - there.keys():
            found += self._gone(self._rows[job], now)
            del self._seen[job]
        self._rows = there
        found += self._changed(nodes, now)
        return sorted(found, key=lambda each: each.time)

    def _new(self, row: JobRow) -> Iterator[EventRecord]:
        key = self._key(row.job)
        if row.job not in self._seen:
            self._seen[row.job] = self._known(key)
        seen = self._seen[row.job]
        for kind, time, text in _implied(row):
            if (kind, time) not in seen:
                seen.add((kind, time))
                yield EventRecord(time, key, kind, text)

    def _gone(self, row: JobRow, now: float) -> Iterator[EventRecord]:
        if row.phase is not Phase.OVER:
            yield EventRecord(now, self._key(row.job), "ended", "Slurm no longer lists it")

    def _changed(self, nodes: Sequence[NodeRow], now: float) -> Iterator[EventRecord]:
        before, self._nodes = self._nodes, {node.name: node for node in nodes}
        for node in nodes if before else ():
            old = before.get(node.name)
            if old is None:
                yield EventRecord(now, self._key(None), "node", f"{node.name}: added, {node.condition}")
            elif old.condition != node.condition:
                text = "up again" if node.up else node.condition or "not available"
                yield EventRecord(now, self._key(None), "node", f"{node.name}: {text}")
        for name in before.keys() - self._nodes.keys():
            yield EventRecord(now, self._key(None), "node", f"{name}: removed")


def _implied(row: JobRow) -> Iterator[tuple[str, float, str]]:
    """Yield the events that a job's row shows: kind, time (s) and details."""
    limit = f" for {duration(row.limit)}" if row.limit < float("inf") else ""
    by = f"user {row.user}, {row.name}: " if row.name else f"user {row.user}: "
    if row.submit > 0:
        kind = "requeued" if row.restarts else "submitted"
        yield kind, row.submit, f"{by}requests {counted(row.procs, 'core')}{limit}"
    if row.start > 0 and (row.phase is Phase.RUNS or row.ran):
        yield "started", row.start, f"on {row.nodes}" if row.nodes else ""
    if row.phase is Phase.OVER:
        at = row.end or row.start or row.submit
        if row.ran:
            yield "ended", at, f"{row.state.lower()} after {max(0.0, row.end - row.start):.0f} s"
        else:
            yield "ended", at, row.state.lower()
