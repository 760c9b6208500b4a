"""Outages of nodes in a scenario: a law that they are drawn from, or a list, and their timetable."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, TypeAdapter

from windlass.experiment.workloads.outages import draw_outages
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model import InputError, JobTable
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


def _law_or_list(value: Any) -> Any:
    # The form of the value selects the type, so that an error concerns the intended one.
    if isinstance(value, list | tuple):
        return _LISTED.validate_python(value)
    return value if value is None else DrawnOutages.model_validate(value)


#: Outages of nodes: parameters of random ones, or a list.
NodeOutages = Annotated[DrawnOutages | tuple[Outage, ...], BeforeValidator(_law_or_list)]


def check_outages(outages: DrawnOutages | Sequence[Outage], cores: Sequence[int]) -> None:
    """Check listed outages.

    Parameters
    ----------
    outages
        The outages.
    cores
        The cores of each node.

    Raises
    ------
    ValueError
        A node does not exist or has fewer cores, an outage ends before it begins, or two of a node overlap: all its
        cores return at the end of each.
    """
    if isinstance(outages, DrawnOutages):
        return
    for row, outage in enumerate(outages):
        name = f"outages.{row}"
        if outage.node >= len(cores):
            raise ValueError(f"{name}.node is {outage.node}, expected 0 to {len(cores) - 1}")
        if outage.left >= cores[outage.node]:
            raise ValueError(
                f"{name}.left is {outage.left}, expected fewer than the node's {cores[outage.node]}"
            )
        if outage.up is not None and not outage.up > outage.down:
            raise ValueError(f"{name}.up is {outage.up:g}, expected a time after down, {outage.down:g}")
    for first, second in pairwise(_in_order(outages)):
        before, after = outages[first], outages[second]
        if before.node == after.node and (before.up is None or after.down < before.up):
            raise ValueError(
                f"outages.{second}.down is {after.down:g}, expected a time from the end of outages.{first} on"
            )


def outage_times(
    outages: DrawnOutages | Sequence[Outage],
    groups: Sequence[tuple[int, int]],
    until: float,
    rng: np.random.Generator,
) -> NodeTimetable:
    """Return the times at which nodes lose and regain cores.

    Parameters
    ----------
    outages
        The outages.
    groups
        Number of nodes, and cores of each, of each group of nodes.
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
    >>> listed = [Outage(node=1, down=5, up=9, left=1)]
    >>> outage_times(listed, [(2, 4)], 100.0, np.random.default_rng(1)).cores.tolist()
    [1, 4]
    """
    found, first = NodeTimetable.none(), 0
    if isinstance(outages, DrawnOutages):
        for count, cores in groups:
            drawn = draw_outages(count, cores, outages.every, outages.last, outages.kill, until, rng)
            found += NodeTimetable(drawn.time, drawn.node + first, drawn.cores, drawn.kill)
            first += count
        return found
    whole = [cores for count, cores in groups for _ in range(count)]
    # Sorted, so that a node whose next outage begins when the last one ends is down from then on.
    for outage in (outages[row] for row in _in_order(outages)):
        found += NodeTimetable.outage(
            outage.node,
            outage.down,
            outage.up,
            cores=whole[outage.node],
            left=outage.left,
            kill=outage.kill,
        )
    return found


def check_room(times: NodeTimetable, cores: Sequence[int], jobs: JobTable, where: str) -> None:
    """Reject outages without an end that leave fewer cores than a job needs, as the job would wait forever.

    Parameters
    ----------
    times
        The outages.
    cores
        The cores of each node.
    jobs
        The jobs.
    where
        The field of the outages, for the error.

    Raises
    ------
    InputError
        A job needs more cores.
    """
    left = np.array(cores, np.int64)
    # The last change of each node determines its cores from then on.
    left[times.node] = times.cores
    widest = int(np.argmax(jobs.procs))
    if jobs.procs[widest] > left.sum():
        raise InputError(
            f"{where}: outages without an end leave {left.sum()} cores, but job {jobs.job[widest]} needs "
            f"{jobs.procs[widest]}"
        )


def _in_order(outages: Sequence[Outage]) -> list[int]:
    """Return the rows of outages, sorted by node and time."""
    return sorted(range(len(outages)), key=lambda row: (outages[row].node, outages[row].down))
