"""Plain implementations of node-level admission policies: lists, one node, and an SVD for every block.

Each class follows the documentation of its compiled or batched twin and shares no code with it.
"""

from __future__ import annotations

import functools
import math

import numpy as np


@functools.cache
def weights_of(count, memory):
    """Return the weights of `count` values, oldest first, in their mean."""
    if count == 1:
        return np.ones(1)
    gain = max(1.0 / count, 1.0 / memory)
    return np.append(weights_of(count - 1, memory) * (1.0 - gain), gain)


class PlainScale:
    """Scales each metric by the mean and deviation of earlier values, with smaller weights for older ones."""

    def __init__(self, dim, memory, clip):
        self.memory, self.clip = memory, clip
        self.past = [[] for _ in range(dim)]

    def step(self, row):
        """Return the scaled vector and the number of available metrics."""
        found, known = np.zeros(len(row)), 0
        for at, value in enumerate(row):
            if not math.isfinite(value):
                continue
            known += 1
            past = self.past[at]
            if past:
                weights, values = weights_of(len(past), self.memory), np.array(past)
                mean = float(weights @ values)
                spread = math.sqrt(weights @ (values - mean) ** 2)
                if spread > 1e-9 * abs(mean):
                    found[at] = max(-self.clip, min(self.clip, (value - mean) / spread))
            past.append(value)
        return found, known


class PlainTracker:
    """Leading directions: those so far and those of the block, merged and truncated to the rank by an SVD."""

    def __init__(self, dim, rank, forget, energy=None):
        self.rank, self.forget, self.energy = rank, forget, energy
        self.most = rank if energy is None else min(2 * rank, dim)
        self.held = np.zeros((dim, 0))

    def update(self, block):
        """Return the directions, each with the sign under which more metrics rise, and their singular values."""
        left, values, _ = np.linalg.svd(block, full_matrices=False)
        own = left[:, : self.rank] * values[: self.rank]
        left, values, _ = np.linalg.svd(np.concatenate([self.forget * self.held, own], axis=1))
        values = np.append(values, np.zeros(len(left) - len(values)))
        if self.energy is not None:
            share = values[self.rank - 1] / values[: self.rank].sum()
            if share < self.energy[0] and self.rank > 1:
                self.rank -= 1
            elif share > self.energy[1] and self.rank < self.most and values[self.rank] > 1e-12 * values[0]:
                self.rank += 1
        basis, singular = left[:, : self.rank], values[: self.rank]
        self.held = basis * singular
        return basis * np.where(basis.sum(axis=0) < 0.0, -1.0, 1.0), singular


class PlainThreshold:
    """A threshold on the scores of one node, fixed or adjusted after each score."""

    def __init__(self, value=0.0, downtime=None, gain=0.1):
        self.level, self.downtime, self.gain = value, downtime, gain
        self.most = max(1.0, 1000.0 * downtime) if downtime else 1.0
        self.left, self.offs = self.most / 2.0, []
        self.scale = 0.0

    def above(self, score):
        """Return True if a score is above the threshold."""
        if self.downtime is None:
            return score >= self.level
        if not self.offs:
            self.level = score
        over = score > self.level + 1e-12 * abs(self.level)
        high = over and self.left >= 1.0
        self.left = min(self.left + self.downtime, self.most) - high
        self.offs.append(abs(score - self.level))
        part = max(0.01, 1.0 / len(self.offs))
        self.scale = (1.0 - part) * self.scale + part * self.offs[-1]
        aim = self.downtime * (0.5 + self.left / self.most)
        self.level += self.gain * self.scale * ((1.0 if over else 0.0) - aim)
        return high

    def rest(self):
        """Skip a score; the budget grows."""
        if self.downtime is not None:
            self.left = min(self.left + self.downtime, self.most)
        return False


