"""Room for the tasks that other sites spill to workers, and the result of tasks that ran elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import number
from windlass.sim.workers.setup import links
from windlass.sim.workers.state import (
    GUEST,
    NONE,
    REFUSED_END,
    WorkersProgress,
    WorkersSettings,
    WorkersState,
)

if TYPE_CHECKING:
    from windlass.sim.workers.part import WorkersPart


@dataclass(frozen=True, slots=True)
class Spill:
    """Where tasks go that all nodes of a site reject.

    Parameters
    ----------
    to
        Parts of other sites, in the order in which a task is tried there.
    delay
        Time from a refusal to the arrival at the next site, s.

    Raises
    ------
    InputError
        No target, one target twice, or a delay that is not above 0.
    """

    to: tuple[WorkersPart, ...]
    delay: float

    def __post_init__(self) -> None:
        number("delay", self.delay, 0.0, open_below=True)
        if not self.to or len({id(part) for part in self.to}) < len(self.to):
            raise InputError(f"to has {len(self.to)} parts, expected at least one, and none twice")


def with_guests(state: WorkersState, guests: int) -> WorkersState:
    """Return workers before their first task, with room for more guests.

    Parameters
    ----------
    state
        The workers.
    guests
        The most guests that may come in addition to those that there is room for.
    """
    settings, progress = WorkersSettings.of(state.settings), WorkersProgress.of(state.progress)
    own = (state.own_submit, state.own_work, state.own_sender)
    if not settings.spills:
        settings.spills, own = 1, (state.submit, state.work, state.sender)
    room, lows = len(own[0]) + len(state.guest) + guests, len(state.low_work)
    if lows:
        progress.free_node = room
    # Zeros take no memory until they are written.
    return state._replace(
        own_submit=own[0],
        own_work=own[1],
        own_sender=own[2],
        submit=np.zeros(room),
        work=np.zeros(room),
        end=np.full(room, np.nan),
        start=np.full(room if len(state.start) else 0, np.nan),
        worker=np.full(room if len(state.worker) else 0, NONE),
        sender=np.zeros(room if len(state.sender) else 0, np.int64),
        arrives=np.zeros(room if len(state.arrives) else 0),
        after=links(room, lows),
        origin=np.zeros(room, np.int64),
        guest=np.zeros(len(state.guest) + guests, GUEST),
        outbox=np.zeros(room, GUEST),
    )


def spill_to(part: WorkersPart, spills: Spill) -> None:
    """Let a part send refused tasks to others; see :meth:`~windlass.sim.workers.part.WorkersPart.spill`."""
    if part in spills.to or part.spills is not None:
        raise InputError("spill: expected targets other than the part, set once")
    for each in (part, *spills.to):
        _check(each.state)
    state = part.state
    tasks = len(state.own_submit) if len(part.group) > 1 else len(state.submit)
    for each in (part, *spills.to):
        each.replace_state(with_guests(each.state, 0 if each is part else tasks))
        WorkersSettings.of(each.state.settings).address = each.address
    part.spills = spills
    WorkersSettings.of(part.state.settings).spill_delay = spills.delay
    part.replace_state(part.state._replace(target=np.array([each.address for each in spills.to], np.int64)))
    joined = {id(each): each for one in (part, *spills.to) for each in one.group}.values()
    # Guests that arrive at one instant are in the order in which their homes were given their targets.
    before = [each for each in joined if each.spills is not None and each is not part]
    members = (*before, part, *(each for each in joined if each.spills is None))
    for each in members:
        each.group = members
    _join(members)


def _check(state: WorkersState) -> None:
    settings = WorkersSettings.of(state.settings)
    if WorkersProgress.of(state.progress).arrived > 0:
        raise InputError("spill: tasks have arrived, expected a call before the run")
    if settings.late_binding or settings.python_policy:
        raise InputError(
            "spill: a dispatch policy has reservations or is not compiled, expected another policy"
        )


def _join(members: Sequence[WorkersPart]) -> None:
    """Let parts know each other's addresses, and how long each may run alone."""
    window = min((part.spills.delay for part in members if part.spills is not None), default=math.inf)
    for rank, part in enumerate(members):
        settings, progress = WorkersSettings.of(part.state.settings), WorkersProgress.of(part.state.progress)
        settings.window, settings.rank = window, rank
        # Nothing is refused before the first arrival.
        progress.instant = float(part.state.own_submit[0]) - window
        others = np.array([each.address for each in members if each is not part], np.int64)
        part.replace_state(part.state._replace(group=others))


def own_tasks(state: WorkersState) -> WorkersState:
    """Return the workers with only the tasks of their own workload, in its order; a copy."""
    progress = WorkersProgress.of(state.progress)
    here = np.flatnonzero(state.origin[: progress.arrived] >= 0)
    end = np.full(len(state.own_submit), np.nan)
    end[: len(here)] = np.where(state.end[here] == REFUSED_END, np.nan, state.end[here])
    recorded = len(end) if len(state.start) else 0
    start, worker = np.full(recorded, np.nan), np.full(recorded, NONE)
    if recorded:
        start[: len(here)], worker[: len(here)] = state.start[here], state.worker[here]
    return state._replace(submit=state.own_submit, end=end, start=start, worker=worker)


def collect(address: int, targets: Sequence[WorkersPart], own: WorkersState) -> NDArray[np.int64]:
    """Add to a site's tasks the runs of those that it spilled, and return the target that ran each task, or -1.

    Parameters
    ----------
    address
        Address of the site's part.
    targets
        The parts to which it spilled tasks.
    own
        The site's tasks, which are changed.
    """
    site = np.full(len(own.submit), NONE)
    for place, part in enumerate(targets):
        state = part.state
        guest = state.guest[: WorkersProgress.of(state.progress).guests]
        guest = guest[(guest["home"] == address) & (guest["here"] != NONE)]
        guest = guest[state.end[guest["here"]] != REFUSED_END]
        task, here = guest["own"], guest["here"]
        site[task], own.end[task] = place, state.end[here]
        if len(own.start) and len(state.start):
            own.start[task], own.worker[task] = state.start[here], state.worker[here]
    return site
