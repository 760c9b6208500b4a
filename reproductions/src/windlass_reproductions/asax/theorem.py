"""Theorem 1: how much more the mixture risks than its best expert, over what is allowed.

The theorem is of any losses, and random ones hardly test it: what was learned of them early is as good later. So the
mixture also learns from losses that turn, where one of two experts is hurt for long, and then the other.
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
#: Cases in which the first of two experts is hurt, and then the other (docs/share.md).
_TURN = (200, 600)
#: The rules of learning: an update, and its rate; None for one that falls.
_RULES: tuple[tuple[str, float | None], ...] = (("printed", 0.1), ("printed", None), ("anchored", None))


def theorem(runs: int, cases: int) -> tuple[list[Row], Picture]:
    """Excess risk over what Theorem 1 allows, in random runs of three updates, and where losses turn.

    Parameters
    ----------
    runs
        Random runs of each.
    cases
        Losses in a run.
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
        rate = "constant rate" if gamma else "rate that falls"
        rows.append(theorem_row(f"{update}, {rate}", worst, float((turned.excess / turned.allowed).max())))
        if last is not None and len(last.excess):
            shown = np.unique(np.geomspace(1, len(last.excess), 60).astype(int)) - 1
            lines.append(Line(f"{update}, {rate}", (shown + 1).tolist(), last.excess[shown].tolist()))
            lines.append(Line(f"bound, {rate}", (shown + 1).tolist(), last.allowed[shown].tolist()))
    caption = "The last of the random runs. The bound is the same for both updates whose rate falls."
    unique = {line.name: line for line in lines}
    return rows, Picture(
        "theorem", "Theorem 1", "rounds", "excess risk", tuple(unique.values()), caption, log_x=True
    )


def theorem_row(rule: str, worst: Sequence[float], turned: float) -> Row:
    """Whether the bound holds: of the largest part of it in each random run, and of that where losses turn."""
    most = max(worst, default=math.nan)
    judged = Judged(
        tuple(Within(exactly(part), high=1.0) for part in (most, turned)),
        "holds where neither is above 1, as the theorem is of any losses",
    )
    return Row.by(
        f"Theorem 1, {rule}: largest excess risk over the bound",
        "at most 1",
        f"{most:.3g} in {len(worst)} random runs, {turned:.3g} where losses turn",
        judged,
        where_it_fails(
            judged, "the proof needs factors that fall, and 1 over the rate rises (docs/share.md)"
        ),
    )
