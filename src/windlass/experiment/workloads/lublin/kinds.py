"""The published parameters of the Lublin–Feitelson model, and their adaptation to a system's size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

_FITTED_LOG2_SIZE = 7.0  # The parameters are published for 128 processors.


@dataclass(frozen=True, slots=True)
class JobKind:
    """Parameters of the sizes, run times and arrivals of one kind of jobs.

    Parameters
    ----------
    serial, power_of_two
        Shares of jobs of one processor, and of jobs whose size is rounded to a power of two.
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
        The gamma distribution of the half hour of the day at which jobs arrive.
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
        """Return the kind for a system of this many processors.

        The upper ends of both stages move with log2 of the system's size, which keeps the published rule for all jobs
        as one kind (high = log2 P, middle = high - 2.5); the first never exceeds the second.

        >>> COMBINED.sized(1024).middle, COMBINED.sized(1024).high
        (7.5, 10.0)
        """
        shift = log2(processors) - _FITTED_LOG2_SIZE
        high = max(self.high + shift, 0.0)
        low = min(self.low, high)
        return replace(self, low=low, middle=max(self.middle + shift, low), high=high)


#: A row for each parameter of :class:`JobKind`: of all jobs as one kind, of batch and of interactive jobs.
_PUBLISHED = (
    (0.244, 0.2927, 0.1541),  # serial
    (0.576, 0.6686, 0.625),  # power_of_two
    (0.8, 1.2, 1.0),  # low
    (4.5, 5.0, 3.0),  # middle
    (7.0, 7.0, 5.5),  # high
    (0.86, 0.875, 0.705),  # first_stage
    (4.2, 6.57, 3.8351),  # shape_1
    (0.94, 0.823, 0.6605),  # scale_1
    (312.0, 639.1, 7.073),  # shape_2
    (0.03, 0.0156, 0.6856),  # scale_2
    (-0.0054, -0.003, -0.0118),  # slope
    (0.78, 0.6986, 0.9156),  # intercept
    (10.2303, 6.0415, 6.5510),  # gap_shape
    (0.4871, 0.8531, 0.6621),  # gap_scale
    (1.0225, 1.0519, 0.9797),  # rush_to_all
    (8.1737, 6.1271, 8.9186),  # day_shape
    (3.9631, 5.2740, 3.6680),  # day_scale
)
COMBINED, BATCH, INTERACTIVE = (JobKind(*column) for column in zip(*_PUBLISHED, strict=True))