class PlainPronto:
    """A node under Pronto."""

    def __init__(
        self, dim, rank, block, forget, energy, lag, alpha, beta, weights, signal, threshold, downtime, memory, clip
    ):  # fmt: skip
        self.scale, self.tracker = PlainScale(dim, memory, clip), PlainTracker(dim, rank, forget, energy)
        self.block, self.lag, self.alpha, self.beta = block, lag, alpha, beta
        self.weights, self.signal = weights, signal
        self.threshold = PlainThreshold(threshold, downtime)
        self.rows, self.basis, self.singular = [], np.zeros((dim, 0)), np.zeros(0)
        #: Filtered values of each direction, oldest first.
        self.filters = []
        self.rejects, self.score = False, 0.0

    def step(self, row):
        """Return True if the node rejects tasks."""
        vector, known = self.scale.step(row)
        self.rows.append(vector)
        if known:
            marks, scores, full = self._detect(self.basis.T @ vector)
            summed = {"spikes": marks, "absolute": np.abs(marks), "scores": scores}[self.signal]
            self.score = float(self._weights() @ summed)
            self.rejects = bool(full and self.threshold.above(self.score))
        else:
            self.score = 0.0
        if len(self.rows) == self.block:
            self._turn()
        return self.rejects

    def _weights(self):
        if self.weights == "unit":
            return self.singular / (self.singular.sum() or 1.0)
        if self.weights == "equal":
            return (self.singular > 0.0) / max(len(self.singular), 1)
        return self.singular

    def _detect(self, projections):
        marks, scores, full = np.zeros(len(projections)), np.zeros(len(projections)), False
        for axis, value in enumerate(projections):
            past, kept = self.filters[axis], value
            if len(past) >= self.lag:
                full, window = True, np.array(past[-self.lag :])
                off, spread = value - window.mean(), window.std()
                floor = 1e-9 * (1.0 + abs(window.mean()))
                if abs(off) > floor:
                    scores[axis] = np.clip(off / max(spread, floor), -20.0, 20.0)
                if abs(off) > max(self.alpha * spread, floor):
                    marks[axis] = np.sign(off)
                    kept = self.beta * value + (1.0 - self.beta) * past[-1]
            past.append(kept)
        return marks, scores, full

    def _turn(self):
        old, before = self.basis, [past[-self.lag :] for past in self.filters]
        self.basis, self.singular = self.tracker.update(np.array(self.rows).T)
        self.rows = []
        stays = min(len(before), self.basis.shape[1])
        alike = len({len(past) for past in before[:stays]}) == 1
        self.filters = [[] for _ in range(self.basis.shape[1])]
        if alike:
            size = len(before[0])
            turned = self.basis.T @ old @ np.array([(past + [0.0] * size)[:size] for past in before])
            for axis in range(stays):
                self.filters[axis] = list(turned[axis])


