"""The state of a site as the pages show it: running and waiting jobs, and machines. It is the content of a view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from windlass.io.json_errors import json_error
from windlass.model import InputError

#: The most jobs, and the most machines, that a state lists; further ones are counted only.
MOST = 300
#: The most jobs of the past in a state.
MOST_PAST = 300


@dataclass(frozen=True, slots=True)
class JobState:
    """A job that runs or waits.

    Parameters
    ----------
    id
        The job's identifier at its site.
    kind
        Its kind, such as ``batch job``.
    since
        When it started, or was submitted if it waits, s.
    cores
        Cores that it requests; 0 if unknown.
    why
        Why it started, or why it waits.
    request
        Requested run time, s; 0 for a job whose start no policy of the site's queue decides.
    """

    id: str
    kind: str
    since: float
    cores: int
    why: str
    request: float = 0.0


@dataclass(frozen=True, slots=True)
class PastJob:
    """A job that has ended: its submission, start and end (s), its cores, and its requested run time (s)."""

    submit: float
    start: float
    end: float
    cores: int
    request: float


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The queue of a site, as far as replays of it need more than its jobs.

    Parameters
    ----------
    policy, parameters
        The policy that orders it.
    free
        Cores that a job of the queue may take now.
    past
        The last jobs that ended, at most :data:`MOST_PAST`.
    """

    policy: str
    parameters: dict[str, Any] = field(default_factory=dict)
    free: int = 0
    past: tuple[PastJob, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineState:
    """A machine: a node, or an instance that was launched.

    Parameters
    ----------
    name
        Its name at the site.
    state
        ``up``, ``down``, ``drained``, ``starting`` or ``leaving``; of the machine of an agent ``accepting`` or
        ``rejecting``; or another word of the engine.
    cores, idle
        Cores, and those of them that no load holds.
    price
        Price, per hour; 0 for a node.
    note
        A line on its state; may be empty.
    """

    name: str
    state: str
    cores: int
    idle: int
    price: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeldCores:
    """The cores of a site that a load holds."""

    load: str
    cores: int


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """The state of a site at a time.

    Parameters
    ----------
    running, waiting
        Jobs, at most :data:`MOST` of each; waiting ones in the order of the queue.
    running_count, waiting_count
        Their numbers.
    cores, idle
        Cores that are up, and those of them that no load holds.
    held
        Cores by load, the largest first.
    machines
        Machines, at most :data:`MOST`.
    note
        A line on work that is not listed; may be empty.
    queue
        The queue of the jobs that have a request; None if there is none, or if the engine does not report it.
    lists_jobs
        False if jobs are counted only, or not known.

    Examples
    --------
    >>> state = SiteStatus((JobState("batch/1", "batch job", 5.0, 4, "head of the queue"),), (), 1, 0, 8, 4)
    >>> status_from_text(status_text(state)) == state
    True
    """

    running: tuple[JobState, ...]
    waiting: tuple[JobState, ...]
    running_count: int
    waiting_count: int
    cores: int = 0
    idle: int = 0
    held: tuple[HeldCores, ...] = ()
    machines: tuple[MachineState, ...] = ()
    note: str = ""
    queue: QueueStatus | None = None
    lists_jobs: bool = True

    @property
    def accepting(self) -> tuple[int, int] | None:
        """Of the machines of agents: those that accept tasks, and all; None if there is none of an agent.

        >>> node = MachineState("n1", "rejecting", 4, 0)
        >>> SiteStatus((), (), 0, 0, machines=(node,)).accepting, SiteStatus((), (), 0, 0).accepting
        ((0, 1), None)
        """
        states = [each.state for each in self.machines]
        if "accepting" not in states and "rejecting" not in states:
            return None
        return states.count("accepting"), len(states)


def status_text(state: SiteStatus) -> str:
    """Return a state as the content of a view, JSON."""
    return msgspec.json.encode(state).decode("utf-8")


def status_from_text(content: str) -> SiteStatus:
    """Read the content of a view.

    Raises
    ------
    InputError
        It is not the state of a site; the message names the field and its value.
    """
    try:
        return msgspec.json.decode(content, type=SiteStatus)
    except msgspec.MsgspecError as error:
        raise InputError(
            f"journal: a view is not the state of a site: {json_error(error, content, SiteStatus)}"
        ) from error
