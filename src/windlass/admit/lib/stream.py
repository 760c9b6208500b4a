"""Nodes that watch themselves: metrics scaled, gathered to blocks for a tracker, and projected on its directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.scaling import SCALED, Scaling
from windlass.admit.lib.subspace import Floats, checked_subspace
from windlass.admit.lib.trackers import ManyTracker
from windlass.model import InputError
from windlass.model.values import number, whole

#: Which way a direction points: as the SVD has it, which is by chance; or so that more metrics rise along it than fall.
SIGNS = ("load", "printed")

#: What of a stream is saved.
STREAM_KEPT = (
    "seen",
    "mean",
    "variance",
    "blocks",
    "projections",
    "present",
    "basis",
    "weights",
    "ranks",
    "at",
)


@dataclass(frozen=True, slots=True)
class Turned:
    """What became of the bases when a block was full.

    Parameters
    ----------
    by
        (n, r, r): takes projections on the old directions to projections on the new ones.
    ranks
        (n,) how many directions each node has now.
    grown
        (n, r) which of them are new and had no old ones to be told from.
    """

    by: Floats
    ranks: NDArray[np.int64]
    grown: NDArray[np.bool_]


class Stream:
    """Nodes in step: each brings a vector of metrics a step.

    Parameters
    ----------
    tracker
        Of all nodes; it has their number, and the number of metrics.
    block
        After so many steps the tracker is given what came.
    memory
        Mean and deviation of a metric are over so many steps.
    clip
        No scaled value is further from 0.
    signs
        One of :data:`SIGNS`.

    Raises
    ------
    InputError
        A parameter is out of bounds.
    """

    def __init__(
        self,
        tracker: ManyTracker,
        block: int,
        memory: float = 1000.0,
        clip: float = 10.0,
        signs: str = "load",
    ) -> None:
        if signs not in SIGNS:
            raise InputError(f"signs is {signs!r}, expected one of {', '.join(SIGNS)}")
        self.tracker, self.signs = tracker, signs
        self.memory, self.clip = number("memory", memory, 2.0), number("clip", clip, 0.0, open_below=True)
        nodes, dim, axes = tracker.basis.shape
        self.seen, self.mean, self.variance = (np.zeros((nodes, dim)) for _ in range(3))
        self.blocks: Floats = np.zeros((nodes, whole("block", block, 1), dim))
        self.projections: Floats = np.zeros((nodes, axes))
        self.present: NDArray[np.int64] = np.zeros(nodes, np.int64)
        #: Directions in use, with their signs set; the tracker's own are left as they are.
        self.basis: Floats = np.zeros((nodes, dim, axes))
        self.weights: Floats = np.zeros((nodes, axes))
        self.ranks: NDArray[np.int64] = np.zeros(nodes, np.int64)
        self.at = 0

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.seen)

    @property
    def dim(self) -> int:
        """Metrics of a vector."""
        return int(self.seen.shape[1])

    def step(self, values: Floats) -> None:
        """Take in a vector of each node, (n, d), and project it on the directions of the blocks before."""
        scaling = Scaling(
            self.seen,
            self.mean,
            self.variance,
            self.memory,
            self.clip,
            self.blocks,
            self.basis,
            self.ranks,
            self.projections,
            self.present,
        )
        SCALED.entry()(np.ascontiguousarray(values, np.float64), self.at, scaling)
        self.at += 1

    def turn(self) -> Turned | None:
        """Give the tracker a block that is full, and what became of the directions; None where it is not full."""
        if self.at < self.blocks.shape[1]:
            return None
        self.at = 0
        self.tracker.update(self.blocks.swapaxes(1, 2))
        old, known = self.basis, np.arange(self.basis.shape[2]) < self.ranks[:, None]
        self.basis = self._signed()
        self.weights = self.tracker.singular.copy()
        self.ranks = self.tracker.ranks.copy()
        return Turned(self.basis.swapaxes(1, 2) @ old, self.ranks, ~known)

    def start(self, node: int, basis: Floats, singular: Floats) -> None:
        """Let a node begin from the directions that others have."""
        found, values = checked_subspace("the subspace to start from", basis, singular)
        if len(found) != self.dim:
            raise InputError(f"the subspace to start from is of {len(found)} metrics, expected {self.dim}")
        self.tracker.start(node, found, values)
        self.basis[node], self.weights[node] = self._signed()[node], self.tracker.singular[node]
        self.ranks[node] = self.tracker.ranks[node]

    def check(self) -> None:
        """That what was loaded can be: or an error of one line that says what cannot."""
        axes = self.basis.shape[2]
        if not (0 <= self.at < self.blocks.shape[1] and self.ranks.min() >= 0 and self.ranks.max() <= axes):
            raise InputError("saved state: a rank or the place in the block is out of bounds")
        if self.seen.min() < 0.0 or self.variance.min() < 0.0:
            raise InputError("saved state: counts or variances are below 0")
        held = np.arange(axes) < self.ranks[:, None]
        _check_bases("directions", self.basis, held)
        self.tracker.check()

    def values(self, observed: object) -> Floats:
        """Vectors as users give them: (n, d) numbers, of which any may be NaN; or an error that says what is wrong."""
        found = np.ascontiguousarray(observed, np.float64)
        if found.shape != self.seen.shape:
            raise InputError(f"metrics have shape {found.shape}, expected {self.seen.shape}")
        return found

    def _signed(self) -> Floats:
        if self.signs == "printed":
            return self.tracker.basis.copy()
        return self.tracker.basis * np.where(self.tracker.basis.sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)


def _check_bases(name: str, bases: Floats, held: NDArray[np.bool_]) -> None:
    off = np.abs(bases.swapaxes(1, 2) @ bases - np.eye(bases.shape[2]) * held[:, None, :]).max()
    if off > 1e-6:
        raise InputError(f"saved state: {name} are off by {off:.2g} from orthonormal, expected 1e-06 at most")
