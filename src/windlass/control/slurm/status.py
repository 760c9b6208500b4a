"""The state of a live Slurm as the pages show it: its queue in order, with reasons, and its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from windlass.control.site_status import MOST, HeldCores, JobState, MachineState, QueueStatus, SiteStatus
from windlass.control.slurm.node_cores import cores_held
from windlass.control.slurm.queue import may_start, queue_processors
from windlass.engines.slurm.models import JobRow, NodeRow, Phase
from windlass.engines.slurm.observer import SlurmPoll
from windlass.experiment.start_times.live import requested
from windlass.report.units import counted

#: Kinds of jobs: those that a policy orders, and those that Slurm schedules.
OWN, OTHER = "batch job", "Slurm's own job"


@dataclass(frozen=True, slots=True)
class StartReasons:
    """By job, the policy's reason to start it: of jobs that were started, and of those that a dry run would start."""

    started: Mapping[int, str] = field(default_factory=dict)
    proposed: Mapping[int, str] = field(default_factory=dict)


def site_status(poll: SlurmPoll, why: StartReasons, queue: QueueStatus | None = None) -> SiteStatus:
    """Return the state that a poll shows.

    Parameters
    ----------
    poll
        The poll.
    why
        The reasons of the policy.
    queue
        The queue, for replays; None if it is not replayed.

    Examples
    --------
    >>> from windlass.engines.slurm.models import NodeRow
    >>> status = site_status(SlurmPoll(5.0, [], [NodeRow("n1", 4, True, (), condition="up")], {}), StartReasons())
    >>> status.cores, status.idle, [machine.state for machine in status.machines]
    (4, 4, ['up'])
    """
    runs = [row for row in poll.jobs if row.phase is Phase.RUNS]
    waits = sorted(
        (row for row in poll.jobs if row.phase is Phase.WAITS),
        key=lambda row: (not row.opted_in, row.submit, row.job),
    )
    held = cores_held(runs, poll.nodes)
    up = [node for node in poll.nodes if node.up]
    idle = sum(node.procs - held[node.name] for node in up)
    return SiteStatus(
        running=tuple(_running(row, why.started) for row in sorted(runs, key=lambda row: -row.start)[:MOST]),
        waiting=tuple(_waiting(waits, poll, why, idle)),
        running_count=len(runs),
        waiting_count=len(waits),
        cores=sum(node.procs for node in up),
        idle=idle,
        held=_loads(runs),
        machines=tuple(_machine(node, held[node.name]) for node in poll.nodes[:MOST]),
        queue=queue,
    )


def _running(row: JobRow, why: Mapping[int, str]) -> JobState:
    reason = why.get(row.job)
    if reason is None:
        reason = "released for Windlass before" if row.opted_in else "started by Slurm"
    since = row.start or row.submit
    return JobState(str(row.job), _kind(row), since, row.procs, reason, requested(row.limit))


def _waiting(rows: Sequence[JobRow], poll: SlurmPoll, why: StartReasons, idle: int) -> list[JobState]:
    found, ahead, stuck, processors = list[JobState](), 0, poll.stuck, queue_processors(poll)
    for row in rows[:MOST]:
        text = _wait(row, stuck, why, ahead, idle)
        ahead += row.opted_in and row.held and not row.barred and row.job not in stuck
        request = requested(row.limit) if may_start(row, processors) else 0.0
        found.append(JobState(str(row.job), _kind(row), row.submit, row.procs, text, request))
    return found


def _wait(row: JobRow, stuck: Mapping[int, str], why: StartReasons, ahead: int, idle: int) -> str:
    if row.job in stuck:
        return f"cannot start: {stuck[row.job]}"
    if not row.opted_in:
        return f"left to Slurm: {row.reason}"
    if row.barred:
        return "held by an administrator"
    if not row.held:
        return f"released, Slurm starts it ({row.reason}): {why.started.get(row.job, 'by a driver')}"
    if row.job in why.proposed:
        return f"would be started now: {why.proposed[row.job]}"
    place = "first in the queue" if ahead == 0 else f"{counted(ahead, 'job')} ahead"
    text = f"{place}; needs {counted(row.procs, 'core')}, {idle:,} idle"
    return text if row.procs > idle or ahead == 0 else f"{text} for the jobs ahead"


def _kind(row: JobRow) -> str:
    return OWN if row.opted_in else OTHER


def _loads(rows: Sequence[JobRow]) -> tuple[HeldCores, ...]:
    cores = Counter[str]()
    for row in rows:
        cores["jobs of Windlass" if row.opted_in else "other jobs"] += row.procs
    return tuple(HeldCores(load, count) for load, count in cores.most_common())


def _machine(node: NodeRow, held: int) -> MachineState:
    return MachineState(
        node.name, node.condition or ("up" if node.up else "down"), node.procs, node.procs - held
    )
