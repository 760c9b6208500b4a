"""Pronto for many nodes in one call; a single node is a fleet of one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Self

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.saved import Part, opened, pack, restore
from windlass.admit.lib.settings import Settings, settings_of
from windlass.admit.lib.spike_gate import gate_of
from windlass.admit.lib.spikes import Spikes
from windlass.admit.lib.stream import STREAM_FIELDS, Stream
from windlass.admit.lib.subspace import Floats
from windlass.admit.lib.thresholds import THRESHOLD_FIELDS, Threshold
from windlass.admit.lib.trackers import make_tracker
from windlass.model import InputError
from windlass.model.values import whole


class AdmissionFleet:
    """Nodes that decide independently whether to accept one more task, in one call per step.

    Every node has its own subspace and filters, and decides as it would alone.

    Parameters
    ----------
    nodes
        Number of nodes.
    dim
        Number of metrics of a node.
    **settings
        See :class:`~windlass.admit.Pronto`.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> fleet, rng = AdmissionFleet(nodes=3, dim=8, rank=2, block=10), np.random.default_rng(1)
    >>> [fleet.observe(rng.normal(size=(3, 8))).shape for _ in range(2)]
    [(3,), (3,)]
    >>> AdmissionFleet.load(fleet.save()).basis.shape
    (3, 8, 2)
    """

    kind = "windlass.admit.fleet"

    def __init__(
        self, nodes: int, dim: int, *, rng: np.random.Generator | None = None, **settings: object
    ) -> None:
        self._begin(whole("nodes", nodes, 1), dim, settings_of(settings), rng)

    def _begin(self, nodes: int, dim: int, settings: Settings, rng: np.random.Generator | None) -> None:
        self.settings = settings
        tracker = make_tracker(
            settings.tracker, nodes, dim, settings.rank, settings.block, settings.forget, settings.energy, rng,
            settings.spectrum,
        )  # fmt: skip
        self.stream = Stream(tracker, settings.block, settings.memory, settings.clip, settings.signs)
        self.spikes = Spikes(
            nodes, tracker.basis.shape[2], settings.lag, settings.alpha, settings.beta, settings.signal
        )
        self.threshold = Threshold(nodes, settings.threshold, settings.downtime)
        self.gate = gate_of(settings.between, settings.spike, settings.share, nodes)
        self.rejects: NDArray[np.bool_] = np.zeros(nodes, np.bool_)
        self._weights: Floats = np.zeros_like(self.stream.weights)

    def observe(self, metrics: Floats, ready: Floats | None = None) -> NDArray[np.bool_]:
        """Return which nodes reject tasks from now on, given their last measurements.

        Parameters
        ----------
        metrics
            (nodes, dim); NaN for a missing metric. A node without any value keeps its last answer.
        ready
            (nodes,) CPU Ready, which ``between`` needs.

        Returns
        -------
        numpy.ndarray
            (nodes,) True for a node that rejects.

        Raises
        ------
        InputError
            The shape is wrong.
        """
        stream, spikes = self.stream, self.spikes
        stream.step(stream.values(metrics))
        spikes.step(stream.projections, self._weights, stream.ranks, stream.present)
        resting = self._in_spike(ready)
        high = self.threshold.above(spikes.total, spikes.ready & ~resting)
        self.threshold.rest(spikes.total, spikes.ready & resting)
        self.rejects = np.where(stream.present > 0, high, self.rejects) & ~resting
        turned = stream.turn()
        if turned is not None:
            spikes.turn(turned.by, turned.ranks, turned.grown)
            self._weigh()
        return self.rejects.copy()

    def restart(self) -> None:
        """Discard filtered values after a gap in the telemetry, so that only later steps determine spikes."""
        self.spikes.restart()

    def start(self, node: int, basis: Floats, singular: Floats) -> None:
        """Let a node begin from directions of other nodes.

        Parameters
        ----------
        node
            Number of the node, from 0.
        basis, singular
            (dim, r) with orthonormal columns, and (r,).

        Raises
        ------
        InputError
            The node does not exist, or the arrays are not a subspace of its metrics.
        """
        if not 0 <= node < self.nodes:
            raise InputError(f"node is {node}, expected 0 to {self.nodes - 1}")
        self.stream.start(node, basis, singular)
        self.spikes.filled[node] = 0
        self._weigh()

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.stream.nodes

    @property
    def dim(self) -> int:
        """Number of metrics of a node."""
        return self.stream.dim

    @property
    def basis(self) -> Floats:
        """(nodes, dim, r) directions of each node; columns beyond a node's rank are 0."""
        return self.stream.basis.copy()

    @property
    def singular_values(self) -> Floats:
        """(nodes, r), descending."""
        return self.stream.weights.copy()

    @property
    def scores(self) -> Floats:
        """(nodes,) weighted sums of the last step, which are compared with the threshold."""
        return self.spikes.total.copy()

    @property
    def projections(self) -> Floats:
        """(nodes, r) projections of the last step."""
        return self.stream.projections.copy()

    @property
    def ranks(self) -> NDArray[np.int64]:
        """(nodes,) number of directions of each; 0 before its first block."""
        return self.stream.ranks.copy()

    def save(self) -> bytes:
        """Return the learned state as bytes."""
        made = {"nodes": self.nodes, "dim": self.dim, **asdict(self.settings)}
        return pack(self.kind, made, self._parts())

    @classmethod
    def load(cls, data: bytes) -> Self:
        """Return a fleet from the bytes of :meth:`save`.

        Raises
        ------
        InputError
            The data are not a saved fleet; one line.
        """
        header, arrays = opened(data, cls.kind)
        made = dict(header.settings)
        nodes, dim = (whole(f"saved state: {name}", made.pop(name, None), 1) for name in ("nodes", "dim"))
        settings = settings_of(made)
        # Check the size first, so that corrupt settings cannot make this allocate more than the data hold.
        if nodes * (dim * settings.block + settings.lag) > len(data):
            raise InputError(
                f"saved state: has {len(data)} bytes, too few for {nodes} nodes of {dim} metrics"
            )
        made_new = cls.__new__(cls)
        made_new._begin(nodes, dim, settings, None)
        restore(header, arrays, made_new._parts(), made_new.stream.tracker.free)
        made_new._check()
        return made_new

    def _in_spike(self, ready: Floats | None) -> NDArray[np.bool_]:
        if self.gate is None:
            return np.zeros(self.nodes, np.bool_)
        found = np.asarray(() if ready is None else ready, np.float64)
        if found.shape != (self.nodes,):
            raise InputError(
                f"ready has shape {found.shape}, expected ({self.nodes},): `between` needs each node's CPU Ready"
            )
        return self.gate.closed(found)

    def _parts(self) -> list[Part]:
        gate = [] if self.gate is None else self.gate.parts()
        return [
            ("stream", self.stream, STREAM_FIELDS),
            ("spikes", self.spikes, ("window", "filled", "spikes", "scores", "total", "ready")),
            ("threshold", self.threshold, THRESHOLD_FIELDS),
            ("fleet", self, ("rejects",)),
            *gate,
            *self.stream.tracker.parts(),
        ]

    def _check(self) -> None:
        """Raise InputError unless the loaded state is consistent."""
        self.stream.check()
        self._weigh()
        if (
            self.spikes.filled.min() < 0
            or self.threshold.seen.min() < 0
            or min(self.threshold.scale.min(), self.threshold.left.min()) < 0.0
        ):
            raise InputError("saved state: counts or deviations are below 0")

    def _weigh(self) -> None:
        """Compute the weight of each projection from the last block."""
        weights, ranks = self.stream.weights, self.stream.ranks
        if self.settings.weights == "unit":
            total = weights.sum(axis=1, keepdims=True)
            weights = weights / np.where(total > 0.0, total, 1.0)
        elif self.settings.weights == "equal":
            weights = (weights > 0.0) / np.maximum(ranks, 1)[:, None]
        self._weights = weights
