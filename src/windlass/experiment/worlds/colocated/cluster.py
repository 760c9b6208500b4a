"""What a scenario of the colocated world may say of its nodes, and the timetable of when they are away."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, field_validator, model_validator

from windlass.experiment.workloads.outages import draw_outages
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.limits import WORKERS
from windlass.model.timetable import NodeTimetable


class DrawnOutages(Spec):
    """Outages of whole nodes: mean seconds between two of a node, mean seconds that they last, share that kills."""

    every: Positive
    last: Positive
    kill: Annotated[float, Field(ge=0, le=1)] = 0.5


class Outage(Spec):
    """A node has only ``left`` cores from ``down`` to ``up``, s; without ``up`` for good.

    With ``kill``, jobs on the cores that go are killed; else they end first.
    """

    node: Annotated[int, Field(ge=0)]
    down: NotNegative
    up: Positive | None = None
    left: Annotated[int, Field(ge=0)] = 0
    kill: bool = False


_LISTED = TypeAdapter(tuple[Outage, ...])


class ColocatedClusterSpec(Spec):
    """Nodes that are alike.

    ``cores``: of each. ``speed``: what a node does of the tasks' work while no job holds its cores, work/s. ``floor``:
    the share of it that tasks have even where jobs hold all cores. ``outages``: a law to draw them by, or a list.
    """

    nodes: Annotated[int, Field(ge=2)]
    cores: Annotated[int, Field(ge=1)]
    speed: Positive = 1.0
    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    outages: DrawnOutages | tuple[Outage, ...] = ()

    @field_validator("outages", mode="before")
    @classmethod
    def _law_or_list(cls, value: Any) -> Any:
        # One of the two by its form, so that an error is about the one that was meant.
        if isinstance(value, list | tuple):
            return _LISTED.validate_python(value)
        return DrawnOutages.model_validate(value)

    @model_validator(mode="after")
    def _can_happen(self) -> Self:
        WORKERS.check(self.nodes, "nodes")
        if isinstance(self.outages, tuple):
            for row, outage in enumerate(self.outages):
                _check_outage(outage, row, self)
            _check_apart(self.outages)
        return self

    @property
    def processors(self) -> int:
        """Cores of all nodes."""
        return self.nodes * self.cores

    def speeds(self) -> NDArray[np.float64]:
        """(nodes,) work/s of each while nothing else runs there."""
        return np.full(self.nodes, self.speed)


def _check_outage(outage: Outage, row: int, cluster: ColocatedClusterSpec) -> None:
    name = f"outages.{row}"
    if outage.node >= cluster.nodes:
        raise ValueError(f"{name}.node is {outage.node}, expected 0 to {cluster.nodes - 1}")
    if outage.left >= cluster.cores:
        raise ValueError(f"{name}.left is {outage.left}, expected fewer than the node's {cluster.cores}")
    if outage.up is not None and not outage.up > outage.down:
        raise ValueError(f"{name}.up is {outage.up:g}, expected a time after down, {outage.down:g}")


def _in_order(outages: tuple[Outage, ...]) -> list[int]:
    """Rows of outages by node and time."""
    return sorted(range(len(outages)), key=lambda row: (outages[row].node, outages[row].down))


def _check_apart(outages: tuple[Outage, ...]) -> None:
    """A node that comes back from one outage has all its cores: another one of it cannot go on then."""
    rows = _in_order(outages)
    for first, second in pairwise(rows):
        before, after = outages[first], outages[second]
        if before.node == after.node and (before.up is None or after.down < before.up):
            raise ValueError(
                f"outages.{second}.down is {after.down:g}, expected a time from the end of outages.{first} on"
            )


def timetable(cluster: ColocatedClusterSpec, until: float, rng: np.random.Generator) -> NodeTimetable:
    """When cores of nodes come and go.

    Parameters
    ----------
    cluster
        The nodes.
    until
        Where outages are drawn, none begins at or after this time, s.
    rng
        What they are drawn with.

    Raises
    ------
    InputError
        So many outages that they would be most of what happens.

    Examples
    --------
    >>> cluster = ColocatedClusterSpec(nodes=2, cores=4, outages=[{"node": 1, "down": 5, "up": 9, "left": 1}])
    >>> timetable(cluster, 100.0, np.random.default_rng(1)).cores.tolist()
    [1, 4]
    """
    law = cluster.outages
    if isinstance(law, DrawnOutages):
        return draw_outages(cluster.nodes, cluster.cores, law.every, law.last, law.kill, until, rng)
    found = NodeTimetable.none()
    # In this order a node that comes back and goes again at one instant is away after it.
    for outage in (law[row] for row in _in_order(law)):
        found += NodeTimetable.outage(
            outage.node, outage.down, outage.up, cores=cluster.cores, left=outage.left, kill=outage.kill
        )
    return found
