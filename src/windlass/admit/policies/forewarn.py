"""Admission by a model of what precedes spikes of CPU Ready: Windlass's own policy."""

from __future__ import annotations

import math
from typing import ClassVar, Self

import numpy as np

from windlass.admit.federation import Subspace
from windlass.admit.learned import Learned, as_one_block
from windlass.admit.lib.ridge import Ridge
from windlass.admit.lib.saved import Part, opened, pack, restore
from windlass.admit.lib.spike_gate import spike_threshold
from windlass.admit.lib.stream import STREAM_FIELDS, Stream, Turned
from windlass.admit.lib.subspace import Floats
from windlass.admit.lib.thresholds import THRESHOLD_FIELDS, Threshold
from windlass.admit.lib.trackers import make_tracker
from windlass.admit.shared_model import PLAIN, Lesson
from windlass.admit.site import Reads
from windlass.admit.view import Admission, AdmitView
from windlass.model import InputError
from windlass.model.values import number, whole

#: Number of directions learned from outcomes: one for metrics, one for their changes.
_OUTCOME_DIRECTIONS = 2
#: Index of the feature for CPU Ready of the present step, in units of the spike level.
_NOW = 1
#: Weight of a lesson from other nodes in the covariance with outcomes, in steps of the node's own.
_PRIOR_STEPS = 200


