"""When jobs arrive in the dispatch world, and how much work their tasks are.

Everything is drawn before the simulation starts, as arrays: a replayed trace and a random stream look the same to
the loop, and two policies are compared on the very same tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError


@dataclass(frozen=True, slots=True)
class Bursty:
    """Arrivals that switch between a calm and a burst state: a Markov-modulated Poisson process of two states.

    Parameters
    ----------
    ratio
        Rate in a burst over the rate in calm; at least 1.
    share
        Share of time in bursts, above 0 and below 1.
    cycle
        Mean number of arrivals from the start of one burst to the start of the next; above 0.

    Raises
    ------
    InputError
        A number out of bounds.

    Examples
    --------
    >>> times = Bursty(ratio=5.0, share=0.1, cycle=100.0).times(10.0, 1_000_000, np.random.default_rng(1))
    >>> round(float(times[-1]) / 100_000, 1)
    1.0
    """

    ratio: float = 5.0
    share: float = 0.1
    cycle: float = 1000.0

    def __post_init__(self) -> None:
        for name, value, allowed, wanted in (
            ("ratio", self.ratio, 1 <= self.ratio < np.inf, "at least 1"),
            ("share", self.share, 0 < self.share < 1, "above 0 and below 1"),
            ("cycle", self.cycle, 0 < self.cycle < np.inf, "above 0"),
        ):
            if not allowed:
                raise InputError(f"arrivals: {name} is {value}, expected {wanted}")

    def times(self, rate: float, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """(count,) arrival times, s, at so many per second on average."""
        calm = rate / (1 - self.share + self.share * self.ratio)
        length = self.cycle / rate
        reached = np.cumsum(rng.standard_exponential(count))
        instants, intensity = [np.zeros(1)], [np.zeros(1)]
        # Unit-rate arrivals, carried over to the time at which the intensity has summed up to as much.
        while intensity[-1][-1] < reached[-1]:
            cycles = max(16, int(1.1 * (reached[-1] - intensity[-1][-1]) / self.cycle))
            dwell = rng.standard_exponential((cycles, 2)) * (length * (1 - self.share), length * self.share)
            gained = dwell * (calm, calm * self.ratio)
            instants.append(instants[-1][-1] + np.cumsum(dwell))
            intensity.append(intensity[-1][-1] + np.cumsum(gained))
        return np.interp(reached, np.concatenate(intensity), np.concatenate(instants))


@dataclass(frozen=True, slots=True)
class Pareto:
    """Work of tasks, Pareto distributed (Lomax shifted to its least value): heavy tails.

    Parameters
    ----------
    shape
        Above 1, so that the mean is finite; at 2 or less the variance is not.
    mean
        Mean work of a task.

    Raises
    ------
    InputError
        A number out of bounds.

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
        """(count,) work."""
        least = self.mean * (self.shape - 1) / self.shape
        return least * (1 + rng.pareto(self.shape, count))


def arrival_times(arrivals: object, rate: float, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """When jobs arrive.

    Parameters
    ----------
    arrivals
        ``"poisson"``, a :class:`Bursty`, or (count,) times to replay, s, from 0 on and not decreasing.
    rate
        Jobs per second; not used for a replay.
    count
        How many.
    rng
        Where chance comes from.

    Raises
    ------
    InputError
        No such process, or times that cannot be replayed.

    Examples
    --------
    >>> arrival_times([0.0, 0.5, 0.5], 0.0, 3, np.random.default_rng(1)).tolist()
    [0.0, 0.5, 0.5]
    """
    if isinstance(arrivals, str):
        if arrivals != "poisson":
            raise InputError(f"arrivals is {arrivals!r}, expected 'poisson', Bursty(…) or times")
        # In place: fresh pages cost as much as the arithmetic, and the loop is as quick as the whole allows.
        times = rng.standard_exponential(count)
        np.cumsum(times, out=times)
        times /= rate
        return times
    if isinstance(arrivals, Bursty):
        return arrivals.times(rate, count, rng)
    times = _column("arrivals", arrivals, count)
    if times[0] < 0 or (np.diff(times) < 0).any():
        raise InputError("arrivals: expected times from 0 on that do not decrease")
    return times


def task_sizes(service: object, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How much work each task is.

    Parameters
    ----------
    service
        ``"exponential"`` or ``"fixed"`` with mean 1, a :class:`Pareto`, or (count,) sizes above 0.
    count
        How many tasks.
    rng
        Where chance comes from.

    Raises
    ------
    InputError
        No such distribution, or a size that is not above 0.

    Examples
    --------
    >>> task_sizes("fixed", 2, np.random.default_rng(1)).tolist()
    [1.0, 1.0]
    """
    if isinstance(service, str):
        if service == "exponential":
            # A draw of exactly 0 would be a task that needs no worker.
            sizes = rng.standard_exponential(count)
            return np.maximum(sizes, np.finfo(np.float64).tiny, out=sizes)
        if service == "fixed":
            return np.ones(count)
        raise InputError(f"service is {service!r}, expected 'exponential', 'fixed', Pareto(…) or sizes")
    if isinstance(service, Pareto):
        return service.sizes(count, rng)
    sizes = _column("service", service, count)
    if (sizes <= 0).any():
        raise InputError(
            f"service: task {int(np.argmax(sizes <= 0))} has size {sizes.min()}, expected above 0"
        )
    return sizes


def mean_size(service: object, sizes: NDArray[np.float64]) -> float:
    """Mean work of a task: that of the distribution, or of the sizes themselves where they are given.

    >>> mean_size("exponential", np.array([7.0]))
    1.0
    """
    if isinstance(service, Pareto):
        return service.mean
    return 1.0 if isinstance(service, str) else float(sizes.mean())


def _column(name: str, values: object, count: int) -> NDArray[np.float64]:
    column = np.array(values, dtype=np.float64)
    if column.shape != (count,):
        raise InputError(f"{name} has shape {column.shape}, expected {(count,)}")
    if not np.isfinite(column).all():
        raise InputError(f"{name}: value {int(np.argmin(np.isfinite(column)))} is not a finite number")
    return column
