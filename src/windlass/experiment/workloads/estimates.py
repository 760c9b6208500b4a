"""Inaccurate estimates of true values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def guess(truth: NDArray[np.float64], accuracy: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the true values times factors drawn uniformly from accuracy … 2 − accuracy (section 3.5.4)."""
    return np.asarray(truth * rng.uniform(accuracy, 2.0 - accuracy, len(truth)))