class Forewarn:
    """Learns from each node's own CPU Ready which projections of its metrics precede a spike, and then rejects.

    The metrics are scaled and projected as under :class:`~windlass.admit.Pronto`. The projections, their changes and
    CPU Ready of the present step give a score by linear ridge regression. ``within`` steps later
    it is known whether an onset followed, and the regression learns from it. Two more features are projections on the
    directions along which metrics, and their changes, correlated with an onset. The threshold on the score moves so
    that the node rejects for exactly the share of time that the user allows.

    The state takes 3 dim · rank numbers, a block, and ``within`` steps. Before the first spikes, and if CPU Ready is
    never known, nothing is learned: the answer then follows the prior, or is never to reject.

    Source: Windlass.

    Parameters
    ----------
    dim
        Number of metrics.
    downtime
        Share of steps at which the node may reject, 0 to 1.
    rank, block, forget
        Number of directions, steps per block, and factor on the weight of older blocks.
    within
        Steps before an onset within which it must be predicted.
    spike
        Smallest CPU Ready of a spike; None if unknown.
    share
        If ``spike`` is None, the highest values are spikes: this share of the steps seen so far.
    apart
        Steps without a spike required before an onset.
    slow
        Memory of the regression, steps.
    between
        Whether to consider only the steps between spikes: the policy then learns how near to a spike the next
        ``within`` steps came, and never rejects during a spike. To reject during spikes as well, combine it with
        ``ready``.
    memory, clip
        See :class:`~windlass.admit.Pronto`.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> node, rng = Forewarn(dim=4, rank=2, block=10), np.random.default_rng(1)
    >>> views = (AdmitView(0.0, rng.normal(size=4), ready=0.0) for _ in range(30))
    >>> any(node.decide(view).reject for view in views)
    False
    """

    name: ClassVar[str] = "forewarn"
    reads: ClassVar[Reads] = Reads(tasks=False)
    kind: ClassVar[str] = "windlass.admit.forewarn"

    def __init__(
        self,
        dim: int,
        downtime: float = 0.05,
        rank: int = 4,
        block: int = 20,
        forget: float = 0.99,
        within: int = 10,
        spike: float | None = None,
        share: float = 0.05,
        apart: int = 3,
        slow: float = 5000.0,
        memory: float = 1000.0,
        clip: float = 10.0,
        between: bool = False,
    ) -> None:
        self.settings = {
            "dim": dim, "downtime": downtime, "rank": rank, "block": block, "forget": forget, "within": within,
            "spike": spike, "share": share, "apart": apart, "slow": slow, "memory": memory, "clip": clip,
            "between": between,
        }  # fmt: skip
        self.within, self.apart, self.between = whole("within", within, 1), whole("apart", apart, 1), between
        self.stream = Stream(make_tracker("fpca", 1, dim, rank, block, forget), block, memory, clip)
        self.spike = spike_threshold(1, spike, share)
        self.threshold = Threshold(1, 0.0, downtime)
        keeps = 1.0 - 1.0 / number("slow", slow, 1.0, open_below=True)
        self.line = Ridge(PLAIN + 2 * rank + _OUTCOME_DIRECTIONS, strength=20.0, forget=keeps)
        # A ring of the last steps: features, scaled metrics and their changes.
        self.features: Floats = np.zeros((within, len(self.line.prior)))
        self.metrics: Floats = np.zeros((within, 2, dim))
        # A moving average of the covariance of the outcome with each metric and with its change.
        self.covariance: Floats = np.zeros((2, dim))
        self.directions: Floats = np.zeros((2, dim))
        self.before: Floats = np.zeros((rank,))
        self.scaled: Floats = np.zeros(dim)
        self.ready: Floats = np.zeros(2)
        self.rate, self.steps, self.spiked, self.onset = 0.0, 0, -1, -1
        self.rejects, self.score, self.prior_steps = False, 0.0, 0
        self.weights = self.line.weights()

    def decide(self, view: AdmitView) -> Admission:
        """Decide by the score of this step, after learning from the outcome of the step ``within`` steps before."""
        stream, place = self.stream, self.steps % self.within
        at = stream.at
        stream.step(stream.values(view.metrics[None]))
        followed = self._record(view.ready)
        if self.steps >= self.within:
            # Whether an onset followed the step that leaves the ring is known only now.
            if not self.between:
                self._learn(place, followed)
            elif not self._in_spike(place):
                self._learn(place, self._nearest(place))
        scaled = stream.blocks[0, at]
        self.metrics[place] = scaled, scaled - self.scaled
        self.features[place] = self._features(self.metrics[place])
        self.scaled, self.before = scaled.copy(), stream.projections[0].copy()
        self.steps += 1
        if stream.present[0] > 0:
            self.score = float(self.features[place] @ self.weights)
            is_high = self.threshold.rest if self.between and self._in_spike(place) else self.threshold.above
            self.rejects = bool(is_high(np.array([self.score]))[0])
        turned = stream.turn()
        if turned is not None:
            self._turn(turned)
        level = float(self.threshold.level[0])
        return Admission(
            self.rejects, f"onsets score {self.score:.3g}, the threshold is {level:.3g}", self.score
        )

    def observe(self, metrics: Floats, ready: float = math.nan) -> bool:
        """Decide from arrays: (dim,) metrics, and CPU Ready of the same step."""
        return self.decide(AdmitView(0.0, np.asarray(metrics, np.float64), ready=ready)).reject

    def lesson(self) -> Lesson:
        """Return the learned model, for other nodes.

        Raises
        ------
        InputError
            No block is complete yet.
        """
        rank = int(self.stream.ranks[0])
        if rank == 0:
            block = self.stream.blocks.shape[1]
            raise InputError(
                f"lesson: the node has processed {self.steps} steps, expected at least a block of {block}"
            )
        plain, on, change, outcome = self._split(self.weights)
        basis = self.stream.basis[0]
        metrics = np.stack(
            [basis @ on + outcome[0] * self.directions[0], basis @ change + outcome[1] * self.directions[1]]
        )
        return Lesson(
            Subspace(basis[:, :rank], self.stream.weights[0, :rank]), metrics.T, plain.copy(), self.line.count
        )

    def start(self, lesson: Lesson) -> None:
        """Begin from a model learned elsewhere; the node's own experience soon outweighs it.

        Raises
        ------
        InputError
            The lesson has other metrics.
        """
        if lesson.metrics.shape != (self.stream.dim, 2) or lesson.plain.shape != (PLAIN,):
            raise InputError(
                f"the lesson has weights of shape {lesson.metrics.shape} for metrics and {lesson.plain.shape} for "
                f"CPU Ready, expected {(self.stream.dim, 2)} and {(PLAIN,)}"
            )
        self.stream.start(0, lesson.subspace.basis, lesson.subspace.singular)
        basis = self.stream.basis[0]
        # What lies outside the directions is represented by the two directions learned from outcomes.
        left = (lesson.metrics - basis @ (basis.T @ lesson.metrics)).T
        size = np.linalg.norm(left, axis=1)
        self.directions = left / np.where(size > 0.0, size, 1.0)[:, None]
        self.covariance, self.prior_steps = left, _PRIOR_STEPS
        on = (basis.T @ lesson.metrics).T
        self.line.prior = np.concatenate([lesson.plain, on[0], on[1], size])
        self.weights = self.line.weights()

    @property
    def is_new(self) -> bool:
        """True before the first block."""
        return bool(self.stream.ranks[0] == 0)

    def learned(self) -> Learned | None:
        """Return directions and lesson, for other nodes; None before the first block."""
        if self.is_new:
            return None
        lesson = self.lesson()
        return Learned(lesson.subspace, lesson)

    def join(self, learned: Learned) -> None:
        """Begin from what other nodes have learned, with the weight of one block."""
        stream, lesson = self.stream, learned.lesson
        subspace = as_one_block(learned.subspace, stream.basis.shape[2], stream.blocks.shape[1])
        if lesson is None:
            # The other nodes do not learn what precedes spikes; their directions help nevertheless.
            stream.start(0, subspace.basis, subspace.singular)
        else:
            self.start(Lesson(subspace, lesson.metrics, lesson.plain, lesson.count))

    @property
    def dim(self) -> int:
        """Number of metrics."""
        return self.stream.dim

    @property
    def projections(self) -> Floats:
        """(r,) projections of the last step."""
        return np.array(self.stream.projections[0])

    @property
    def singular_values(self) -> Floats:
        """(r,) singular values of the directions, descending."""
        return np.array(self.stream.weights[0, : self.stream.ranks[0]])

    def save(self) -> bytes:
        """Return the learned state as bytes."""
        return pack(self.kind, dict(self.settings), self._parts())

    @classmethod
    def load(cls, data: bytes) -> Self:
        """Return a policy from the bytes of :meth:`save`; raise an InputError of one line for anything else."""
        header, arrays = opened(data, cls.kind)
        made = header.settings
        sizes = [
            whole(f"saved state: {name}", made.get(name), 1) for name in ("dim", "rank", "block", "within")
        ]
        # Check the size first, so that corrupt settings cannot make this allocate more than the data hold.
        if sizes[0] * max(sizes[1:]) * 8 > len(data):
            raise InputError(f"saved state: has {len(data)} bytes, too few for its settings")
        try:
            found = cls(**made)
        except TypeError as error:
            raise InputError(f"saved state: settings: {error}") from error
        restore(header, arrays, found._parts())
        found.stream.check()
        if found.steps < 0 or max(found.spiked, found.onset) >= max(found.steps, 1):
            raise InputError("saved state: steps are out of bounds")
        return found

    def _parts(self) -> list[Part]:
        own = (
            "features", "metrics", ("told", "covariance"), "directions", "before", "scaled", "ready",
            "rate", "steps", "spiked", "onset", "rejects", "score", ("taught", "prior_steps"), "weights",
        )  # fmt: skip
        return [
            ("stream", self.stream, STREAM_FIELDS),
            ("spike", self.spike, THRESHOLD_FIELDS),
            ("threshold", self.threshold, THRESHOLD_FIELDS),
            ("line", self.line, ("squares", "products", "prior", "count")),
            ("node", self, own),
            *self.stream.tracker.parts(),
        ]

    def _record(self, ready: float) -> float:
        """Record CPU Ready; return 1 if an onset began in the last ``within`` steps, else 0."""
        if not math.isnan(ready):
            self.spike.above(np.array([ready]))
            high = ready >= float(self.spike.level[0]) and ready > 0.0
            if high and self.steps - self.spiked > self.apart and self.spiked >= 0:
                self.onset = self.steps
            self.spiked = self.steps if high or self.spiked < 0 else self.spiked
            self.ready = np.array([ready, self.ready[1] + (ready - self.ready[1]) / self.within])
        return float(self.onset > self.steps - self.within and self.onset >= 0)

    def _in_spike(self, place: int) -> bool:
        return bool(self.features[place, _NOW] >= 1.0)

    def _nearest(self, place: int) -> float:
        """Return how near to a spike the steps after the one at this index came: 1 is a spike."""
        since = np.delete(self.features[:, _NOW], place).max(initial=0.0)
        return float(min(max(since, self._units()[0]), 1.0))

    def _units(self) -> Floats:
        """Return CPU Ready and its moving average in units of the spike level, at most 5."""
        return np.asarray(np.minimum(self.ready / max(float(self.spike.level[0]), 1e-12), 5.0))

    def _learn(self, place: int, followed: float) -> None:
        self.line.learn(self.features[place], followed)
        gain = 1.0 - self.line.forget
        self.rate += max(gain, 1.0 / self.line.count) * (followed - self.rate)
        gain = max(gain, 1.0 / (self.line.count + self.prior_steps))
        self.covariance += gain * ((followed - self.rate) * self.metrics[place] - self.covariance)

    def _features(self, metrics: Floats) -> Floats:
        now, mean = self._units()
        on = self.stream.projections[0]
        outcome = (self.directions * metrics).sum(axis=1)
        return np.concatenate([[1.0, now, now - mean, mean], on, on - self.before, outcome])

    def _turn(self, turned: Turned) -> None:
        """Convert the model to the new directions and refit the regression."""
        rank = len(self.before)
        by = np.eye(len(self.line.prior))
        by[PLAIN : PLAIN + rank, PLAIN : PLAIN + rank] = turned.by[0]
        by[PLAIN + rank : -_OUTCOME_DIRECTIONS, PLAIN + rank : -_OUTCOME_DIRECTIONS] = turned.by[0]
        self.line.carry(by)
        self.features = self.features @ by.T
        self.before = turned.by[0] @ self.before
        size = np.linalg.norm(self.covariance, axis=1)
        self.directions = np.where(
            size[:, None] > 0.0, self.covariance / np.where(size > 0.0, size, 1.0)[:, None], self.directions
        )
        self.weights = self.line.weights()

    def _split(self, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the weights of CPU Ready, projections, their changes, and directions learned from outcomes."""
        rank = len(self.before)
        plain, on, change, outcome = np.split(
            weights, (PLAIN, PLAIN + rank, len(weights) - _OUTCOME_DIRECTIONS)
        )
        return plain, on, change, outcome
