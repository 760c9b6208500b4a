"""The fields of a sharing scenario: site, jobs, their resource use, and policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from windlass.experiment.workloads.use import CPU_LAW, MEMORY_LAW, UseLaw
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.batch.spec import SITE_OPTIONS, widest_for_all
from windlass.experiment.worlds.batch.spec import BatchClusterSpec as SiteSpec
from windlass.experiment.worlds.batch.spec import BatchWorkloadSpec as JobsSpec
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.use import JobUse
from windlass.share.interference import HostTime, Interference
from windlass.sim.shares.neighbours import NeighbourSpeeds

#: Number of factors drawn for pairs of classes.
_FACTORS = 1000


class SharingClusterSpec(SiteSpec):
    """The site, and the memory of each of its cores, bytes."""

    memory_per_core: Positive = 4e9


class UseSpec(Spec):
    """The jobs' resource use: see :class:`~windlass.experiment.workloads.use.UseLaw`.

    ``classes``: number of classes of generated jobs; the class of a logged job is its user.
    """

    cpu: tuple[Positive, Positive] = CPU_LAW
    memory: tuple[Positive, Positive] = MEMORY_LAW
    sequential: Annotated[float, Field(ge=0, lt=1)] = 0.4
    classes: Annotated[int, Field(ge=1)] = 20

    def law(self, memory_per_core: float) -> UseLaw:
        """Return the law for the generator."""
        return UseLaw(self.cpu, self.memory, self.sequential, memory_per_core)


class InterferenceSpec(Spec):
    """Speeds of two jobs that share: see :class:`~windlass.share.interference.Interference`.

    ``spread``: standard deviation of the logarithm of a class pair's own factor. ``host``: what a host may have of its
    cores' time, ``capped`` at what the quota leaves, or ``weighted``, which adds what its guest leaves idle.
    """

    pressure: NotNegative = 0.019
    both: NotNegative = 0.161
    crowding: NotNegative = 0.278
    spread: NotNegative = 0.1
    host: HostTime = "capped"

    def physics(self, use: JobUse, rng: np.random.Generator, seed: int) -> NeighbourSpeeds:
        """Return the speeds of pairs of jobs, with factors from ``rng``; ``seed`` assigns them to pairs of classes."""
        model = Interference(self.pressure, self.both, self.crowding, self.host)
        return NeighbourSpeeds(model, use, np.exp(rng.normal(0.0, self.spread, _FACTORS)), seed)


class SharingWorkloadSpec(JobsSpec):
    """Jobs as in the batch world, their resource use, and the cost of sharing."""

    use: UseSpec = UseSpec()
    interference: InterferenceSpec = InterferenceSpec()


class SharingPoliciesSpec(Spec):
    """One policy for each decision."""

    order: Policy
    share: Policy


class SharingSetting(Setting):
    """One variant of a sharing scenario.

    ``checkpoint``: interval, s, at which running jobs are measured and the co-scheduler is called while a job waits or
    shares. ``noise``: relative standard deviation of measured task rates.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset({"workload.use.cpu", "workload.use.memory"})
    options: ClassVar[Mapping[str, str]] = SITE_OPTIONS

    world: Literal["sharing"] = "sharing"
    cluster: SharingClusterSpec = SharingClusterSpec()
    workload: SharingWorkloadSpec
    policies: SharingPoliciesSpec
    kill_at_walltime: bool = True
    checkpoint: Positive = 60.0
    noise: NotNegative = 0.02

    @classmethod
    def together(cls, variants: Sequence[Self]) -> tuple[Self, ...]:
        """Run the same jobs on all compared sites."""
        widest = widest_for_all([(variant.workload, variant.cluster) for variant in variants])
        return tuple(
            variant.model_copy(update={"workload": variant.workload.model_copy(update={"widest": most})})
            for variant, most in zip(variants, widest, strict=True)
        )
