"""Weights of experts that fall with the losses of following them.

Three updates are implemented. *printed* is Algorithm 1 of the paper: the risk of an expert is the loss times
the probability that the expert gave to the action; a round ends when a risk exceeds 1, and weights are then
multiplied by exp(-γ risk). *anchored* starts from equal weights each time: exp(-γ total risk). With a
decreasing γ the two differ, and only this one has the bound of Theorem 1 (see ``docs/share.md``). *exp4-ix*
divides the risk by the probability of the action, so that rare actions are not underweighted, and ends a
round with each loss.

Source: ASAx, Algorithm 1 and Appendix A; Neu, "Explore no more: improved high-probability regret bounds for
non-stochastic bandits", NIPS 2015, for EXP4-IX.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

UPDATES = ("printed", "anchored", "exp4-ix")
_Floats = NDArray[np.float64]
#: Smallest logarithm of a weight, so that all weights stay above 0.
_LEAST = -700.0


@dataclass(frozen=True, slots=True)
class Rule:
    """Parameters of the learning of weights.

    Parameters
    ----------
    experts, actions
        Their numbers, n and m.
    update
        One of :data:`UPDATES`.
    gamma
        Learning rate, above 0; None for √(ln n / t) in round t, or √(ln n / (m t)) with ``exp4-ix``.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> Rule(experts=4, actions=10).rate(1) > Rule(experts=4, actions=10).rate(2)
    True
    """

    experts: int
    actions: int
    update: str = "printed"
    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.update not in UPDATES:
            raise InputError(f"update is {self.update!r}, expected one of {', '.join(UPDATES)}")
        if self.gamma is not None and not (math.isfinite(self.gamma) and self.gamma > 0):
            raise InputError(f"gamma is {self.gamma}, expected a finite number above 0")

    def rate(self, t: int) -> float:
        """Return γ of round t, from 1 on; it never rises."""
        if self.gamma is not None:
            return self.gamma
        # ln 1 would give a rate of 0, which the theorem excludes; a single expert has all the weight in any
        # case.
        bits = math.log(max(self.experts, 2))
        return math.sqrt(bits / (self.actions * t if self.update == "exp4-ix" else t))


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """The learned state for one class of jobs.

    Parameters
    ----------
    logs
        (n,) logarithms of the weights.
    risk
        (n,) risks of the current round.
    total
        (n,) risks of all finished rounds.
    rounds
        Number of finished rounds.
    """

    logs: _Floats
    risk: _Floats
    total: _Floats
    rounds: int

    @classmethod
    def fresh(cls, experts: int) -> Mixture:
        """Return equal weights, without any learning.

        >>> Mixture.fresh(4).weights.tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        return cls(np.full(experts, -math.log(experts)), np.zeros(experts), np.zeros(experts), 0)

    @property
    def weights(self) -> _Floats:
        """(n,) weights, each above 0, with sum 1."""
        plain = np.exp(np.maximum(self.logs, _LEAST))
        return np.asarray(plain / plain.sum())

    def blend(self, advice: _Floats) -> _Floats:
        """Return the probability of each action (m,) from the experts' distributions (n, m) (Algorithm 1, line 6)."""
        mixed = self.weights @ advice
        return np.asarray(mixed / mixed.sum())

    def after(self, rule: Rule, given: _Floats, chance: float, loss: float) -> Mixture:
        """Return the state after the loss of an action.

        Parameters
        ----------
        rule
            Learning parameters.
        given
            (n,) probability that each expert gave to the action.
        chance
            Probability with which the action was drawn, above 0.
        loss
            From 0 to 1.

        Raises
        ------
        InputError
            A loss or a probability is out of bounds.

        Examples
        --------
        >>> rule = Rule(experts=2, actions=2, gamma=1.0)
        >>> learned = Mixture.fresh(2)
        >>> for _ in range(2):
        ...     learned = learned.after(rule, given=np.array([0.9, 0.1]), chance=0.5, loss=1.0)
        >>> learned.rounds, bool(learned.weights[0] < 0.2)
        (1, True)
        """
        if not 0.0 <= loss <= 1.0:
            raise InputError(f"loss is {loss}, expected 0 to 1")
        if not 0.0 < chance <= 1.0 + 1e-9:
            raise InputError(f"chance is {chance}, expected above 0 and at most 1")
        if not (np.all(given >= 0.0) and np.all(given <= 1.0 + 1e-9)):
            raise InputError(f"given is {given.tolist()}, expected probabilities from 0 to 1")
        t = self.rounds + 1
        if rule.update == "exp4-ix":
            # Adding half of the rate to the probability bounds the estimate (Neu, Theorem 2).
            risk = self.risk + given * loss / (chance + rule.rate(t) / 2)
        else:
            risk = self.risk + given * loss
            if risk.max() <= 1.0:
                return Mixture(self.logs, risk, self.total, self.rounds)
        total = self.total + risk
        logs = self.logs - rule.rate(t) * risk if rule.update == "printed" else -rule.rate(t + 1) * total
        return Mixture(_normal(logs), np.zeros_like(risk), total, t)


def bound(rule: Rule, rounds: int) -> float:
    """Return the excess risk that Theorem 1 allows after ``rounds`` rounds: (ln n + ½ Σ γ²) / γ.

    It holds for *anchored*, and for *printed* with a constant γ.

    >>> round(bound(Rule(experts=4, actions=10, gamma=0.1), rounds=100), 2)
    18.86
    """
    rates = np.array([rule.rate(t) for t in range(1, rounds + 1)])
    return float((math.log(rule.experts) + 0.5 * (rates**2).sum()) / rule.rate(max(rounds, 1)))


def _normal(logs: _Floats) -> _Floats:
    top = logs.max()
    return np.asarray(logs - top - np.log(np.exp(logs - top).sum()))
