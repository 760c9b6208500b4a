"""Streams with known directions, for the tests of admission."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from windlass.admit import Subspace

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces" / "telemetry"

#: Metrics of the subspaces that are drawn.
DIM = 5


def low_rank(
    dim: int, count: int, rank: int, noise: float = 0.0, seed: int = 1, decay: float = 0.7
) -> np.ndarray:
    """(dim, count) of true rank plus noise; each direction has a part of the one before."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(dim, rank)))[0] * decay ** np.arange(rank)
    return directions @ rng.normal(size=(rank, count)) + noise * rng.normal(size=(dim, count))


def svd(matrix: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The oracle: leading left singular vectors and values."""
    left, singular, _ = np.linalg.svd(matrix, full_matrices=False)
    return left[:, :rank], singular[:rank]


def weighted(basis: np.ndarray, singular: np.ndarray) -> np.ndarray:
    """U S² Uᵀ, which is independent of signs and rotations."""
    return (basis * singular**2) @ basis.T


def subspace_error(basis: np.ndarray, true: np.ndarray) -> float:
    """Norm of the difference of projectors."""
    return float(np.linalg.norm(basis @ basis.T - true @ true.T, 2))


def telemetry(steps: int, dim: int = 12, seed: int = 1, missing: float = 0.02) -> np.ndarray:
    """(steps, dim) of a node with bursts: correlated metrics, one constant, one that starts late, some NaN."""
    rng = np.random.default_rng(seed)
    load = np.convolve(rng.random(steps) < 0.05, np.ones(6), "same").clip(0, 1)
    values = np.outer(load, rng.normal(1.0, 0.5, dim)) + 0.1 * rng.normal(size=(steps, dim))
    values[:, 0] = 3.0
    values[: steps // 2, 1] = np.nan
    values[rng.random(values.shape) < missing] = np.nan
    return values


def drawn(rng: np.random.Generator, rank: int | None = None) -> Subspace:
    """A random subspace of :data:`DIM` metrics, of one or two directions unless `rank` is given."""
    rank = int(rng.integers(1, 3)) if rank is None else rank
    return Subspace(np.linalg.qr(rng.normal(size=(DIM, rank)))[0], np.sort(rng.uniform(0.5, 4.0, rank))[::-1])


def weighed(subspace: Subspace) -> np.ndarray:
    """U S² Uᵀ of a subspace."""
    return weighted(subspace.basis, subspace.singular)
