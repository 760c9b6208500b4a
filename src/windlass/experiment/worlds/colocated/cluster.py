"""The nodes of a colocated scenario, and the timetable of their outages."""

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
    """Random outages of whole nodes: mean time between two of a node, mean length, s, and the share that kills jobs."""

    every: Positive
    last: Positive
    kill: Annotated[float, Field(ge=0, le=1)] = 0.5


class Outage(Spec):
    """An outage that leaves a node ``left`` cores from ``down`` to ``up``, s; permanent without ``up``.

    With ``kill``, jobs on the lost cores are killed; otherwise they finish first.
    """

    node: Annotated[int, Field(ge=0)]
    down: NotNegative
    up: Positive | None = None
    left: Annotated[int, Field(ge=0)] = 0
    kill: bool = False


_LISTED = TypeAdapter(tuple[Outage, ...])


class ColocatedClusterSpec(Spec):
    """Identical nodes.

    ``cores``: cores of a node. ``speed``: a node's rate while no job holds its cores, work/s. ``floor``: the share of
    that rate left for tasks when jobs hold all cores. ``outages``: parameters of random outages, or a list.
    """

    nodes: Annotated[int, Field(ge=2)]
    cores: Annotated[int, Field(ge=1)]
    speed: Positive = 1.0
    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    outages: DrawnOutages | tuple[Outage, ...] = ()

    @field_validator("outages", mode="before")
    @classmethod
    def _law_or_list(cls, value: Any) -> Any:
        # The form of the value selects the type, so that an error concerns the intended one.
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

    @property
    def core_speed(self) -> float:
        """The rate of a core, work/s."""
        return self.speed / self.cores

    def speeds(self) -> NDArray[np.float64]:
        """Return the rate of each node without jobs, (nodes,) work/s."""
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
    """Return the rows of outages, sorted by node and time."""
    return sorted(range(len(outages)), key=lambda row: (outages[row].node, outages[row].down))


def _check_apart(outages: tuple[Outage, ...]) -> None:
    """Check that outages of a node do not overlap, as all its cores return at the end of each."""
    rows = _in_order(outages)
    for first, second in pairwise(rows):
        before, after = outages[first], outages[second]
        if before.node == after.node and (before.up is None or after.down < before.up):
            raise ValueError(
                f"outages.{second}.down is {after.down:g}, expected a time from the end of outages.{first} on"
            )


def timetable(cluster: ColocatedClusterSpec, until: float, rng: np.random.Generator) -> NodeTimetable:
    """Return the times at which nodes lose and regain cores.

    Parameters
    ----------
    cluster
        The nodes.
    until
        Random outages begin before this time, s.
    rng
        The random generator of outages.

    Raises
    ------
    InputError
        There would be more outages than the simulator accepts.

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
    # Sorted, so that a node whose next outage begins when the last one ends is down from then on.
    for outage in (law[row] for row in _in_order(law)):
        found += NodeTimetable.outage(
            outage.node, outage.down, outage.up, cores=cluster.cores, left=outage.left, kill=outage.kill
        )
    return found
