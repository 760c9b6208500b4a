"""The instances of a site, with the jobs that arrive for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from windlass.experiment.worlds.cluster.draw import Arrivals
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.elastic.simulation import ElasticCase
from windlass.experiment.worlds.elastic.spot import instance_fleet
from windlass.io.traces.demands import DemandLog
from windlass.model import InputError
from windlass.model.vectors import VectorJobs


def instances_case(setting: ClusterSetting, name: str, given: Arrivals[DemandLog] | None) -> ElasticCase:
    """Return the instances of a site and their jobs, apart from the autoscaler's decisions.

    Parameters
    ----------
    setting
        The scenario's variant.
    name
        The site, which has instances.
    given
        The jobs for instances that arrive there; None for none.

    Raises
    ------
    InputError
        No instance has room for a job next to the cores that short tasks keep.
    """
    site = setting.sites[name]
    assert site.instances is not None  # The site has instances.
    look = setting.look if setting.look < setting.period else None
    if given is None:
        jobs = VectorJobs.of([], [])
        return ElasticCase(jobs, instance_fleet(site.instances, jobs), setting.period, look=look)
    load, jobs = setting.loads[given.load].vectors, given.drawn.jobs
    assert load is not None  # The load has jobs for instances.
    _check_room(given, site)
    return ElasticCase(jobs, instance_fleet(site.instances, jobs), setting.period, load.earlier, look)


def without_kept(case: ElasticCase, share: float) -> ElasticCase:
    """Return instances without the cores that are kept for short tasks, a share of each."""
    kinds = case.fleet.types
    left = tuple(replace(kind, cores=kind.cores - float(np.ceil(share * kind.cores))) for kind in kinds)
    return replace(case, fleet=replace(case.fleet, types=left))


def _check_room(given: Arrivals[DemandLog], site: ClusterSiteSpec) -> None:
    """Reject jobs that no instance has room for next to the cores that short tasks keep."""
    assert site.instances is not None  # Jobs arrive there.
    cores = np.array([kind.cores for kind in site.instances.types])
    left = float((cores - np.ceil(site.keeps.tasks * cores)).max())
    widest = float(given.drawn.jobs.resources[:, 1].max())
    if widest > left and site.keeps.tasks > 0.0:
        raise InputError(
            f"loads.{given.load}: a job requests {widest:g} cores, but an instance of {given.site} has {left:g} "
            "at most besides those kept for tasks; use larger instances or a lower keeps.tasks"
        )
