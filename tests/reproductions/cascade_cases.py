"""Fake cases of Cascade, and planners whose outcomes are computed from their arguments."""

from types import SimpleNamespace

import numpy as np

from tests.reproductions.keyed import mean_and_half, number_for
from windlass_reproductions.cascade.drawn import TRACKER

SEEDS = (1, 2, 3)
PLANNERS = ("fair", "videostorm", "cascade", "refined", "merged", "merge-everything")


class Case:
    """A fake case, identified by the arguments it was made with."""

    def __init__(self, *key):
        self.key = key
        self.options = [SimpleNamespace(camera=number % 20) for number in range(100)]
        self.capacity = np.array([40.0, np.inf, np.inf, 3.0, 1.0, 2.0])

    def first(self, count):
        return Case(*self.key, "first", count)

    def on(self, deployment):
        return Case(*self.key, deployment)

    def where(self, rows):
        of = SimpleNamespace(together=np.array([True, False]), level=np.array([[0, 1], [0, 2]]))
        return Case(*self.key, "where", rows(of).tolist())


def drawn_case(per_camera, rng, kinds=(TRACKER,), deployment=None, results=0.0):
    return Case(per_camera, rng.random(), [kind.name for kind in kinds], results)


def case(per_camera, *seed, kinds=(TRACKER,), results=0.0):
    return drawn_case(per_camera, np.random.default_rng(seed), kinds, results=results)


class Outcome:
    def __init__(self, *key):
        self._key = key
        self.mean = number_for(key, "mean", low=0.1, high=0.9)
        self.each = np.array([number_for(key, query, low=0.0, high=1.0) for query in range(6)])
        self.costs = np.array([number_for(key, query, "cost", low=0.0, high=1.0) for query in range(3)])
        self.together = number_for(key, "together", low=0.0, high=1.0)

    def busy(self, kind):
        return number_for(self._key, kind, low=0.5, high=1.0)

    def of_kind(self, kind):
        return number_for(self._key, kind, low=0.1, high=0.9)


def run(of, policy, seed=0, **parameters):
    return Outcome(of.key, policy, seed, sorted(parameters.items()))


def bound(of):
    return number_for(of.key, "bound", low=0.9, high=1.0)


def mean_text(values):
    mean, half = mean_and_half(values)
    return f"{mean:.3g} ± {half:.2g}" if np.isfinite(half) else f"{mean:.3g}"


def means(each, policy, seeds=(0, 0, 0), **parameters):
    return np.array([run(of, policy, seed, **parameters).mean for of, seed in zip(each, seeds, strict=True)])
