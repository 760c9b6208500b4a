"""The published parameters of the Lublin–Feitelson model, and how they are set for a system's size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

_FITTED_LOG2_SIZE = 7.0  # the parameters are published for 128 processors


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of jobs: how large they are, how long they run, and when they come.

    Parameters
    ----------
    serial, power_of_two
        Shares of jobs of one processor, and of jobs whose size is made a power of two.
    low, middle, high
        Log2 of the size: the ends of the two stages of its distribution.
    first_stage
        Share of sizes in the first stage.
    shape_1, scale_1, shape_2, scale_2
        The two gamma distributions of the natural logarithm of the run time in s.
    slope, intercept
        The share of the first of them is slope · processors + intercept.
    gap_shape, gap_scale, rush_to_all
        The gamma distribution of the logarithm of the gap between jobs; its shape is
        gap_shape · rush_to_all.
    day_shape, day_scale
        The gamma distribution of the half hour of the day at which jobs come.
    """

    serial: float
    power_of_two: float
    low: float
    middle: float
    high: float
    first_stage: float
    shape_1: float
    scale_1: float
    shape_2: float
    scale_2: float
    slope: float
    intercept: float
    gap_shape: float
    gap_scale: float
    rush_to_all: float
    day_shape: float
    day_scale: float

    def sized(self, processors: int) -> JobKind:
        """The kind on a system of so many processors.

        The upper ends of both stages move with log2 of the system's size, which keeps the published rule
        for all jobs taken as one kind (high = log2 P, middle = high - 2.5), and never pass each other.

        >>> COMBINED.sized(1024).middle, COMBINED.sized(1024).high
        (7.5, 10.0)
        """
        shift = log2(processors) - _FITTED_LOG2_SIZE
        high = max(self.high + shift, 0.0)
        low = min(self.low, high)
        return replace(self, low=low, middle=max(self.middle + shift, low), high=high)


COMBINED = JobKind(
    serial=0.244,
    power_of_two=0.576,
    low=0.8,
    middle=4.5,
    high=7.0,
    first_stage=0.86,
    shape_1=4.2,
    scale_1=0.94,
    shape_2=312.0,
    scale_2=0.03,
    slope=-0.0054,
    intercept=0.78,
    gap_shape=10.2303,
    gap_scale=0.4871,
    rush_to_all=1.0225,
    day_shape=8.1737,
    day_scale=3.9631,
)

BATCH = JobKind(
    serial=0.2927,
    power_of_two=0.6686,
    low=1.2,
    middle=5.0,
    high=7.0,
    first_stage=0.875,
    shape_1=6.57,
    scale_1=0.823,
    shape_2=639.1,
    scale_2=0.0156,
    slope=-0.003,
    intercept=0.6986,
    gap_shape=6.0415,
    gap_scale=0.8531,
    rush_to_all=1.0519,
    day_shape=6.1271,
    day_scale=5.2740,
)

INTERACTIVE = JobKind(
    serial=0.1541,
    power_of_two=0.625,
    low=1.0,
    middle=3.0,
    high=5.5,
    first_stage=0.705,
    shape_1=3.8351,
    scale_1=0.6605,
    shape_2=7.073,
    scale_2=0.6856,
    slope=-0.0118,
    intercept=0.9156,
    gap_shape=6.5510,
    gap_scale=0.6621,
    rush_to_all=0.9797,
    day_shape=8.9186,
    day_scale=3.6680,
)
