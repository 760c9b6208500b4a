"""Pressure on nodes in NumPy, with one array per quantity: the oracle of the compiled step, bit for bit."""

from __future__ import annotations

import numpy as np

from windlass.admit.site import SiteTasks
from windlass.sim.telemetry.pressure import NEIGHBOUR_MEMORY, TASK_MEMORY
from windlass.sim.telemetry.unfinished import Pressure


def _mean_and_least(node, values, nodes):
    """Return (n,) mean and least of each node's values; NaN for a node without any."""
    count, least = np.bincount(node, minlength=nodes), np.full(nodes, np.inf)
    np.minimum.at(least, node, values)
    mean = np.bincount(node, values, nodes) / np.where(count > 0, count, 1)
    return np.where(count > 0, mean, np.nan), np.where(count > 0, least, np.nan)


class ArrayTasks:
    """Tasks that have not ended, as :class:`windlass.sim.telemetry.unfinished.UnfinishedTasks`."""

    def __init__(self, cores, speed):
        self._cores, self._speed = cores.astype(np.float64), speed
        self._open = np.zeros(0, np.int64)
        self._arrived = 0

    def step(self, begin, until, received, start, end, worker, arrived, at, cores):
        seconds, held = until - begin, cores.held
        tasks = np.concatenate([self._open, np.arange(self._arrived, arrived)])
        node = np.where(np.isnan(start[tasks]), at[tasks], worker[tasks])
        self._open, self._arrived = tasks[~(end[tasks] <= until)], arrived
        # A task that waits with its scheduler belongs to no node.
        tasks, node = tasks[node >= 0], node[node >= 0]
        arrival, began, ended = received[tasks], start[tasks], end[tasks]
        began = np.where(np.isnan(began), np.inf, began)
        ended = np.where(np.isnan(ended), np.inf, ended)
        waited = np.clip(np.minimum(began, until) - np.maximum(arrival, begin), 0.0, None)
        ran = np.clip(np.minimum(ended, until) - np.maximum(began, begin), 0.0, None)
        nodes = len(held)
        waits, runs = (np.bincount(node, each, nodes) / seconds for each in (waited, ran))
        here = waits + runs
        # A task that a node took at the end of this step counts in the next, unless it ended at once.
        counted = (arrival >= begin) & ((arrival < until) | (ended <= until))
        arrivals = np.bincount(node[counted], minlength=nodes)
        ending = (ended > begin) & (ended <= until)
        starting = (began > begin) & (began <= until)
        still = began > until
        oldest = np.zeros(nodes)
        np.maximum.at(oldest, node[still], until - arrival[still])
        load = SiteTasks(
            here,
            np.bincount(node[still], minlength=nodes),
            np.bincount(node[ending], minlength=nodes),
            *_mean_and_least(node[ending], (ended - arrival)[ending], nodes),
            *_mean_and_least(node[starting], (began - arrival)[starting], nodes),
            oldest,
        )
        there = np.where(cores.up > 0.0, cores.cores, 1.0)
        return Pressure(
            tasks=load,
            busy=np.minimum(held + (1.0 - held) * (runs / np.where(cores.up > 0.0, cores.up, 1.0)), 1.0),
            queue=here / there,
            ready=(waits + runs * held) / there,
            memory=np.minimum(TASK_MEMORY * here + NEIGHBOUR_MEMORY * held, 1.0),
            network=arrivals / (seconds * self._speed * (there / self._cores)),
        )
