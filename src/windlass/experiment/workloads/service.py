"""Sizes of the tasks of the dispatch world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import column


@dataclass(frozen=True, slots=True)
class Pareto:
    """Pareto distributed task sizes (Lomax shifted to its least value), with a heavy tail.

    Parameters
    ----------
    shape
        Above 1, so that the mean is finite; at 2 or less the variance is not.
    mean
        Mean work of a task.

    Raises
    ------
    InputError
        A number is out of bounds.

    Examples
    --------
    >>> float(Pareto(shape=3.0).sizes(100_000, np.random.default_rng(1)).mean().round(1))
    1.0
    """

    shape: float = 2.5
    mean: float = 1.0

    def __post_init__(self) -> None:
        if not 1 < self.shape < np.inf:
            raise InputError(f"service: shape is {self.shape}, expected above 1")
        if not 0 < self.mean < np.inf:
            raise InputError(f"service: mean is {self.mean}, expected above 0")

    def sizes(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return (count,) task sizes, work."""
        least = self.mean * (self.shape - 1) / self.shape
        return least * (1 + rng.pareto(self.shape, count))


def task_sizes(service: object, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the work of each task.

    Parameters
    ----------
    service
        ``"exponential"`` or ``"fixed"`` with mean 1, a :class:`Pareto`, or (count,) sizes above 0.
    count
        Number of tasks.
    rng
        The random generator.

    Raises
    ------
    InputError
        The distribution is unknown, or a size is not above 0.

    Examples
    --------
    >>> task_sizes("fixed", 2, np.random.default_rng(1)).tolist()
    [1.0, 1.0]
    """
    if isinstance(service, str):
        if service == "exponential":
            # A size of exactly 0 would be invalid.
            sizes = rng.standard_exponential(count)
            return np.maximum(sizes, np.finfo(np.float64).tiny, out=sizes)
        if service == "fixed":
            return np.ones(count)
        raise InputError(f"service is {service!r}, expected 'exponential', 'fixed', Pareto(…) or sizes")
    if isinstance(service, Pareto):
        return service.sizes(count, rng)
    sizes = column("service", service, count)
    if (sizes <= 0).any():
        raise InputError(
            f"service: task {int(np.argmax(sizes <= 0))} has size {sizes.min()}, expected above 0"
        )
    return sizes


def mean_size(service: object, sizes: NDArray[np.float64]) -> float:
    """Return the mean work of a task: that of the distribution, or of the given sizes.

    >>> mean_size("exponential", np.array([7.0]))
    1.0
    """
    if isinstance(service, Pareto):
        return service.mean
    return 1.0 if isinstance(service, str) else float(sizes.mean())
