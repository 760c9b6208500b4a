"""Worlds whose scenarios run as the cluster that they stand for; they keep their own fields, metrics and tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.cluster.build import run_cluster
from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.cluster.world import ClusterWorld
from windlass.experiment.worlds.composition import SITE, Composition, ShortForm
from windlass.jit import Kernel
from windlass.model import InputError

#: Samples of the progress during a run.
_SAMPLES = 50
_CLUSTER = ClusterWorld()


def cluster_of(world: ShortForm, setting: Setting, seed: int = 0) -> ClusterSetting:
    """Return the cluster that one variant of a short form stands for.

    Parameters
    ----------
    world, setting
        The world of the short form, of which every variant stands for a cluster, and the variant.
    seed
        A seed of it.

    Examples
    --------
    >>> from windlass.experiment.worlds.admission.world import AdmissionWorld
    >>> world = AdmissionWorld()
    >>> given = {"cluster": {"nodes": 3}, "policies": {"admit": "ready"}}
    >>> cluster_of(world, world.setting.model_validate(given)).sites["site"].count
    3
    """
    tree = setting.model_dump(mode="json", exclude_none=True)
    found = world.composition(tree, [setting], seed).tree
    assert found is not None  # Nothing is missing for a single variant.
    return ClusterSetting.model_validate(found)


class RunsAsCluster(World):
    """A world that runs as the cluster that its scenarios stand for."""

    def composition(self, tree: Mapping[str, Any], settings: Sequence[Any], seed: int) -> Composition:
        """Return that cluster; see :class:`~windlass.experiment.worlds.composition.ShortForm`."""
        raise NotImplementedError

    def kernels(self, setting: Any) -> tuple[Kernel, ...]:
        """Return the functions of all parts and policies; each policy is made, to validate its parameters."""
        return _CLUSTER.kernels(cluster_of(self, setting))

    def workload_key(self, setting: Any, seed: int) -> Hashable:
        """Return a key that is equal for equal nodes and loads."""
        return _CLUSTER.workload_key(cluster_of(self, setting), seed)

    def workload(self, setting: Any, seed: int) -> ClusterArrivals:
        """Read or generate the loads."""
        return _CLUSTER.workload(cluster_of(self, setting), seed)


def run_as_cluster(
    setting: ClusterSetting,
    seed: int,
    arrivals: ClusterArrivals,
    progress: Callable[[float], None] | None = None,
) -> ClusterRun:
    """Simulate the cluster that a short form stands for.

    Parameters
    ----------
    setting, seed
        The cluster, and the random seed.
    arrivals
        What arrives.
    progress
        Receives the share of the simulated time that has passed.

    Raises
    ------
    InputError
        A load cannot run on the nodes; it names the field of the short form.
    """
    begin, end = arrivals.span
    sampled = setting.model_copy(update={"sample": (end - begin) / _SAMPLES})
    try:
        return run_cluster(sampled, seed, arrivals, progress or (lambda _: None))
    except InputError as error:
        raise InputError(str(error).replace(f"sites.{SITE}.", "cluster.")) from error
