"""What a scenario of the admission world may say of its nodes, their neighbours, its tasks and its policies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.dispatch.spec import DispatchWorkloadSpec
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.limits import WORKERS


class Bursts(Spec):
    """Neighbours of a node: mean seconds between two bursts, at the height of one, and from one core to the next."""

    every: Positive = 300.0
    last: Positive = 30.0
    ramp: NotNegative = 4.0

    def held(self, cores: int) -> float:
        """The share of a node's cores that neighbours hold, on average.

        >>> round(Bursts(every=70, last=30, ramp=0).held(4), 4)
        0.1875
        """
        heights = np.arange(1, cores + 1)
        climbs = self.ramp * (heights - 1)
        return float(
            (heights * (self.last + climbs)).sum() / (cores * (self.every + self.last + 2 * climbs).sum())
        )


class AdmissionClusterSpec(Spec):
    """Nodes that are alike.

    ``cores``: of each. ``speed``: what a node does of the tasks' work while neighbours hold none of its cores, work/s.
    ``floor``: the share of it that tasks have even where neighbours hold all. ``bursts``: what neighbours do.
    """

    nodes: Annotated[int, Field(ge=2)]
    cores: Annotated[int, Field(ge=1)] = 4
    speed: Positive = 4.0
    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    bursts: Bursts = Bursts()

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        WORKERS.check(self.nodes, "nodes")
        WORKERS.check(self.nodes * self.cores, "nodes times cores")
        return self

    def speeds(self) -> NDArray[np.float64]:
        """(nodes,) work/s of each while no neighbour is there."""
        return np.full(self.nodes, self.speed)

    @property
    def capacity(self) -> float:
        """Work/s of all nodes, of what neighbours leave on average."""
        return self.nodes * self.speed * (1.0 - self.bursts.held(self.cores))


class TelemetrySpec(Spec):
    """How nodes measure themselves: seconds between two steps, and a model of metrics (by default, as we recorded)."""

    every: Positive = 1.0
    model: Path | None = None


class AdmissionPoliciesSpec(Spec):
    """A policy per decision."""

    dispatch: Policy
    admit: Policy


class AdmissionSetting(Setting):
    """One variant of a scenario of admission.

    ``workload.load`` is the tasks' work over what neighbours leave of all nodes on average. ``keep_tasks``: at most so
    many tasks, evenly spaced, are in the table and in the report; metrics are of all. ``warm``: tasks that arrive
    before this time, s, are not measured, as policies begin knowing nothing. ``sizes``: whether the dispatch policy is
    ``told`` the work of each task that ends, as in the dispatch world.
    """

    path_fields: ClassVar[tuple[str, ...]] = ("workload.llm", "telemetry.model")

    world: Literal["admission"] = "admission"
    cluster: AdmissionClusterSpec
    workload: DispatchWorkloadSpec = DispatchWorkloadSpec()
    telemetry: TelemetrySpec = TelemetrySpec()
    policies: AdmissionPoliciesSpec
    schedulers: Annotated[int, Field(ge=1)] = 1
    probe_delay: NotNegative = 0.0
    sizes: Literal["told", "hidden"] = "hidden"
    keep_tasks: Annotated[int, Field(ge=1)] = 100_000
    warm: NotNegative = 0.0
