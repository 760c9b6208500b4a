"""Verdicts on the makespan in the simulator, and on what learning changes."""

from __future__ import annotations

from collections.abc import Mapping

from windlass_reproductions.asax.mix import CORES
from windlass_reproductions.asax.runs import (
    ASAX,
    EASY,
    EXP4_IX,
    FROZEN,
    PAIRS,
    PROGRESS,
    PROGRESS_FROZEN,
    Found,
)
from windlass_reproductions.criteria import Floats, Judged, Within, at_most, below, over, where_it_fails
from windlass_reproductions.reproduction import Row
from windlass_reproductions.verdicts import give_or_take, interval

Runs = Mapping[int, Mapping[str, Found]]
#: The paper's change of the makespan at 64 cores, and its last digit, percent.
_PRINTED, _DIGIT = -12.0, 1.0
#: Each policy and the same with equal weights; without learning, the two updates by progress are one policy.
_ABLATIONS = ((ASAX, FROZEN), (PROGRESS, PROGRESS_FROZEN), (EXP4_IX, PROGRESS_FROZEN))
#: Changes by learning up to this size count as none, percent of the value with equal weights.
SAME = 2.0
_METRICS = (
    ("mean_wait_s", "mean wait"),
    ("makespan_s", "makespan"),
    ("mean_host_stretch", "run time of hosts"),
)


def change(ours: Found, base: Found, metric: str) -> Floats:
    """Return the change of a metric compared with another contender, (s,) percent for each seed."""
    return 100.0 * (ours.of(metric) / base.of(metric) - 1.0)


def lower(percent: Floats) -> Judged:
    """Claim that a metric falls.

    >>> import numpy as np
    >>> [lower(np.array(each)).holds for each in ([-2.0, -2.1], [2.0, 2.1], [-1.0, 1.0])]
    [True, False, None]
    """
    return below(
        [over(percent)], rule="holds if it is lower over the same draws, with its whole 95 % interval"
    )


def unchanged(percent: Floats) -> Judged:
    """Claim that a metric changes by at most :data:`SAME` percent.

    >>> import numpy as np
    >>> [unchanged(np.array(each)).holds for each in ([0.4, 0.5], [3.0, 3.1], [-3.0, -3.1], [1.9, 2.1])]
    [True, False, False, None]
    """
    rule = f"holds if its whole 95 % interval over the same draws is within {SAME:g} % of equal weights"
    return Judged((Within(over(percent), -SAME, SAME),), rule)


def makespans(found: Runs) -> list[Row]:
    """Return rows that test the makespan compared with EASY: lower at each size, and by 12 % at 64 cores."""
    rows = []
    for name in (ASAX.shown, PAIRS.shown):
        for size in CORES:
            percent = change(found[size][name], found[size][EASY.shown], "makespan_s")
            what = f"{name} compared with EASY, {size} cores: makespan"
            rows.append(Row.by(f"{what} lower", "up to 12 % less", _text(percent), lower(percent)))
            if size == CORES[0]:
                printed = at_most(over(percent), _PRINTED, _DIGIT)
                why = "the quotas that trees draw are not printed, and small quotas make guests long"
                rows.append(
                    Row.by(
                        f"{what} 12 % less",
                        "12 % less",
                        _text(percent),
                        printed,
                        where_it_fails(printed, why),
                    )
                )
    return rows


def learning(found: Runs) -> list[Row]:
    """Return rows that compare ASAx with its ablation; none for a policy whose ablation was not run."""
    rows = []
    for own, frozen in _ABLATIONS:
        for size in CORES:
            if frozen.shown not in found[size]:
                continue
            for metric, word in _METRICS:
                percent = change(found[size][own.shown], found[size][frozen.shown], metric)
                judged = unchanged(percent)
                what = f"{own.shown}, {size} cores: learning changes the {word} by at most {SAME:g} %"
                rows.append(Row.by(what, None, _text(percent), judged))
    return rows


def _text(percent: Floats) -> str:
    found = interval(percent)
    return f"{found.mean:+.1f}{give_or_take(found.half, '.1f')} %"
