"""What is expected where the truth is not known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def guess(truth: NDArray[np.float64], accuracy: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """What is expected: the truth times a factor drawn uniformly from accuracy … 2 − accuracy (section 3.5.4)."""
    return np.asarray(truth * rng.uniform(accuracy, 2.0 - accuracy, len(truth)))
