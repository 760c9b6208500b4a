"""Policies as the agent uses them: they decide, and some of them learn, keep what they learned, and share it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.admit import POLICIES, Admission, AdmitPolicy, AdmitView, Forewarn, Pronto, Subspace
from windlass.admit.lesson import Lesson
from windlass.admit.saving import load_lesson, load_subspace, save_lesson, save_subspace
from windlass.engines.linux.agent.envelope import Envelope, Part
from windlass.model import InputError

_NONE = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What goes up and down the tree.

    Parameters
    ----------
    subspace
        Directions.
    lesson
        What a policy that learns of spikes has learned; None of one that does not.
    """

    subspace: Subspace
    lesson: Lesson | None = None

    def sealed(self, policy: str, metrics: str) -> Envelope:
        """As a message."""
        parts = [Part("subspace", save_subspace(self.subspace))]
        if self.lesson is not None:
            parts.append(Part("lesson", save_lesson(self.lesson)))
        return Envelope("learned", policy, metrics, tuple(parts))

    @classmethod
    def of(cls, envelope: Envelope, dim: int) -> Learned:
        """What a message says.

        Raises
        ------
        InputError
            It does not say it, or says it of another number of metrics.
        """
        data, lesson = envelope.part("subspace"), envelope.part("lesson")
        if data is None:
            raise InputError("has no part 'subspace'")
        found = cls(load_subspace(data), None if lesson is None else load_lesson(lesson))
        for each in (found.subspace, found.lesson.subspace if found.lesson else found.subspace):
            if len(each.basis) != dim:
                raise InputError(f"a subspace of {len(each.basis)} metrics, expected {dim}")
            # A node's values are at most 10 deviations of each metric and step: this is 10¹² steps of them.
            if float(each.singular.max()) > 1e9:
                raise InputError(
                    f"a singular value of {float(each.singular.max()):g}, expected 1e+09 at most"
                )
        if found.lesson and max(map(_size, (found.lesson.metrics, found.lesson.plain))) > 1e6:
            raise InputError("a lesson with a weight above 1e+06")
        if found.lesson and found.lesson.count > 1e12:
            raise InputError(f"a lesson of {found.lesson.count:g} steps, expected 1e+12 at most")
        return found


class Node(Protocol):
    """A policy of one node, with what it learned."""

    @property
    def policy(self) -> AdmitPolicy:
        """Decides."""
        ...

    @property
    def new(self) -> bool:
        """Whether it has seen too little to have directions of its own."""
        ...

    @property
    def projections(self) -> NDArray[np.float64]:
        """(r,) of the last step."""
        ...

    @property
    def singular(self) -> NDArray[np.float64]:
        """(r,) of its directions, descending."""
        ...

    def gap(self) -> None:
        """Time was lost since the last step."""
        ...

    def learned(self) -> Learned | None:
        """What it has learned, for others; None where that is nothing yet."""
        ...

    def start(self, learned: Learned) -> None:
        """Begin from what others have learned."""
        ...

    def save(self) -> bytes | None:
        """What it has learned, to be kept; None for a policy that keeps nothing."""
        ...


class PlainNode:
    """A policy that learns nothing that others could use, or that could be kept."""

    new = False
    projections = _NONE
    singular = _NONE

    def __init__(self, policy: AdmitPolicy) -> None:
        self.policy: AdmitPolicy = policy

    def gap(self) -> None:
        """Nothing is lost."""

    def learned(self) -> None:
        """Nothing."""

    def start(self, learned: Learned) -> None:
        """There is nothing to begin from."""

    def save(self) -> None:
        """Nothing."""


class ProntoNode:
    """Pronto: its directions are kept and shared."""

    def __init__(self, policy: Pronto) -> None:
        self.policy: Pronto = policy

    @property
    def new(self) -> bool:
        return bool(self.policy.fleet.ranks[0] == 0)

    @property
    def projections(self) -> NDArray[np.float64]:
        return np.asarray(self.policy.fleet.projections[0])

    @property
    def singular(self) -> NDArray[np.float64]:
        return self.policy.singular_values

    def gap(self) -> None:
        self.policy.restart()

    def learned(self) -> Learned | None:
        return None if self.new else Learned(Subspace(self.policy.basis, self.policy.singular_values))

    def start(self, learned: Learned) -> None:
        begun = _as_a_block(
            learned.subspace, self.policy.fleet.basis.shape[2], self.policy.fleet.settings.block
        )
        self.policy.start(begun.basis, begun.singular)

    def save(self) -> bytes:
        return self.policy.save()


