"""The coordination of parts as arrays, and the links that say which parts an instant concerns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit.schema import Scalars, allocate, column, numba_type
from windlass.model import InputError
from windlass.sim.handle import opening
from windlass.sim.ledger import Ledger
from windlass.sim.part import ABSENT, Concerns, Entries, Part

_Numbers = NDArray[np.int64]

#: Phases of an instant.
BEGIN, ADVANCE, ALTER, SETTLE, DECIDE, CLOSE = range(6)


class InstantCounts(Scalars):
    """Where the coordination is, and what it leaves to Python.

    ``phase``: the phase of the instant. ``turn``: the part that decides next. ``rounds``: settlements since the last
    decision. ``repeats``: earlier rounds at this instant. ``instants``: rounds so far. ``part``, ``status``: the part
    of a request, and the status of its compiled function. ``many``: limit of ``rounds`` and ``repeats``.
    ``check_every``: rounds between two requests to check for work that waits in vain. ``behind``: whether this round
    only lets parts catch up.
    """

    phase: int = CLOSE
    turn: int
    rounds: int
    repeats: int
    instants: int
    part: int
    status: int
    many: int
    check_every: int
    behind: int


class InstantClock(Scalars):
    """``now``: the instant, s. ``until``: the time to which the called parts advance, s."""

    now: float = -np.inf
    until: float = -np.inf


class PartSteps(Scalars):
    """A part of the coordination: its compiled steps, and where it is.

    ``address``: the part's state. ``run``, ``alter``, ``settle``, ``decide``, ``look``, which returns the horizon, and
    ``finish``, which returns whether all work has ended: addresses of machine code; 0 for a part in Python, -1 for a
    step that the part does not have. ``steps``: steps of its loop between two reports of its progress. ``always``: 1 if
    all parts are called at every instant.

    ``horizon``: the next instant at which the part is due, s. ``reached``: the time to which it has advanced, s.
    ``called``: 1 if the instant concerns it. ``advanced``, ``decided``: 1 after that step of this round. ``unsettled``:
    1 if it has not seen the rows to settle. ``ended``: 1 if all its work had ended when it was last called. ``done``: 1
    after its loop has reported its end.
    """

    address: int
    run: int
    steps: int
    alter: int
    settle: int
    decide: int
    look: int
    finish: int
    always: int
    horizon: float
    reached: float = -np.inf
    called: int = 1
    advanced: int = 1
    decided: int = 1
    unsettled: int
    ended: int
    done: int


class Instants(NamedTuple):
    """The coordination as arrays.

    Axes: ``parts``; ``sites`` of the ledger; ``watchers``, parts that watch a site, site by site; ``mates``, parts that
    are called with a part, part by part.
    """

    ledger: int  # address of the ledger
    parts: Annotated[NDArray[np.void], column("parts", dtype=PartSteps.dtype)]
    watch_first: Annotated[_Numbers, column("site_ends")]
    watcher: Annotated[_Numbers, column("watchers")]
    mate_first: Annotated[_Numbers, column("part_ends")]
    mate: Annotated[_Numbers, column("mates")]
    counts: Annotated[NDArray[np.void], InstantCounts]
    clock: Annotated[NDArray[np.void], InstantClock]


INSTANTS = numba_type(Instants)
opened = opening(INSTANTS)


def make_instants(
    parts: Sequence[Part], steps: Sequence[Entries], ledger: Ledger, many: int, check_every: int
) -> Instants:
    """Return the coordination of some parts before their first instant.

    Parameters
    ----------
    parts
        The parts, in the order in which they decide.
    steps
        The steps of each part.
    ledger
        The ledger whose changes they watch.
    many
        Limit of repetitions at one instant.
    check_every
        Number of instants between two checks for work that waits in vain.

    Raises
    ------
    InputError
        A part reads a part that is not in ``parts``.
    """
    concerns = [part.concerns() for part in parts]
    sites = len(ledger.nodes.total)
    # A part that declares nothing may read or change any other: all parts are then called at every instant.
    always = any(each is None for each in concerns)
    watched = [
        [at for at, each in enumerate(concerns) if each is not None and site in each.sites]
        for site in range(sites)
    ]
    mates = _mates(parts, [Concerns() if each is None else each for each in concerns])
    made = allocate(
        Instants,
        {
            "parts": len(parts),
            "site_ends": sites + 1,
            "watchers": sum(map(len, watched)),
            "part_ends": len(parts) + 1,
            "mates": sum(map(len, mates)),
        },
        ledger=ledger.address,
        parts=PartSteps.array(len(parts)),
        watch_first=_firsts(watched),
        watcher=[at for each in watched for at in each],
        mate_first=_firsts(mates),
        mate=[at for each in mates for at in each],
    )
    counts = InstantCounts.of(made.counts)
    counts.many, counts.check_every = many, check_every
    for at, entries in enumerate(steps):
        part = PartSteps.of(made.parts[at : at + 1])
        part.address, part.run, part.steps, part.always = entries.address, entries.run, entries.steps, always
        part.alter, part.settle, part.decide = entries.alter, entries.settle, entries.decide
        part.look, part.finish = entries.horizon, entries.ended
        if entries.alone != ABSENT and not always and not mates[at] and not any(at in each for each in mates):
            own = [site for site in range(sites) if at in watched[site]]
            if all(_is_alone_at(site, watched[site], ledger) for site in own):
                part.look = entries.alone
    return made


def _is_alone_at(site: int, watchers: Sequence[int], ledger: Ledger) -> bool:
    """Return whether no other part changes the rows of a part's site, or has to see their changes."""
    return len(watchers) == 1 and bool((ledger.nodes.watched[ledger.rows(site)] < 2).all())


def _mates(parts: Sequence[Part], concerns: Sequence[Concerns]) -> list[list[int]]:
    """Return the parts to be called with each part: those that it reads, or that are to be called with it, in turn."""
    number = {id(part): at for at, part in enumerate(parts)}
    following: list[set[int]] = [set() for _ in parts]
    for at, each in enumerate(concerns):
        for other in (*each.parts, *each.reads):
            if id(other) not in number:
                raise InputError(
                    f"part {at} reads a part that is not among the coupled ones; list that part as well"
                )
            following[at].add(number[id(other)])
        for other in each.parts:
            following[number[id(other)]].add(at)
    return [sorted(_reached(following, at) - {at}) for at in range(len(parts))]


def _reached(following: Sequence[set[int]], start: int) -> set[int]:
    """Return the parts that are reached from one of them."""
    found, left = {start}, [start]
    while left:
        new = following[left.pop()] - found
        found |= new
        left += new
    return found


def _firsts(lists: Sequence[Sequence[int]]) -> _Numbers:
    """Return the index of the first entry of each list in their concatenation, and the total length."""
    return np.array([*accumulate(map(len, lists), initial=0)])
