"""Numbers computed from a key, in place of the results of simulated runs.

Different arguments give different numbers, so a row that uses the wrong run shows the wrong number.
"""

from __future__ import annotations

import math
import zlib

import numpy as np
from scipy.stats import t as student


def number_for(*key: object, low: float = 50.0, high: float = 150.0) -> float:
    """Return a number between two bounds that depends only on the arguments."""
    return low + (high - low) * zlib.crc32(repr(key).encode()) / 2**32


def mean_and_half(values) -> tuple[float, float]:
    """Return the mean and half the width of its 95 % interval by Student's t."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return float(values.mean()), math.inf
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean()), float(half)


def rounded_text(values) -> str:
    """Format the mean and the half width as whole numbers."""
    mean, half = mean_and_half(values)
    return f"{mean:.0f} ± {half:.0f}" if math.isfinite(half) else f"{mean:.0f}"


def axes(picture) -> tuple[str, str, str]:
    """Return a picture's key and the titles of its axes."""
    return picture.key, picture.x_title, picture.y_title
