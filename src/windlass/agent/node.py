"""Policies as used by the agent: they decide, and some of them learn, can be saved, and share what they learned.

The agent does not know policies by name. The further abilities of a policy are protocols of
:mod:`windlass.admit.learned`, so a learning policy from a user's file is saved and merged like a built-in one.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from windlass.admit import POLICIES, Admission, AdmitPolicy, AdmitView
from windlass.admit.context import AdmitContext
from windlass.admit.learned import Interruptible, Learned, Loadable, Mergeable, Projecting, Restorable
from windlass.admit.saving import load_lesson, load_subspace, save_lesson, save_subspace
from windlass.agent.envelope import Envelope, EnvelopePart
from windlass.model import InputError
from windlass.policy.registry import capability

_NONE = np.zeros(0)
#: Bounds of a valid message: a node's values are at most 10 deviations of each metric and step, for 10¹² steps.
_MOST_SINGULAR, _MOST_WEIGHT, _MOST_STEPS = 1e9, 1e6, 1e12


def as_message(learned: Learned, policy: str, metrics: str) -> Envelope:
    """Return what was learned as a message up or down the tree.

    Parameters
    ----------
    learned
        What a node, or an aggregator, has learned.
    policy
        Name of the policy; empty from an aggregator.
    metrics
        Digest of the names of the metrics.
    """
    parts = [EnvelopePart("subspace", save_subspace(learned.subspace))]
    if learned.lesson is not None:
        parts.append(EnvelopePart("lesson", save_lesson(learned.lesson)))
    return Envelope("learned", policy, metrics, tuple(parts))


def from_message(envelope: Envelope, dim: int) -> Learned:
    """Parse and validate what a message contains.

    Raises
    ------
    InputError
        A part is missing, the number of metrics differs, or a number is larger than any node can reach.
    """
    data, lesson = envelope.part("subspace"), envelope.part("lesson")
    if data is None:
        raise InputError("has no part 'subspace'")
    found = Learned(load_subspace(data), None if lesson is None else load_lesson(lesson))
    for each in (found.subspace, found.lesson.subspace if found.lesson else found.subspace):
        if len(each.basis) != dim:
            raise InputError(f"a subspace of {len(each.basis)} metrics, expected {dim}")
        if float(each.singular.max()) > _MOST_SINGULAR:
            raise InputError(
                f"a singular value of {float(each.singular.max()):g}, expected {_MOST_SINGULAR:g} at most"
            )
    if found.lesson and max(map(_size, (found.lesson.metrics, found.lesson.plain))) > _MOST_WEIGHT:
        raise InputError(f"a lesson with a weight above {_MOST_WEIGHT:g}")
    if found.lesson and found.lesson.count > _MOST_STEPS:
        raise InputError(f"a lesson of {found.lesson.count:g} steps, expected {_MOST_STEPS:g} at most")
    return found


class AgentNode:
    """A policy of one node, and its further abilities.

    Parameters
    ----------
    policy
        The policy.
    """

    def __init__(self, policy: AdmitPolicy) -> None:
        self.policy = policy
        self._restorable = capability(policy, Restorable)
        self._mergeable = capability(policy, Mergeable)
        self._interruptible = capability(policy, Interruptible)
        self._projecting = capability(policy, Projecting)

    @property
    def is_new(self) -> bool:
        """True if the policy could start from what other nodes have learned, and has learned nothing yet."""
        return self._mergeable is not None and self._mergeable.is_new

    @property
    def can_be_saved(self) -> bool:
        """True if the policy's state can be saved."""
        return self._restorable is not None

    @property
    def can_share(self) -> bool:
        """True if the policy shares what it has learned with other nodes."""
        return self._mergeable is not None

    @property
    def projections(self) -> NDArray[np.float64]:
        """(r,) projections of the last step on the policy's directions; empty if it has none."""
        return _NONE if self._projecting is None else self._projecting.projections

    @property
    def singular(self) -> NDArray[np.float64]:
        """(r,) singular values of the directions, descending; empty if it has none."""
        return _NONE if self._projecting is None else self._projecting.singular_values

    def gap(self) -> None:
        """Notify the policy of a gap since the last step."""
        if self._interruptible is not None:
            self._interruptible.restart()

    def learned(self) -> Learned | None:
        """Return what was learned, for other nodes; None if there is nothing."""
        return None if self._mergeable is None else self._mergeable.learned()

    def start(self, learned: Learned) -> None:
        """Start from what other nodes have learned."""
        if self._mergeable is not None:
            self._mergeable.join(learned)

    def save(self) -> bytes | None:
        """Return the state of the policy, to be saved; None if the policy does not support it."""
        return None if self._restorable is None else self._restorable.save()


def make_node(name: str, dim: int, rng: np.random.Generator, downtime: float | None = None) -> AgentNode:
    """Return a new node under a policy.

    Parameters
    ----------
    name
        The policy's name, or its file.
    dim
        Number of metrics.
    rng
        The random generator of policies that use one.
    downtime
        Share of the time in which the node may reject, 0 to 1; None for the policy's default.

    Raises
    ------
    InputError
        The policy does not exist, or ``downtime`` is given and it has none.
    Examples
    --------
    >>> make_node("utilisation", 3, np.random.default_rng(1)).policy.name
    'utilisation'
    """
    given: dict[str, Any] = {} if downtime is None else {"downtime": downtime}
    return AgentNode(POLICIES.make(name, AdmitContext(rng, dim), **given))


def load_node(name: str, dim: int, data: bytes) -> AgentNode:
    """Return a saved node.

    Raises
    ------
    InputError
        It cannot be loaded, or has another number of metrics.
    """
    kind = capability(POLICIES.find(name), Loadable)
    policy = None if kind is None else capability(kind.load(data), Restorable)
    if policy is None:
        raise InputError(f"policy '{name:.40}' cannot be saved or loaded")
    if policy.dim != dim:
        raise InputError(f"has {policy.dim} metrics, expected {dim}")
    return AgentNode(cast(AdmitPolicy, policy))


def decide(node: AgentNode, view: AdmitView) -> Admission:
    """Return the validated answer of a node's policy."""
    found = node.policy.decide(view)
    found.check(view)
    return found


def _size(values: NDArray[np.float64]) -> float:
    return float(np.abs(values).max())
