"""Online ridge regression with exponential forgetting, whose coordinates can be changed."""

from __future__ import annotations

import numpy as np

from windlass.admit.lib.subspace import Floats


class Ridge:
    """Ridge regression whose state is sums over the observations.

    Parameters
    ----------
    features
        Number of features.
    strength
        Weight of the prior, in observations; its coefficients are 0 by default.
    forget
        Factor on the weight of older observations at each new one.

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
        """Add one observation."""
        self.squares = self.forget * self.squares + np.outer(features, features)
        self.products = self.forget * self.products + features * value
        self.count = self.forget * self.count + 1.0

    def weights(self) -> Floats:
        """Return (k,) coefficients."""
        eye = self.strength * np.eye(len(self.prior))
        return np.asarray(
            np.linalg.solve(self.squares + eye, self.products + self.strength * self.prior), np.float64
        )

    def carry(self, by: Floats) -> None:
        """Change coordinates: the new features are ``by`` (k, k) times the old ones."""
        self.squares = by @ self.squares @ by.T
        self.products, self.prior = by @ self.products, by @ self.prior
