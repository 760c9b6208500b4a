"""Streams of metrics: scaled, gathered to blocks for a tracker, and projected on its directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.scaling import SCALED, Scaling
from windlass.admit.lib.subspace import Floats, checked_subspace
from windlass.admit.lib.trackers import ManyTracker
from windlass.model import InputError
from windlass.model.values import number, whole

#: Sign of a direction: so that more metrics rise along it than fall, or arbitrary, as the SVD returns it.
SIGNS = ("load", "printed")

#: Attributes of a stream that are saved.
STREAM_FIELDS = (
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
    """The change of the bases at the end of a block.

    Parameters
    ----------
    by
        (n, r, r): converts projections on the old directions to projections on the new ones.
    ranks
        (n,) number of directions of each node now.
    grown
        (n, r) which directions are new, without a counterpart in the old basis.
    """

    by: Floats
    ranks: NDArray[np.int64]
    grown: NDArray[np.bool_]


class Stream:
    """Nodes in lockstep: each provides a vector of metrics per step.

    Parameters
    ----------
    tracker
        Tracker of all nodes, which fixes the numbers of nodes and metrics.
    block
        Number of steps after which the tracker is updated.
    memory
        Number of steps over which mean and deviation of a metric are taken.
    clip
        Greatest absolute scaled value.
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
        #: Directions in use, with signs set; the tracker's own do not change.
        self.basis: Floats = np.zeros((nodes, dim, axes))
        self.weights: Floats = np.zeros((nodes, axes))
        self.ranks: NDArray[np.int64] = np.zeros(nodes, np.int64)
        self.at = 0

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.seen)

    @property
    def dim(self) -> int:
        """Number of metrics of a vector."""
        return int(self.seen.shape[1])

    def step(self, values: Floats) -> None:
        """Process a vector of each node, (n, d), and project it on the directions of the blocks before."""
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
        """Update the tracker with a full block and return the change of the directions; None if it is not full."""
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
        """Let a node begin from the directions of another node."""
        found, values = checked_subspace("the subspace to start from", basis, singular)
        if len(found) != self.dim:
            raise InputError(f"the subspace to start from is of {len(found)} metrics, expected {self.dim}")
        self.tracker.start(node, found, values)
        self.basis[node], self.weights[node] = self._signed()[node], self.tracker.singular[node]
        self.ranks[node] = self.tracker.ranks[node]

    def check(self) -> None:
        """Raise an InputError of one line unless the loaded state is consistent."""
        axes = self.basis.shape[2]
        if not (0 <= self.at < self.blocks.shape[1] and self.ranks.min() >= 0 and self.ranks.max() <= axes):
            raise InputError("saved state: a rank or the place in the block is out of bounds")
        if self.seen.min() < 0.0 or self.variance.min() < 0.0:
            raise InputError("saved state: counts or variances are below 0")
        held = np.arange(axes) < self.ranks[:, None]
        _check_bases("directions", self.basis, held)
        self.tracker.check()

    def values(self, observed: object) -> Floats:
        """Validate vectors from users: (n, d) numbers, any of which may be NaN."""
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
