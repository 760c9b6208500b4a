"""Random stages, ordinary and degenerate."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """A stage and the sites it may run at."""

    data: np.ndarray
    slots: np.ndarray
    up: np.ndarray
    down: np.ndarray
    tasks: int
    task_s: float

    def sites(self):
        return self.data, self.slots, self.up, self.down

    def arguments(self):
        return (*self.sites(), self.tasks, self.task_s)


def case(seed: int) -> Case:
    """2 to 60 sites; every third has sites without slots, links or data, every fifth has many ties."""
    rng = np.random.default_rng([4, seed])
    n = int(rng.integers(2, 61))
    data = rng.lognormal(0.0, rng.choice([0.2, 1.0, 2.5]), n) * 1e9
    slots = np.floor(10 ** rng.uniform(0.5, 3.5, n))
    up, down = 10 ** rng.uniform(7, 9.3, (2, n))
    if seed % 5 == 0:
        data, slots = np.round(data / 1e9) * 1e9, np.full(n, 20.0)
        up, down = rng.choice([1e8, 2e8], (2, n))
    if seed % 3 == 0:
        for values, share in ((slots, 0.3), (up, 0.2), (down, 0.2), (data, 0.5)):
            values[rng.random(n) < share] = 0.0
    if data.sum() == 0:
        data[0] = 1e9
    return Case(data, slots, up, down, int(rng.integers(1, 5000)), float(10 ** rng.uniform(-1, 2)))
