"""Theorem 1: the excess risk of the mixture over its best expert, relative to the bound of the theorem.

The theorem covers any losses. Random losses hardly test it, as early observations of them remain valid. So the mixture
also learns from losses that reverse: one of two experts has losses for a long time, and then the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from windlass.report.pictures import Line, Picture
from windlass.share.learning import learning_curve, turned_curve
from windlass_reproductions.criteria import Judged, Within, exactly, where_it_fails
from windlass_reproductions.reproduction import Row

_EXPERTS, _ACTIONS = 4, 10
#: Number of cases in which the first of two experts has losses, and then of the other (docs/share.md).
_TURN = (200, 600)
#: Learning rules: an update, and its constant rate; None for a decreasing rate.
_RULES: tuple[tuple[str, float | None], ...] = (("printed", 0.1), ("printed", None), ("anchored", None))


def theorem(runs: int, cases: int) -> tuple[list[Row], Picture]:
    """Measure the excess risk of three learning rules relative to the bound of Theorem 1.

    Parameters
    ----------
    runs
        Number of random runs of each rule.
    cases
        Number of losses in a run.
    """
    rows, lines = [], []
    for update, gamma in _RULES:
        worst, last = [], None
        for seed in range(runs):
            rng = np.random.default_rng([seed, 11])
            advice = rng.dirichlet(np.full(_ACTIONS, 0.5), _EXPERTS)
            losses = rng.beta(0.5, 1.0, _ACTIONS) * rng.random((cases, _ACTIONS))
            last = learning_curve(update, gamma, advice, losses, rng)
            if len(last.excess):
                worst.append(float((last.excess / last.allowed).max()))
        turned = turned_curve(update, gamma, *_TURN)
        rate = "constant rate" if gamma else "decreasing rate"
        rows.append(theorem_row(f"{update}, {rate}", worst, float((turned.excess / turned.allowed).max())))
        if last is not None and len(last.excess):
            shown = np.unique(np.geomspace(1, len(last.excess), 60).astype(int)) - 1
            lines.append(Line(f"{update}, {rate}", (shown + 1).tolist(), last.excess[shown].tolist()))
            lines.append(Line(f"bound, {rate}", (shown + 1).tolist(), last.allowed[shown].tolist()))
    caption = "Last random run. Both updates with a decreasing rate have the same bound."
    unique = {line.name: line for line in lines}
    return rows, Picture(
        "theorem", "Theorem 1", "rounds", "excess risk", tuple(unique.values()), caption, log_x=True
    )


def theorem_row(rule: str, worst: Sequence[float], turned: float) -> Row:
    """Return the row that tests the bound, from the largest ratio to it in each random run and with reversed losses."""
    most = max(worst, default=math.nan)
    judged = Judged(
        tuple(Within(exactly(part), high=1.0) for part in (most, turned)),
        "holds if neither is above 1, as the theorem covers any losses",
    )
    return Row.by(
        f"Theorem 1, {rule}: largest ratio of excess risk to the bound",
        "at most 1",
        f"{most:.3g} in {len(worst)} random runs, {turned:.3g} with losses that reverse",
        judged,
        where_it_fails(
            judged, "the proof needs decreasing factors, but 1 over the rate increases (docs/share.md)"
        ),
    )
