"""Small random clusters of instances, and an autoscaler with random valid answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from windlass.drive import drive
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.scale import POLICIES, ScaleView, Totals, idle_time
from windlass.sim.coupled import Coupled, SinglePart
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.instances.part import InstancesPart
from windlass.sim.instances.result import Scaled
from windlass.sim.ledger import Ledger
from windlass.sim.part import Quiet

SMALL = InstanceType("small", cores=4, memory=8, price=1.0, launch=30.0, most=4)
LARGE = InstanceType("large", cores=8, memory=32, price=1.9, launch=45.0, most=3)
GPU = InstanceType("gpu", gpus=2, cores=8, memory=32, price=9.0, launch=60.0, most=4)


class RandomScaler:
    """An autoscaler with random totals; from `until` on it requests the maximum, so that all jobs can run."""

    name = "nasty"

    def __init__(self, rng: np.random.Generator, until: float) -> None:
        self._rng, self._until = rng, until
        self.idle = float(rng.choice([0.0, 7.0, 50.0]))

    def decide(self, view: ScaleView) -> Totals:
        most = np.array([kind.most for kind in view.types])
        drawn = most if view.now > self._until else self._rng.integers(0, most + 1)
        return Totals(tuple(drawn.tolist()), ("drawn",) * len(most))


#: Constructors of every policy that finishes any workload, from a seed.
SCALERS: dict[str, Callable[[int], Any]] = {
    "static": lambda seed: POLICIES.make("static", np.random.default_rng(seed)),
    "reactive": lambda seed: POLICIES.make("reactive", np.random.default_rng(seed), unneeded=40.0),
    "consolidate": lambda seed: POLICIES.make("consolidate", np.random.default_rng(seed)),
    "clairvoyant": lambda seed: POLICIES.make("clairvoyant", np.random.default_rng(seed)),
    "nasty": lambda seed: RandomScaler(np.random.default_rng(seed), until=600.0),
}


@dataclass(frozen=True)
class Case:
    """A random case."""

    jobs: VectorJobs
    fleet: InstanceFleet
    seed: int

    def run(self, policy: Any, **options: Any) -> Scaled:
        """By itself."""
        return run(self.jobs, self.fleet, policy, self.seed, **options)


def part_of(
    jobs: VectorJobs, fleet: InstanceFleet, ledger: Ledger, policy: Any, seed: int, **options: Any
) -> InstancesPart:
    """Return the part, with the policy's idle time."""
    kept = InstanceFleet(
        fleet.types,
        idle_time(policy, fleet.idle),
        fleet.launch_spread,
        fleet.boot_failure,
        fleet.notice,
        fleet.best_fit,
        fleet.interruptions,
    )
    return InstancesPart(jobs, kept, ledger, np.random.default_rng(seed), **{"period": 20.0, **options})


def run(jobs: VectorJobs, fleet: InstanceFleet, policy: Any, seed: int = 1, **options: Any) -> Scaled:
    """By itself."""
    ledger = Ledger([fleet.rows()], parts=1)
    done: Scaled = drive(
        SinglePart(part_of(jobs, fleet, ledger, policy, seed, **options), ledger), {"scale": policy}
    )
    return done


def coupled(case: Case, policy: Any, *others: Quiet, **options: Any) -> Scaled:
    """Run a case coupled with other parts that watch the rows."""
    ledger = Ledger([case.fleet.rows()], parts=2)
    part = part_of(case.jobs, case.fleet, ledger, policy, case.seed, others=True, **options)
    done: Scaled = drive(Coupled((part, *others), ledger), {"scale": policy})[0]
    return done


@st.composite
def cases(draw: st.DrawFn, *, interrupted: bool = True) -> Case:
    """Jobs and instances, few enough to compete; times are multiples of 5 s, so that many events
    coincide."""
    count = draw(st.integers(1, 14))
    five = st.integers(0, 60).map(lambda number: 5.0 * number)
    submit = sorted(draw(st.lists(five, min_size=count, max_size=count)))
    run_for = draw(st.lists(five, min_size=count, max_size=count))
    shape = st.sampled_from(
        [
            (0, 1, 1),
            (0, 2, 7),
            (0, 0.5, 1),
            (0, 8, 8),
            (0, 16, 20),
            (1, 2, 4),
            (2, 0, 0),
            (6, 10, 0),
            (0, 0, 9),
        ]
    )
    gpus, cores, memory = zip(*draw(st.lists(shape, min_size=count, max_size=count)), strict=True)
    jobs = VectorJobs.of(submit, run_for, gpus, cores, memory)
    cuts = Interruptions.none()
    if interrupted and draw(st.booleans()):
        times = sorted(draw(st.lists(five, min_size=1, max_size=5)))
        kinds = draw(st.lists(st.integers(0, 2), min_size=len(times), max_size=len(times)))
        limits = draw(st.lists(st.integers(0, 3), min_size=len(times), max_size=len(times)))
        back = [(times[-1] + 400.0, kind, 4) for kind in range(3)]
        rows = [*zip(times, kinds, limits, strict=True), *back]
        cuts = Interruptions(*(np.array(column) for column in zip(*rows, strict=True)))
    fleet = InstanceFleet(
        (SMALL, LARGE, GPU),
        idle=draw(st.sampled_from([0.0, 10.0, 100.0])),
        launch_spread=draw(st.sampled_from([0.0, 0.5])),
        boot_failure=draw(st.sampled_from([0.0, 0.3])),
        notice=draw(st.sampled_from([0.0, 15.0, np.inf])),
        best_fit=draw(st.booleans()),
        interruptions=cuts,
    )
    return Case(jobs, fleet, draw(st.integers(0, 1000)))
