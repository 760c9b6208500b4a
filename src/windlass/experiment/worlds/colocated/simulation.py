"""Three runs of one site under the same outages: jobs alone, tasks alone, and both together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.experiment.worlds.stands_for import run_as_cluster
from windlass.sim.site.result import Replay
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True, eq=False)
class Colocation:
    """The input of a run at one site, apart from the policies' decisions.

    Parameters
    ----------
    cluster
        The cluster of this site.
    seed
        The random seed.
    arrivals
        Its rigid jobs and small tasks.
    """

    cluster: ClusterSetting
    seed: int
    arrivals: ClusterArrivals

    def run(self, arrivals: ClusterArrivals, progress: Callable[[float], None] | None = None) -> ClusterRun:
        """Run some of the loads; each run creates policies, so that they do not share learned state."""
        return run_as_cluster(self.cluster, self.seed, arrivals, progress)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The results of jobs and tasks that shared a site, and the result of each custom part."""

    jobs: Replay
    tasks: Dispatched
    parts: tuple[object, ...] = ()


def jobs_alone(case: Colocation, progress: Callable[[float], None] | None = None) -> Replay:
    """Run the jobs; ``progress`` receives the share of the time that has passed."""
    return case.run(replace(case.arrivals, tasks=[]), progress).rigid[0].result


def tasks_alone(case: Colocation, progress: Callable[[float], None] | None = None) -> Dispatched:
    """Run the tasks; ``progress`` receives the share of the time that has passed."""
    return case.run(replace(case.arrivals, rigid=[]), progress).tasks[0].result


def together(case: Colocation, progress: Callable[[float], None] | None = None) -> Together:
    """Run jobs and tasks on the same nodes; ``progress`` receives the share of the time that has passed."""
    done = case.run(case.arrivals, progress)
    return Together(done.rigid[0].result, done.tasks[0].result, tuple(each.result for each in done.parts))
