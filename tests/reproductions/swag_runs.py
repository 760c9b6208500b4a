"""Fake runs of SWAG's contenders, computed from their settings."""

import numpy as np

from tests.reproductions.keyed import number_for
from windlass_reproductions.swag import bounds
from windlass_reproductions.swag.runs import Experiment, Run, Size

EACH, ONE = "Independent-SRPT", "Global-SRPT"
SHOWN = (ONE, EACH, f"{ONE} w/Reordering", f"{EACH} w/Reordering", "SWAG")
SIZE = Size(
    {"facebook": 3000, "google": 700, "exponential": 40},
    (0.39, 0.58, 0.78),
    5,
    12,
    {"facebook": 30, "exponential": 20},
)
OPTIMAL = "Optimal order of 10"


def experiment(seeds, names=("FCFS", *SHOWN), notify=lambda: None, **setting):
    """Return fake runs, computed from the setting, the policy and the seed."""
    runs = {}
    options = sorted((name, repr(value)) for name, value in setting.items())
    for name in names:
        runs[name] = []
        for seed in range(1, seeds + 1):
            key = options, name, seed
            slowdown = np.array([number_for(key, kind, low=1.0, high=30.0) for kind in range(4)])
            runs[name].append(
                Run(number_for(key), slowdown, number_for(key, "reported"), number_for(key, "waiting"))
            )
            notify()
    return Experiment(runs)


def room(seeds=1, **setting):
    options = sorted((name, repr(value)) for name, value in setting.items())
    swag, srpt, least = (
        np.array([number_for(options, what, seed) for seed in range(seeds)])
        for what in ("swag", "srpt", "least")
    )
    return bounds.Room(swag, srpt, least)
