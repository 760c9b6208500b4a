"""The fields of a colocated scenario: cluster, jobs, tasks and policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.batch.spec import BatchWorkloadSpec as JobsSpec
from windlass.experiment.worlds.custom_parts import check_part
from windlass.experiment.worlds.dispatch.spec import DispatchWorkloadSpec
from windlass.experiment.worlds.outages import NodeOutages, check_outages
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import NotNegative, Positive, Sizes, Spec
from windlass.model.limits import WORKERS


class ColocatedClusterSpec(Spec):
    """Identical nodes.

    ``cores``: cores of a node. ``speed``: a node's rate while no job holds its cores, work/s. ``floor``: the share of
    that rate left for tasks when jobs hold all cores. ``outages``: parameters of random outages, or a list.
    """

    nodes: Annotated[int, Field(ge=2)]
    cores: Annotated[int, Field(ge=1)]
    speed: Positive = 1.0
    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    outages: NodeOutages = ()

    @model_validator(mode="after")
    def _can_happen(self) -> Self:
        WORKERS.check(self.nodes, "nodes")
        check_outages(self.outages, [self.cores] * self.nodes)
        return self

    @property
    def processors(self) -> int:
        """Cores of all nodes."""
        return self.nodes * self.cores


class TasksSpec(DispatchWorkloadSpec):
    """Tasks as in the dispatch world; ``load`` is their work over the rate of all nodes without jobs.

    The default is below the floor, so that queues are bounded at any load of jobs.
    """

    load: Positive = 0.04


class ColocatedWorkloadSpec(Spec):
    """Jobs as in the batch world, and tasks."""

    batch: JobsSpec
    tasks: TasksSpec = TasksSpec()


class ColocatedPoliciesSpec(Spec):
    """One policy for each decision."""

    order: Policy
    dispatch: Policy


class ColocatedSetting(Setting):
    """One variant of a colocated scenario.

    ``keep_tasks``: the most tasks in the table and the report, evenly spaced; metrics cover all tasks. ``parts``:
    custom parts, each named by its file; they decide after the jobs and before the tasks. ``sizes``: with ``known``,
    the dispatch policy receives the work of each completed task, as in the dispatch world.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset({"cluster.outages", "parts"})
    path_fields: ClassVar[tuple[str, ...]] = ("workload.batch.trace", "workload.tasks.llm")
    options: ClassVar[Mapping[str, str]] = {
        "--where": "workload.batch.where",
        "--format": "workload.batch.format",
        "--skip-bad-lines": "workload.batch.skip_bad_lines",
        "--columns": "workload.batch.columns",
        "--no-kill": "kill_at_walltime",
    }

    world: Literal["colocated"] = "colocated"
    cluster: ColocatedClusterSpec
    workload: ColocatedWorkloadSpec
    policies: ColocatedPoliciesSpec
    parts: tuple[Policy, ...] = ()
    kill_at_walltime: bool = True
    schedulers: Annotated[int, Field(ge=1)] = 1
    probe_delay: NotNegative = 0.0
    sizes: Sizes = "hidden"
    keep_tasks: Annotated[int, Field(ge=1)] = 100_000

    @field_validator("parts")
    @classmethod
    def _by_file(cls, parts: tuple[Policy, ...]) -> tuple[Policy, ...]:
        return tuple(check_part(part, f"part {number}") for number, part in enumerate(parts))
