"""Arrival times of jobs in the dispatch world.

All times are drawn before the simulation starts, as arrays: the loop handles replayed and random arrivals alike, and
two policies are compared on the same tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import column


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
        A number is out of bounds.

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
        """Return (count,) arrival times, s, at this mean rate, 1/s."""
        calm = rate / (1 - self.share + self.share * self.ratio)
        length = self.cycle / rate
        reached = np.cumsum(rng.standard_exponential(count))
        instants, intensity = [np.zeros(1)], [np.zeros(1)]
        # Arrivals at unit rate, mapped to the times at which the integrated intensity reaches them.
        while intensity[-1][-1] < reached[-1]:
            cycles = max(16, int(1.1 * (reached[-1] - intensity[-1][-1]) / self.cycle))
            dwell = rng.standard_exponential((cycles, 2)) * (length * (1 - self.share), length * self.share)
            gained = dwell * (calm, calm * self.ratio)
            instants.append(instants[-1][-1] + np.cumsum(dwell))
            intensity.append(intensity[-1][-1] + np.cumsum(gained))
        return np.interp(reached, np.concatenate(intensity), np.concatenate(instants))


def arrival_times(arrivals: object, rate: float, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the arrival times of jobs.

    Parameters
    ----------
    arrivals
        ``"poisson"``, a :class:`Bursty`, or (count,) times to replay, s, from 0 on and not decreasing.
    rate
        Jobs per second; unused for a replay.
    count
        Number of jobs.
    rng
        The random generator.

    Raises
    ------
    InputError
        The process is unknown, or the times cannot be replayed.

    Examples
    --------
    >>> arrival_times([0.0, 0.5, 0.5], 0.0, 3, np.random.default_rng(1)).tolist()
    [0.0, 0.5, 0.5]
    """
    if isinstance(arrivals, str):
        if arrivals != "poisson":
            raise InputError(f"arrivals is {arrivals!r}, expected 'poisson', Bursty(…) or times")
        # In place, as allocating new pages takes as long as the arithmetic.
        times = rng.standard_exponential(count)
        np.cumsum(times, out=times)
        times /= rate
        return times
    if isinstance(arrivals, Bursty):
        return arrivals.times(rate, count, rng)
    times = column("arrivals", arrivals, count)
    if times[0] < 0 or (np.diff(times) < 0).any():
        raise InputError("arrivals: expected times from 0 on that do not decrease")
    return times
