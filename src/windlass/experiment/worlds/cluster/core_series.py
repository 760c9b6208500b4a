"""The cores of each site over time, by the load that uses them, as series that the report stacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.results import Series

_Floats = NDArray[np.float64]


def core_series(setting: ClusterSetting, done: ClusterRun) -> Iterator[Series]:
    """Yield for each site the cores of each of its loads over time, and the cores that there are.

    Cores on which two rigid jobs run are a series of their own. Short tasks have the cores that are kept for them, and
    the idle cores of nodes on which a task runs.

    Parameters
    ----------
    setting
        The scenario's variant.
    done
        The results of all parts.
    """
    samples = done.samples[0].result
    time = np.append(samples.time, samples.end)
    for place, site in enumerate(setting.sites):
        for name, load in setting.loads.items():
            if site not in setting.sites_of(load):
                continue
            held = samples.by_load.get(name)
            cores = np.zeros(len(samples.time)) if held is None else held[:, place].astype(np.float64)
            if load.tasks is not None:
                cores += samples.busy[:, place]
            shared = _shared(done, name, site, samples.time)
            if shared is not None:
                cores -= shared
                yield Series(
                    f"cores of two jobs of {name} at {site}", time, shared, False, site, f"{name}, shared"
                )
            yield Series(f"cores of {name} at {site}", time, cores, False, site, name)
        capacity = samples.capacity[:, place].astype(np.float64)
        yield Series(f"cores at {site}", time, capacity, False, site)


def _shared(done: ClusterRun, load: str, site: str, time: _Floats) -> _Floats | None:
    """Return the cores that two rigid jobs of a load and site have at each time; None if no job can share."""
    jobs = {(each.load, each.site): each.result.jobs for each in done.rigid}
    for each in done.shared:
        if (each.load, each.site) == (load, site):
            pairs, procs = each.result, jobs[load, site].procs
            cores = np.minimum(procs[pairs.host], procs[pairs.guest])
            return _sum_at(pairs.start, cores, time) - _sum_at(pairs.end, cores, time)
    return None


def _sum_at(begin: _Floats, amount: NDArray[np.int64], time: _Floats) -> _Floats:
    """Return the sum of the amounts that began by each time."""
    order = np.argsort(begin, kind="stable")
    total = np.concatenate(([0], np.cumsum(amount[order])))
    found: _Floats = total[np.searchsorted(begin[order], time, side="right")].astype(np.float64)
    return found
