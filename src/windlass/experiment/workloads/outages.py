"""Outages of a site's nodes: each node fails, is down for a time, and returns with all its cores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.timetable import NodeTimetable

#: The most outages in a timetable; more would dominate the simulation.
_MOST = 1_000_000


def draw_outages(
    nodes: int, cores: int, every: float, last: float, kill: float, until: float, rng: np.random.Generator
) -> NodeTimetable:
    """Draw outages of whole nodes, independent of each other, with exponential times up and down.

    Parameters
    ----------
    nodes, cores
        Number of nodes, and cores of each.
    every
        Mean time up before a failure, s.
    last
        Mean time down, s.
    kill
        Share of outages that kill running jobs; at the others the node drains.
    until
        Outages begin before this time, s; they may end after it.
    rng
        The random generator.

    Raises
    ------
    InputError
        A value is out of bounds, or there would be more outages than the simulator accepts.

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
    """Return the times at which one node fails and returns."""
    turns, reached = [np.zeros((0, 2))], 0.0
    while reached < until:
        drawn = rng.standard_exponential((16 + int(until / (every + last)), 2)) * (every, last)
        ends = reached + np.cumsum(drawn.ravel()).reshape(-1, 2)
        turns.append(ends)
        reached = float(ends[-1, 1])
    down, up = np.concatenate(turns).T
    started = down < until
    return down[started], up[started]
