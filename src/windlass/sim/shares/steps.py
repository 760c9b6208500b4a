"""Compiled steps of sharing, for instants at which nothing happens to a pair and no checkpoint is due.

The part is called at each instant of its site. Unless a job has started or ended, a stage or a promise of a pair is
over, late guests are in the way of the head of the queue, or a checkpoint is due, there is nothing to do. These steps
find that out; otherwise they return :data:`IN_PYTHON`, and the part in Python carries out the whole step.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined
from windlass.jit.schema import Scalars, numba_type
from windlass.sim.handle import opening
from windlass.sim.nodes import free_for
from windlass.sim.part import ABSENT, Entries, Part
from windlass.sim.site.loop import opened as opened_site
from windlass.sim.status import FIRST_OWN, REACHED

#: Status of a step that the part carries out in Python.
IN_PYTHON = FIRST_OWN


class ShareCounts(Scalars):
    """What the part has seen last.

    ``running``, ``ended``, ``lost``: jobs of the site that run, have ended, and were killed. At least one of these
    differs after a job has started or ended. ``pairs``: pairs that share. ``late``: processors of guests, and of former
    guests, beyond their promised ends that can make way. ``wanted``: whether checkpoints are wanted.
    """

    running: int = -1
    ended: int
    lost: int
    pairs: int
    late: int
    wanted: int


class ShareClock(Scalars):
    """Instants, s; infinity for never.

    ``now``: the last instant. ``last``: the last checkpoint. ``every``: time between checkpoints. ``stage_end``: the
    first end of a stage of a pair. ``promise``: the next promised end of a guest.
    """

    now: float = -np.inf
    last: float = -np.inf
    every: float
    stage_end: float = np.inf
    promise: float = np.inf


class ShareRun(NamedTuple):
    """The state of the steps, with the address of the site's state."""

    site: int
    counts: Annotated[NDArray[np.void], ShareCounts]
    clock: Annotated[NDArray[np.void], ShareClock]


RUN_TYPE = numba_type(ShareRun)
_opened = opening(RUN_TYPE)


@inlined
def _in_the_way(run, late):
    """Return whether the head of the queue lacks processors, and late guests have enough of them."""
    site, own = run.site, run.site.counts[0]
    need = run.nodes.owed[own.site] - free_for(run.nodes, own.site, own.part)
    if own.queue_tail > own.queue_head:
        need += site.procs[site.queue[own.queue_head]]
    return 0 < need <= late


def _decide(address, now):
    """Take note of an instant at which nothing is to be done, as ``SharesPart.decide`` does."""
    shares = _opened(address)
    counts, clock, run = shares.counts[0], shares.clock[0], opened_site(shares.site)
    own = run.site.counts[0]
    if own.running != counts.running or own.ended != counts.ended or own.lost != counts.lost:
        return IN_PYTHON
    if now >= clock.stage_end or now >= clock.promise or (counts.late > 0 and _in_the_way(run, counts.late)):
        return IN_PYTHON
    wanted = counts.pairs > 0 or own.queue_tail > own.queue_head
    if wanted and now >= clock.last + clock.every:
        return IN_PYTHON
    clock.now, counts.wanted = now, wanted
    return REACHED


def _horizon(address):
    """Return the time of the next checkpoint, end of a stage of a pair, or promised end, s."""
    shares = _opened(address)
    counts, clock = shares.counts[0], shares.clock[0]
    checkpoint = max(clock.now, clock.last + clock.every) if counts.wanted != 0 else np.inf
    return min(checkpoint, clock.stage_end, clock.promise)


DECIDE = Kernel(_decide, types.int64(types.int64, types.float64), allocates=False)
HORIZON = Kernel(_horizon, types.float64(types.int64), allocates=False)
KERNELS = (DECIDE, HORIZON)


def entries_of(part: Part, address: int) -> Entries:
    """Return the compiled steps of a part of sharing.

    Parameters
    ----------
    part
        The part, which completes them.
    address
        Address of its :class:`ShareRun`.
    """
    return Entries(
        address,
        run=ABSENT,
        steps=0,
        settle=ABSENT,
        decide=DECIDE.as_argument().entry,
        horizon=HORIZON.as_argument().entry,
        ended=ABSENT,
        advanced=lambda _, until: until,
        settled=lambda _, now: None,
        decided=lambda _, now: part.decide(now),
    )


def make_run(site: int, every: float) -> ShareRun:
    """Return the state of the steps before the first instant.

    Parameters
    ----------
    site
        Address of the state of the site.
    every
        Time between checkpoints, s.
    """
    run = ShareRun(site, ShareCounts.array(), ShareClock.array())
    ShareClock.of(run.clock).every = every
    return run
