"""One question for all nodes of a site: arrays with a row for each node.

An engine makes one call for a site and step. A policy that decides for many nodes at once has ``decide_all``
(:class:`~windlass.admit.AdmitsSite`); an engine calls other policies node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from windlass.admit.view import Admission, AdmitView, TaskLoad, UnboundTasks, unchecked
from windlass.model import InputError, PolicyError
from windlass.model.values import number

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: Limit of a node that accepts all tasks.
NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Reads:
    """What a policy reads besides ``busy`` and ``ready``; an engine need not provide the rest.

    Parameters
    ----------
    metrics, tasks, unbound
        Whether it reads the fields of these names of its view.
    """

    metrics: bool = True
    tasks: bool = True
    unbound: bool = False


@runtime_checkable
class Declaring(Protocol):
    """A policy, or its class, that declares what it reads."""

    reads: Reads


@dataclass(frozen=True, slots=True, eq=False)
class SiteTasks:
    """Tasks of n nodes during one step; see :class:`~windlass.admit.view.TaskLoad` for each array, (n,)."""

    in_flight: Floats
    waiting: Whole
    completed: Whole
    latency: Floats
    least_latency: Floats
    wait: Floats
    least_wait: Floats
    oldest: Floats

    def of(self, node: int) -> TaskLoad:
        """Return the tasks of one node; a view has checked their bounds."""
        return unchecked(
            TaskLoad,
            float(self.in_flight[node]),
            int(self.waiting[node]),
            int(self.completed[node]),
            float(self.latency[node]),
            float(self.least_latency[node]),
            float(self.wait[node]),
            float(self.least_wait[node]),
            float(self.oldest[node]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class AdmitSiteView:
    """All that a policy may know of the n nodes of a site when a step ends.

    Parameters
    ----------
    now
        The nodes' clock, s.
    metrics
        (n, d) measurements; d is 0 if the policy declares that it reads none. NaN for an absent node.
    busy, ready
        (n,) see :class:`~windlass.admit.AdmitView`; NaN for an absent node.
    present
        (n,) whether the node has cores and has measured itself. For an absent node there is nothing to decide.
    tasks
        Their tasks in the step; None if unknown.
    unbound
        Tasks of the site that wait for a node; None if unknown, or if the policy does not declare that it reads them.

    Raises
    ------
    InputError
        The shapes differ, or a number is out of bounds.

    Examples
    --------
    >>> here = np.array([True, False])
    >>> view = AdmitSiteView(0.0, np.zeros((2, 3)), np.array([0.5, np.nan]), np.array([0.1, np.nan]), here)
    >>> view.node(0).busy
    0.5
    """

    now: float
    metrics: Floats
    busy: Floats
    ready: Floats
    present: Bools
    tasks: SiteTasks | None = None
    unbound: UnboundTasks | None = None

    def __post_init__(self) -> None:
        nodes = (len(self.present),)
        if self.metrics.ndim != 2 or not len(self.metrics) == len(self.busy) == len(self.ready) == nodes[0]:
            shapes = ", ".join(str(each.shape) for each in (self.metrics, self.busy, self.ready))
            raise InputError(f"metrics, busy and ready have shapes {shapes}, expected a row for each node")
        number("now", self.now, -np.inf)
        wrong = (self.busy < 0.0) | (self.busy > 1.0) | (self.ready < 0.0) | (self.ready == np.inf)
        if self.tasks is not None:
            for name in SiteTasks.__slots__:
                values = getattr(self.tasks, name)
                if values.shape != nodes:
                    raise InputError(f"tasks: {name} has shape {values.shape}, expected {nodes}")
                wrong |= (values < 0) | (values == np.inf)
        if wrong.any():
            row = self.node(int(np.argmax(wrong)))
            AdmitView(row.now, row.metrics, row.busy, row.ready, row.tasks)
            assert row.tasks is not None
            TaskLoad(*(getattr(row.tasks, name) for name in TaskLoad.__slots__))

    def node(self, at: int, *, tasks: bool = True) -> AdmitView:
        """Return the view of one node, without its tasks if they are not needed."""
        load = self.tasks.of(at) if tasks and self.tasks is not None else None
        busy, ready = float(self.busy[at]), float(self.ready[at])
        return unchecked(AdmitView, self.now, self.metrics[at], busy, ready, load, self.unbound)


@dataclass(frozen=True, slots=True, eq=False)
class SiteAdmission:
    """The decisions of n nodes; each array has a row for each, and those of absent nodes have no effect.

    Parameters
    ----------
    reject
        (n,) True for nodes that reject all tasks.
    limit
        (n,) most tasks that the node has at once; :data:`NO_LIMIT` for no limit.
    score
        (n,) the number compared with a threshold, NaN without one.
    why
        The n reasons, in words; they may be formatted when they are read.

    Examples
    --------
    >>> SiteAdmission.of([Admission(True, "full"), Admission(False, "few tasks", limit=3)]).node(1).limit
    3
    """

    reject: Bools
    limit: Whole
    score: Floats
    why: Sequence[str]

    @classmethod
    def of(cls, answers: Sequence[Admission]) -> SiteAdmission:
        """Return the decisions of nodes, one after the other."""
        return cls(
            np.array([each.reject for each in answers], np.bool_),
            np.array([NO_LIMIT if each.limit is None else each.limit for each in answers], np.int64),
            np.array([each.score for each in answers], np.float64),
            tuple(each.why for each in answers),
        )

    def node(self, at: int) -> Admission:
        """Return the decision of one node."""
        limit = int(self.limit[at])
        return Admission(
            bool(self.reject[at]), self.why[at], float(self.score[at]), None if limit == NO_LIMIT else limit
        )

    def check(self, view: AdmitSiteView) -> None:
        """Raise unless an engine can carry this out.

        Raises
        ------
        PolicyError
            Not one decision for each node, or a limit below 1.
        """
        nodes = (len(view.present),)
        for name, array, kind in (("reject", self.reject, "b"), ("limit", self.limit, "i")):
            if array.shape != nodes or array.dtype.kind != kind:
                expected = "a boolean" if kind == "b" else "a whole number"
                raise PolicyError(
                    f"{name} has type {array.dtype} and shape {array.shape}, expected {expected} for each of "
                    f"{nodes[0]} nodes"
                )
        if len(self.why) != nodes[0]:
            raise PolicyError(f"why has {len(self.why)} reasons, expected {nodes[0]}")
        if (self.limit < 1).any():
            node = int(np.argmax(self.limit < 1))
            raise PolicyError(f"limit of node {node} is {self.limit[node]}, expected at least 1")


def alike(answer: Admission, nodes: int) -> SiteAdmission:
    """Return the same decision for each of n nodes.

    >>> alike(Admission(True, "closed"), 2).reject.tolist()
    [True, True]
    """
    limit = NO_LIMIT if answer.limit is None else answer.limit
    return SiteAdmission(
        np.full(nodes, answer.reject),
        np.full(nodes, limit),
        np.full(nodes, answer.score),
        (answer.why,) * nodes,
    )
