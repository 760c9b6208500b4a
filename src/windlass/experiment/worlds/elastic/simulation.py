"""One run of jobs on cloud instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.drive import drive
from windlass.experiment.workloads.earlier import cut
from windlass.model.vectors import VectorJobs
from windlass.scale import POLICIES as SCALE
from windlass.scale import ScalePolicy, idle_time
from windlass.scale.context import ScaleContext
from windlass.sim.coupled import SinglePart
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.needs import Needs
from windlass.sim.instances.part import InstancesPart
from windlass.sim.instances.result import Scaled
from windlass.sim.ledger import Ledger

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ElasticCase:
    """The input of a run, apart from the autoscaler's decisions.

    Parameters
    ----------
    jobs, fleet
        The jobs and the instances.
    period
        Time between two decisions, s.
    earlier
        Length of the initial part that serves as history only, s; the run then starts with the instances that the
        running jobs need.
    look
        Time between two checks of the queue between decisions, s; None for no checks.
    """

    jobs: VectorJobs
    fleet: InstanceFleet
    period: float = 600.0
    earlier: float = 0.0
    look: float | None = None

    def part(
        self, ledger: Ledger, rng: np.random.Generator, idle: float | None, **options: Any
    ) -> InstancesPart:
        """Create the simulator's part, on the first site of a fresh ledger."""
        fleet = self.fleet if idle is None else replace(self.fleet, idle=idle)
        jobs = self.jobs
        if self.earlier > 0.0:
            needs = Needs(jobs, fleet.types)
            found = cut(jobs, self.earlier, self.period, needs.kind, needs.counts)
            jobs = found.jobs
            options = {"history": found.history, "begin": found.begin, "warm": found.begin, **options}
        return InstancesPart(jobs, fleet, ledger, rng, period=self.period, look=self.look, **options)


def run_elastic(
    case: ElasticCase,
    policy: ScalePolicy,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> Scaled:
    """Simulate the jobs.

    Parameters
    ----------
    case
        The jobs and instances.
    policy
        The autoscaler.
    rng
        The random generator of launch times and boot failures.
    progress
        Receives the share of submitted jobs.

    Examples
    --------
    >>> from windlass.model.instances import InstanceType
    >>> fleet = InstanceFleet((InstanceType("small", cores=4, launch=120.0, most=2),))
    >>> case = ElasticCase(VectorJobs.of(submit=[0.0, 10.0], run=[60.0, 60.0], cores=[3, 1]), fleet)
    >>> rng = np.random.default_rng(1)
    >>> run_elastic(case, SCALE.make("reactive", rng), rng).start.tolist()
    [120.0, 120.0]
    """
    ledger = Ledger([case.fleet.rows()], parts=1)
    part = case.part(ledger, rng, idle_time(policy, case.fleet.idle), progress=progress)
    done: Scaled = drive(SinglePart(part, ledger), {SCALE.key: policy})
    return done


def ideal(case: ElasticCase) -> Scaled:
    """Run the same jobs on instances that start exactly when needed and stop when they are empty.

    No plan has shorter waits. If each job needs whole instances of one type, none uses fewer instance hours.
    """
    ledger = Ledger([case.fleet.rows()], parts=1)
    fleet = replace(case.fleet, boot_failure=0.0, interruptions=type(case.fleet.interruptions).none())
    part = replace(case, fleet=fleet).part(ledger, np.random.default_rng(0), None, at_once=True)
    done: Scaled = drive(SinglePart(part, ledger), {})
    return done


def use_over_time(done: Scaled) -> tuple[_Floats, _Ints]:
    """Return (m,) the times, s, at which instance counts change, and (m, k) the counts of each type from then on."""
    launches, kinds = done.launches, len(done.fleet.types)
    gone = np.where(np.isnan(launches.gone), np.inf, launches.gone)
    time = np.concatenate((launches.launched, gone))
    change = np.zeros((len(time), kinds), np.int64)
    change[np.arange(len(time)), np.tile(launches.kind, 2)] = np.repeat([1, -1], len(gone))
    order = np.argsort(time, kind="stable")
    times, first = np.unique(time[order], return_index=True)
    counts = np.add.reduceat(change[order], first, axis=0).cumsum(axis=0)
    finite = np.isfinite(times)
    return times[finite], counts[finite]


def scale_policy(
    name: str, parameters: Mapping[str, Any], case: ElasticCase, rng: np.random.Generator
) -> ScalePolicy:
    """Create an autoscaler; one with parameters ``times`` and ``counts`` receives those of :func:`ideal`, if any."""
    knows = len(case.jobs) > 0 and SCALE.parameters(name).keys() >= {"times", "counts"}
    context = ScaleContext(rng, *use_over_time(ideal(case))) if knows else ScaleContext(rng)
    policy: ScalePolicy = SCALE.make(name, context, **parameters)
    return policy