class ForewarnNode:
    """Forewarn: its directions are kept and shared, and what came before spikes."""

    def __init__(self, policy: Forewarn) -> None:
        self.policy: Forewarn = policy

    @property
    def new(self) -> bool:
        return bool(self.policy.stream.ranks[0] == 0)

    @property
    def projections(self) -> NDArray[np.float64]:
        return np.array(self.policy.stream.projections[0])

    @property
    def singular(self) -> NDArray[np.float64]:
        return np.array(self.policy.stream.weights[0, : self.policy.stream.ranks[0]])

    def gap(self) -> None:
        """What came before a gap is still what came before what follows it, as far as anybody knows."""

    def learned(self) -> Learned | None:
        if self.new:
            return None
        lesson = self.policy.lesson()
        return Learned(lesson.subspace, lesson)

    def start(self, learned: Learned) -> None:
        stream = self.policy.stream
        subspace = _as_a_block(learned.subspace, stream.basis.shape[2], stream.blocks.shape[1])
        lesson = learned.lesson
        if lesson is None:
            # Others in the tree foresee nothing: their directions are of use all the same.
            self.policy.stream.start(0, subspace.basis, subspace.singular)
        else:
            self.policy.start(Lesson(subspace, lesson.metrics, lesson.plain, lesson.count))

    def save(self) -> bytes:
        return self.policy.save()


def make_node(name: str, dim: int, rng: np.random.Generator, downtime: float | None = None) -> Node:
    """A node under a policy, which has seen nothing yet.

    Parameters
    ----------
    name
        The policy's, or the file that holds it.
    dim
        Metrics.
    rng
        Of policies that draw.
    downtime
        Share of the time in which it may reject, 0 to 1; None for what the policy has by default.

    Raises
    ------
    InputError
        There is no such policy, or it has no budget where one is given.

    Examples
    --------
    >>> make_node("utilisation", 3, np.random.default_rng(1)).policy.name
    'utilisation'
    """
    given: dict[str, Any] = {} if downtime is None else {"downtime": downtime}
    if name == Pronto.name:
        # Spikes are too coarse for a budget: z-scores are not.
        budget = {} if downtime is None else {"signal": "scores", "weights": "equal"}
        return ProntoNode(POLICIES.make(name, rng, dim=dim, **given, **budget))
    if name == Forewarn.name:
        return ForewarnNode(POLICIES.make(name, rng, dim=dim, **given))
    if "dim" in inspect.signature(POLICIES.find(name)).parameters:
        given["dim"] = dim
    return PlainNode(POLICIES.make(name, rng, **given))


def load_node(name: str, dim: int, data: bytes) -> Node:
    """A node as it was saved.

    Raises
    ------
    InputError
        It cannot be loaded, or is of another number of metrics.
    """
    node: Node
    if name == Pronto.name:
        pronto = Pronto.load(data)
        found, node = pronto.fleet.dim, ProntoNode(pronto)
    elif name == Forewarn.name:
        forewarn = Forewarn.load(data)
        found, node = forewarn.stream.dim, ForewarnNode(forewarn)
    else:
        raise InputError(f"policy '{name:.40}' keeps nothing")
    if found != dim:
        raise InputError(f"is of {found} metrics, expected {dim}")
    return node


def decide(node: Node, view: AdmitView) -> Admission:
    """What a node's policy answers, checked."""
    found = node.policy.decide(view)
    found.check()
    return found


def _as_a_block(subspace: Subspace, rank: int, block: int) -> Subspace:
    """Directions to begin from, with the weight of one block of steps.

    A newcomer sends up what it has, and that must not be what others have seen: it would count again with each who
    comes.
    """
    singular = subspace.singular[:rank]
    size = float(np.linalg.norm(singular))
    weight = np.sqrt(float(block * len(subspace.basis))) / size if size > 0.0 else 1.0
    return Subspace(subspace.basis[:, :rank], weight * singular)


def _size(values: NDArray[np.float64]) -> float:
    return float(np.abs(values).max())
