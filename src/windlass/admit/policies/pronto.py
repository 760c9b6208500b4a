"""Admission by spikes of projections of the node's metrics on its leading directions."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from windlass.admit.federation import Subspace
from windlass.admit.fleet import AdmissionFleet
from windlass.admit.learned import Learned, as_one_block
from windlass.admit.lib.subspace import Floats
from windlass.admit.site import Reads
from windlass.admit.view import Admission, AdmitView
from windlass.model import InputError


class Pronto:
    """Tracks the leading directions of a node's metrics, and rejects tasks when projections on them spike.

    Metrics are scaled by their own mean and deviation so far. Every ``block`` steps the tracker is updated.
    Each new vector is projected on the directions, and a spike of a projection counts 1 or -1 times its weight. The
    node rejects from a sum of ``threshold`` on, but never before the first block and ``lag`` further steps.

    Defaults are the paper's where it gives them. Whatever it leaves open is a parameter; docs/admit.md
    gives the reasons.

    Source: Grammenos et al., Pronto: federated task scheduling, Algorithms 1 and 2.

    Parameters
    ----------
    dim
        Number of metrics of the node.
    rank, block, tracker, forget, energy
        Number of directions; steps per block; ``fpca``, ``spirit``, ``directions`` or ``power``; factor on the weight
        of older blocks; and bounds by which the rank is adapted, or None.
    lag, alpha, beta
        Parameters of the spike detector: number of values it looks back on, deviations of a spike, and share of a
        spike that enters the filter.
    weights
        Weight of a projection: ``raw``, its singular value as printed; ``unit``, that divided by the sum; ``equal``.
        By default ``raw``; with a ``downtime`` and no ``signal``, ``equal``.
    spectrum
        Weights of directions of ``directions`` and ``power``, which estimate no singular values: ``decay``, 1/i for
        direction i, or ``flat``, 1/rank for each.
    signal
        Quantity summed: ``spikes`` as printed, ``absolute`` for spikes of either sign, ``scores`` for z-scores. By
        default ``spikes``; with a ``downtime``, ``scores``, because spikes are too coarse to keep to one.
    signs
        Signs of directions: ``load``, so that more metrics rise along one than fall; ``printed``, as the SVD has them.
    threshold
        Smallest sum at which the node rejects.
    downtime
        If given, the threshold moves so that this share of steps is above it. Only ``scores`` are fine enough
        for that.
    memory
        Number of steps over which mean and deviation of a metric are taken.
    clip
        Greatest absolute value of a scaled metric, in deviations.
    between
        Whether to consider only the steps between spikes of CPU Ready: the policy then never rejects during a spike.
    spike, share
        What a spike is for ``between``: the smallest CPU Ready, or if that is None, the highest values of this share
        of the steps.
    rng
        For the tracker ``power``, which starts from random directions.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> node = Pronto(dim=6, rank=2, block=10)
    >>> any(node.observe(rng.normal(size=6)) for _ in range(20))
    False
    >>> node.observe(np.full(6, 50.0))
    True
    """

    name: ClassVar[str] = "pronto"
    reads: ClassVar[Reads] = Reads(tasks=False)

    def __init__(
        self,
        dim: int,
        rank: int = 4,
        block: int = 20,
        tracker: str = "fpca",
        forget: float = 1.0,
        energy: tuple[float, float] | None = None,
        lag: int = 10,
        alpha: float = 3.5,
        beta: float = 0.5,
        weights: str | None = None,
        spectrum: str = "decay",
        signal: str | None = None,
        signs: str = "load",
        threshold: float = 1.0,
        downtime: float | None = None,
        memory: float = 1000.0,
        clip: float = 10.0,
        between: bool = False,
        spike: float | None = None,
        share: float = 0.05,
        rng: np.random.Generator | None = None,
    ) -> None:
        is_coarse = downtime is None or signal is not None
        weights = weights or ("raw" if is_coarse else "equal")
        signal = signal or ("spikes" if is_coarse else "scores")
        self.fleet = AdmissionFleet(
            1,
            dim,
            rng=rng,
            rank=rank,
            block=block,
            tracker=tracker,
            forget=forget,
            energy=energy,
            lag=lag,
            alpha=alpha,
            beta=beta,
            weights=weights,
            spectrum=spectrum,
            signal=signal,
            signs=signs,
            threshold=threshold,
            downtime=downtime,
            memory=memory,
            clip=clip,
            between=between,
            spike=spike,
            share=share,
        )

    def observe(self, metrics: Floats, ready: float = math.nan) -> bool:
        """Return whether the node rejects tasks from now on.

        Parameters
        ----------
        metrics
            (dim,); NaN for a missing metric. If all are missing, the last answer holds.
        ready
            CPU Ready of the same step, which ``between`` needs; NaN if unknown.

        Raises
        ------
        InputError
            The shape is wrong.
        """
        found = np.asarray(metrics, np.float64)
        if found.shape != (self.fleet.dim,):
            raise InputError(f"metrics have shape {found.shape}, expected ({self.fleet.dim},)")
        return bool(self.fleet.observe(found[None], np.array([ready]))[0])

    def decide(self, view: AdmitView) -> Admission:
        """Decide by the spikes of this step."""
        level = float(self.fleet.threshold.level[0])
        reject, score = self.observe(view.metrics, view.ready), float(self.fleet.scores[0])
        return Admission(reject, f"weighted spikes are {score:.3g}, the threshold is {level:.3g}", score)

    def restart(self) -> None:
        """Discard filtered values after a gap in the telemetry, so that only later steps determine spikes."""
        self.fleet.restart()

    def start(self, basis: Floats, singular: Floats) -> None:
        """Begin from directions of other nodes: (dim, r) with orthonormal columns, and (r,)."""
        self.fleet.start(0, basis, singular)

    @property
    def is_new(self) -> bool:
        """True before the first block."""
        return bool(self.fleet.ranks[0] == 0)

    def learned(self) -> Learned | None:
        """Return the directions, for other nodes; None before the first block."""
        return None if self.is_new else Learned(Subspace(self.basis, self.singular_values))

    def join(self, learned: Learned) -> None:
        """Begin from directions of other nodes, with the weight of one block."""
        subspace = as_one_block(learned.subspace, self.fleet.basis.shape[2], self.fleet.settings.block)
        self.start(subspace.basis, subspace.singular)

    @property
    def dim(self) -> int:
        """Number of metrics."""
        return self.fleet.dim

    @property
    def projections(self) -> Floats:
        """(r,) projections of the last step."""
        return np.asarray(self.fleet.projections[0])

    @property
    def basis(self) -> Floats:
        """(dim, r) the directions in use; r is 0 before the first block."""
        return self.fleet.basis[0, :, : self.fleet.ranks[0]]

    @property
    def singular_values(self) -> Floats:
        """(r,) singular values, descending."""
        return self.fleet.singular_values[0, : self.fleet.ranks[0]]

    def save(self) -> bytes:
        """Return the learned state as bytes, in the format of a fleet of one."""
        return self.fleet.save()

    @classmethod
    def load(cls, data: bytes) -> Pronto:
        """Return a policy from the bytes of :meth:`save`; raise an InputError of one line for anything else."""
        fleet = AdmissionFleet.load(data)
        if fleet.nodes != 1:
            raise InputError(f"saved state: is of {fleet.nodes} nodes, expected 1")
        found = cls.__new__(cls)
        found.fleet = fleet
        return found
