"""What a scenario of the sharing world may say of its site, its jobs, what they use, and its policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from windlass.experiment.workloads.use import CPU_LAW, MEMORY_LAW, UseLaw
from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.batch.spec import SITE_OPTIONS, widest_for_all
from windlass.experiment.worlds.batch.spec import BatchClusterSpec as SiteSpec
from windlass.experiment.worlds.batch.spec import BatchWorkloadSpec as JobsSpec
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec


class SharingClusterSpec(SiteSpec):
    """The site, and the memory that each of its cores has, bytes."""

    memory_per_core: Positive = 4e9


class UseSpec(Spec):
    """What jobs use: see :class:`~windlass.experiment.workloads.use.UseLaw`.

    ``classes``: of drawn jobs, so many; jobs of a log are of their user's.
    """

    cpu: tuple[Positive, Positive] = CPU_LAW
    memory: tuple[Positive, Positive] = MEMORY_LAW
    sequential: Annotated[float, Field(ge=0, lt=1)] = 0.4
    classes: Annotated[int, Field(ge=1)] = 20

    def law(self, memory_per_core: float) -> UseLaw:
        """As drawing needs it."""
        return UseLaw(self.cpu, self.memory, self.sequential, memory_per_core)


class InterferenceSpec(Spec):
    """How fast two jobs are together: see :class:`~windlass.share.interference.Interference`.

    ``spread``: standard deviation of the logarithm of what a pair of classes has of its own.
    """

    pressure: NotNegative = 0.019
    both: NotNegative = 0.161
    crowding: NotNegative = 0.278
    spread: NotNegative = 0.1


class SharingWorkloadSpec(JobsSpec):
    """Jobs as in the batch world, what they use, and what sharing costs them."""

    use: UseSpec = UseSpec()
    interference: InterferenceSpec = InterferenceSpec()


class SharingPoliciesSpec(Spec):
    """A policy per decision."""

    order: Policy
    share: Policy


class SharingSetting(Setting):
    """One variant of a sharing scenario.

    ``checkpoint``: while somebody waits or shares, all that runs is measured every so many seconds, and the
    co-scheduler is asked. ``noise``: standard deviation of measured task rates, as a part of them.
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
        """The same jobs on all sites that are compared."""
        widest = widest_for_all([(variant.workload, variant.cluster) for variant in variants])
        return tuple(
            variant.model_copy(update={"workload": variant.workload.model_copy(update={"widest": most})})
            for variant, most in zip(variants, widest, strict=True)
        )
