"""Random views of three instance types of unequal size, price and launch time, and jobs of many shapes."""

from __future__ import annotations

import numpy as np

from windlass.model.instances import InstanceType
from windlass.scale import Demands, ScaleView

PERIOD = 1800.0


TYPES = (
    InstanceType("small", cores=4, memory=16, price=0.25, launch=900.0, most=9),
    InstanceType("large", cores=16, memory=64, price=1.0, launch=4000.0, most=6),
    InstanceType("gpu", gpus=2, cores=32, memory=256, price=8.0, launch=1800.0, most=5),
)


def drawn_jobs(rng, count, now):
    """Jobs below and above half an instance, whole-instance jobs and gangs; some have equal requests."""
    shapes = [
        (0, 1, 4),
        (0, 2, 8),
        (0, 3, 1),
        (0, 4, 16),
        (0, 9, 4),
        (0, 20, 4),
        (0, 1, 200),
        (0, 40, 0),
        (1, 2, 4),
        (2, 1, 1),
    ]
    shapes += [(5, 1, 0), (0, 16, 64), (0, 0, 300)]
    rows = np.array(shapes, np.float64)[rng.integers(0, len(shapes), count)].reshape(-1, 3)
    walltime = np.where(rng.random(count) < 0.3, np.inf, rng.choice([600.0, 1800.0, 5000.0, 9000.0], count))
    return Demands(rows, now - rng.choice([0.0, 10.0, 1000.0, 1800.0, 4000.0], count), walltime)


def drawn(rng, now, history, **more):
    ready = rng.integers(0, 5, 3)
    used, coming = rng.integers(0, ready + 1), rng.integers(0, 3, 3)
    jobs = [drawn_jobs(rng, int(rng.choice([0, 1, 3, 6])), now) for _ in range(2)]
    return ScaleView(now, PERIOD, TYPES, ready, coming, used, *jobs, history, **more)
