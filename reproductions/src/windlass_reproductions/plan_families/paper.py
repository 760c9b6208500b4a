"""The goals of ``refined``: near the optimum in every family of problems, with as many queries as can run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from windlass_reproductions.criteria import Judged, Within, exactly, where_it_fails
from windlass_reproductions.plan_families.comparison import (
    MEAN,
    OURS,
    WORST,
    Comparison,
    compare,
    compile_planners,
)
from windlass_reproductions.plan_families.families import FAMILIES
from windlass_reproductions.reproduction import Notify, Reproduction, Row
from windlass_reproductions.verdicts import interval

#: First seed. ``refined`` was designed with the seeds from 1,000 on.
JUDGED = 2_000
#: Cases of a family, and the first time limit of each call of the solver, s.
FULL, QUICK = (200, 10.0), (2, 0.5)


class PlanFamilies:
    """Planners compared with HiGHS' proven bound on eight families of problems; not a paper's table."""

    name: ClassVar[str] = "plan-families"
    title: ClassVar[str] = "Planners compared with a proven bound on eight families of problems"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run 200 cases of each family, or two if ``quick``."""
        cases, seconds = QUICK if quick else FULL
        compile_planners()
        rows: list[Row] = []
        for place, (name, make) in enumerate(FAMILIES.items()):
            found = []
            for at in range(cases):
                notify(name, (place + at / cases) / len(FAMILIES))
                found.append(compare(make(JUDGED + at), seconds))
            rows += rows_of(name, found)
        notify("done", 1.0)
        return Reproduction(tuple(rows))


def rows_of(name: str, found: Sequence[Comparison]) -> list[Row]:
    """Return the rows of a family: the mean, the worst case, the running queries, and other planners."""
    parts = np.array([each.parts[OURS] for each in found])
    seconds = [each.seconds for each in found]
    unknown = sum(each.unknown > 0 for each in found)
    mean, worst, count = judge(parts, [each.fewer for each in found])
    far = f"the bound is not the optimum: {int((parts < MEAN).sum())} of {len(found)} cases are below {MEAN}"
    return [
        Row.by(
            f"{name}: {OURS} over the bound, mean of {len(found)} cases",
            f"at least {MEAN}",
            f"{parts.mean():.4f}",
            mean,
            where_it_fails(mean, far),
        ),
        Row.by(f"{name}: the worst case", f"at least {WORST}", f"{parts.min():.4f}", worst),
        Row.by(
            f"{name}: cases with fewer queries than can run",
            "none",
            str(sum(each.fewer > 0 for each in found)),
            count,
            f"in {unknown} cases it is not proven that no more can run" if unknown else "",
        ),
        Row(
            f"{name}: CPU seconds of {OURS}",
            None,
            f"{np.mean(seconds):.2f}, at most {max(seconds):.2f}",
            None,
        ),
        Row(
            f"{name}: other planners over the bound", None, _others(found), None, "cases with as many queries"
        ),
    ]


def judge(parts: np.ndarray, fewer: Sequence[int]) -> tuple[Judged, Judged, Judged]:
    """Return the verdicts on the mean, the worst case, and the number of running queries.

    Parameters
    ----------
    parts
        (c,) sums over the bound.
    fewer
        (c,) queries fewer than in the solver's plan.

    Examples
    --------
    >>> [each.holds for each in judge(np.array([1.0, 0.995, 0.999]), [0, -1, 0])]
    [True, True, True]
    >>> [each.holds for each in judge(np.array([0.97, 0.96, 0.965]), [0, 1, 0])]
    [False, False, False]
    """
    return (
        Judged(
            (Within(interval(parts), low=MEAN),), f"holds if the 95 % interval of the mean is from {MEAN} on"
        ),
        Judged((Within(exactly(float(parts.min())), low=WORST),), f"holds if no case is below {WORST}"),
        Judged(
            (Within(exactly(float(max(fewer))), high=0.0),), "holds if the solver never runs more queries"
        ),
    )


def _others(found: Sequence[Comparison]) -> str:
    texts = []
    for name in ("cascade", "fair"):
        parts = [each.parts[name] for each in found if name in each.parts]
        texts.append(f"{name} {np.mean(parts):.4f} in {len(parts)}" if parts else f"{name} in none")
    return "; ".join(texts)
