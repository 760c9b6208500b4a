"""The fields of a scenario of the admission world: nodes, their neighbours, tasks and policies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.dispatch.spec import DispatchWorkloadSpec
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.experiment.worlds.spec import NotNegative, Positive, Sizes, Spec
from windlass.model.limits import WORKERS
from windlass.sim.telemetry.gate import WhenFull


class Bursts(Spec):
    """Bursts of a node's neighbours: mean time between two, mean time at full height, and time per core of ramp, s."""

    every: Positive = 300.0
    last: Positive = 30.0
    ramp: NotNegative = 4.0

    def held(self, cores: int) -> float:
        """Return the mean share of a node's cores that neighbours hold.

        >>> round(Bursts(every=70, last=30, ramp=0).held(4), 4)
        0.1875
        """
        heights = np.arange(1, cores + 1)
        climbs = self.ramp * (heights - 1)
        return float(
            (heights * (self.last + climbs)).sum() / (cores * (self.every + self.last + 2 * climbs).sum())
        )


class AdmissionClusterSpec(Spec):
    """Identical nodes.

    ``cores``: cores of a node. ``speed``: a node's rate without neighbours, work/s. ``floor``: the share of that rate
    left for tasks when neighbours hold all cores. ``bursts``: the neighbours.
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


class TelemetrySpec(Spec):
    """The nodes' telemetry: interval, s, and a model of metrics (by default, the one recorded for Windlass)."""

    every: Positive = 1.0
    model: Path | None = None


class RefusalSpec(Spec):
    """What happens to a task that all nodes reject: ``full: force`` runs it nevertheless, ``full: refuse`` does not."""

    full: WhenFull = "force"


class AdmissionPoliciesSpec(Spec):
    """One policy for each decision; ``dispatch`` is ``pull`` by default."""

    dispatch: Policy = PolicySpec(name="pull")
    admit: Policy


class AdmissionSetting(Setting):
    """One variant of an admission scenario.

    ``workload.load`` is the tasks' work over the mean rate of all nodes with neighbours. ``keep_tasks``: the most tasks
    in the table and the report, evenly spaced; metrics cover all tasks. ``warm``: tasks that arrive before this, s,
    are not measured, as policies start untrained. ``sizes``: with ``known``, the dispatch policy receives the work of
    each completed task, as in the dispatch world.
    """

    path_fields: ClassVar[tuple[str, ...]] = ("workload.llm", "telemetry.model")

    world: Literal["admission"] = "admission"
    cluster: AdmissionClusterSpec
    workload: DispatchWorkloadSpec = DispatchWorkloadSpec()
    telemetry: TelemetrySpec = TelemetrySpec()
    admission: RefusalSpec = RefusalSpec()
    policies: AdmissionPoliciesSpec
    schedulers: Annotated[int, Field(ge=1)] = 1
    probe_delay: NotNegative = 0.0
    sizes: Sizes = "hidden"
    keep_tasks: Annotated[int, Field(ge=1)] = 100_000
    warm: NotNegative = 0.0
