"""A straight line through what was seen, older things counting less, that can be taken into other coordinates."""

from __future__ import annotations

import numpy as np

from windlass.admit.lib.subspace import Floats


class Ridge:
    """Ridge regression from sums, which is all that it keeps.

    Parameters
    ----------
    features
        How many.
    strength
        How many observations the prior is worth, whose weights are 0 unless it is told others.
    forget
        What older observations are multiplied by at each new one.

    Examples
    --------
    >>> line, rng = Ridge(2, strength=1e-6), np.random.default_rng(1)
    >>> for row in rng.normal(size=(50, 2)):
    ...     line.learn(row, 3.0 * row[0] - row[1])
    >>> line.weights().round(3).tolist()
    [3.0, -1.0]
    """

    def __init__(self, features: int, strength: float = 10.0, forget: float = 1.0) -> None:
        self.strength, self.forget = strength, forget
        self.squares: Floats = np.zeros((features, features))
        self.products: Floats = np.zeros(features)
        self.prior: Floats = np.zeros(features)
        self.count = 0.0

    def learn(self, features: Floats, value: float) -> None:
        """One observation."""
        self.squares = self.forget * self.squares + np.outer(features, features)
        self.products = self.forget * self.products + features * value
        self.count = self.forget * self.count + 1.0

    def weights(self) -> Floats:
        """(k,) of the line."""
        eye = self.strength * np.eye(len(self.prior))
        return np.asarray(
            np.linalg.solve(self.squares + eye, self.products + self.strength * self.prior), np.float64
        )

    def carry(self, by: Floats) -> None:
        """Go on in coordinates that are the old ones times this, (k, k)."""
        self.squares = by @ self.squares @ by.T
        self.products, self.prior = by @ self.products, by @ self.prior