class PlainForewarn:
    """A node under Forewarn: the regression uses all rows so far, each with its weight."""

    def __init__(
        self, dim, downtime, rank, block, forget, within, spike, share, apart, slow, memory, clip, between
    ):  # fmt: skip
        self.scale, self.tracker = PlainScale(dim, memory, clip), PlainTracker(dim, rank, forget)
        self.block, self.within, self.apart, self.between = block, within, apart, between
        self.spike = PlainThreshold(spike) if spike else PlainThreshold(0.0, share, gain=0.01)
        self.threshold, self.rank = PlainThreshold(0.0, downtime), rank
        self.keeps = 1.0 - 1.0 / slow
        self.basis, self.rows = np.zeros((dim, rank)), []
        self.vector = np.zeros(dim)
        size = 4 + 2 * rank + 2
        #: For each step: features, the vector and its change, and CPU Ready in spikes.
        self.features, self.pairs, self.units = [], [], []
        self.learned, self.prior = [], np.zeros(size)
        self.weights = np.zeros(size)
        self.told, self.directions = np.zeros((2, dim)), np.zeros((2, dim))
        self.ready, self.mean, self.rate, self.taught = 0.0, 0.0, 0.0, 0
        self.last_spike, self.onsets = None, []
        self.before = np.zeros(rank)
        self.rejects, self.score = False, 0.0

    def step(self, row, ready):
        """Return True if the node rejects tasks."""
        now = len(self.units)
        vector, known = self.scale.step(row)
        projected = self.basis.T @ vector
        if not math.isnan(ready):
            self._hear(now, ready)
        unit, mean = (min(each / max(self.spike.level, 1e-12), 5.0) for each in (self.ready, self.mean))
        self.units.append(unit)
        opened = now - self.within
        if opened >= 0:
            if not self.between:
                self._learn(opened, float(any(opened < at <= now for at in self.onsets)))
            elif self.units[opened] < 1.0:
                self._learn(opened, min(1.0, max(self.units[opened + 1 : now + 1])))
        pair = np.array([vector, vector - self.vector])
        told = [self.directions[0] @ pair[0], self.directions[1] @ pair[1]]
        self.features.append(
            np.concatenate([[1.0, unit, unit - mean, mean], projected, projected - self.before, told])
        )
        self.pairs.append(pair)
        self.vector, self.before = vector, projected
        self.rows.append(vector)
        if known:
            self.score = float(self.features[-1] @ self.weights)
            if self.between and unit >= 1.0:
                self.rejects = self.threshold.rest()
            else:
                self.rejects = self.threshold.above(self.score)
        if len(self.rows) == self.block:
            self._turn()
        return self.rejects

    def _hear(self, now, ready):
        self.spike.above(ready)
        high = ready >= self.spike.level and ready > 0.0
        # The first step counts as part of a spike, because earlier steps are unknown.
        if self.last_spike is None:
            self.last_spike = now
        elif high and now - self.last_spike > self.apart:
            self.onsets.append(now)
        if high:
            self.last_spike = now
        self.ready = ready
        self.mean += (ready - self.mean) / self.within

    def _learn(self, at, value):
        self.learned = [(row, told, self.keeps * weight) for row, told, weight in self.learned]
        self.learned.append((self.features[at], value, 1.0))
        count = sum(weight for _, _, weight in self.learned)
        self.rate += max(1.0 - self.keeps, 1.0 / count) * (value - self.rate)
        part = max(1.0 - self.keeps, 1.0 / (count + self.taught))
        self.told = (1.0 - part) * self.told + part * (value - self.rate) * self.pairs[at]

    def _turn(self):
        old = self.basis
        self.basis, _ = self.tracker.update(np.array(self.rows).T)
        self.rows = []
        turn = self.basis.T @ old
        self.features = [self._turned(each, turn) for each in self.features]
        self.learned = [(self._turned(row, turn), told, weight) for row, told, weight in self.learned]
        self.prior = self._turned(self.prior, turn)
        self.before = turn @ self.before
        for at in range(2):
            size = np.linalg.norm(self.told[at])
            if size > 0.0:
                self.directions[at] = self.told[at] / size
        self.draw()

    def _turned(self, features, turn):
        rank = self.rank
        parts = features[:4], turn @ features[4 : 4 + rank], turn @ features[4 + rank : -2], features[-2:]
        return np.concatenate(parts)

    def draw(self):
        """Return the regression line of the learned rows, with a prior of 20 rows."""
        squares, products = 20.0 * np.eye(len(self.prior)), 20.0 * self.prior
        for row, value, weight in self.learned:
            squares = squares + weight * np.outer(row, row)
            products = products + weight * value * row
        self.weights = np.linalg.solve(squares, products)

    def start(self, basis, singular, metrics, plain):
        """Start from a shared model whose subspace has the node's number of directions."""
        self.tracker.held = basis * singular
        self.basis = basis * np.where(basis.sum(axis=0) < 0.0, -1.0, 1.0)
        on = self.basis.T @ metrics
        left = (metrics - self.basis @ on).T
        size = np.linalg.norm(left, axis=1)
        self.told, self.directions, self.taught = left, left / np.where(size > 0.0, size, 1.0)[:, None], 200
        self.prior = np.concatenate([plain, on[:, 0], on[:, 1], size])
        self.draw()
