"""When nodes of a site are away: each fails after a while, stays away for a while, and comes back whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.timetable import NodeTimetable

#: A timetable of more outages is refused: it would be most of what happens.
_MOST = 1_000_000


def draw_outages(
    nodes: int, cores: int, every: float, last: float, kill: float, until: float, rng: np.random.Generator
) -> NodeTimetable:
    """Outages of whole nodes, each node by itself: exponential times between failures, exponential times away.

    Parameters
    ----------
    nodes, cores
        How many, and cores of each.
    every
        Mean time that a node is there before it fails, s.
    last
        Mean time that it is away, s.
    kill
        Share of outages at which what runs there is killed; at the others it may end (the node drains).
    until
        No outage begins at or after this time, s; one that began before ends in its own time.
    rng
        Where chance comes from.

    Raises
    ------
    InputError
        A value out of bounds, or so many outages that they would be most of what happens.

    Examples
    --------
    >>> found = draw_outages(2, 4, every=50.0, last=5.0, kill=0.5, until=100.0, rng=np.random.default_rng(1))
    >>> found.cores.tolist()
    [0, 4, 0, 4, 0, 4]
    """
    for name, value, allowed, wanted in (
        ("every", every, 0 < every < np.inf, "a finite time above 0"),
        ("last", last, 0 < last < np.inf, "a finite time above 0"),
        ("kill", kill, 0 <= kill <= 1, "a share from 0 to 1"),
        ("until", until, 0 <= until < np.inf, "a finite time of at least 0"),
    ):
        if not allowed:
            raise InputError(f"outages: {name} is {value}, expected {wanted}")
    expected = nodes * until / (every + last)
    if expected > _MOST:
        raise InputError(
            f"outages: every is {every}, about {expected:.3g} outages until {until:.6g} s, expected at most {_MOST:,}"
        )
    found = [_of_node(every, last, until, rng) for _ in range(nodes)]
    down, up = (np.concatenate([times[place] for times in found]) for place in (0, 1))
    node = np.repeat(np.arange(nodes), [len(times[0]) for times in found])
    kills = rng.random(len(down)) < kill
    time = np.concatenate((down, up))
    order = np.argsort(time, kind="stable")
    return NodeTimetable(
        time[order],
        np.concatenate((node, node))[order],
        np.repeat([0, cores], len(down))[order],
        np.concatenate((kills, np.zeros(len(up), np.bool_)))[order],
    )


def _of_node(
    every: float, last: float, until: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When one node fails, and when it is back."""
    turns, reached = [np.zeros((0, 2))], 0.0
    while reached < until:
        drawn = rng.standard_exponential((16 + int(until / (every + last)), 2)) * (every, last)
        ends = reached + np.cumsum(drawn.ravel()).reshape(-1, 2)
        turns.append(ends)
        reached = float(ends[-1, 1])
    down, up = np.concatenate(turns).T
    begun = down < until
    return down[begun], up[begun]
