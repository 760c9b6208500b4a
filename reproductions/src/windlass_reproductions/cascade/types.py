"""Figures 5.20 to 5.22: the accuracy of kinds of queries that compete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.plan import POLICIES
from windlass_reproductions.cascade.drawn import CLASSIFIER, COUNTER, KINDS, READER, TRACKER
from windlass_reproductions.cascade.runs import NEAREST, run
from windlass_reproductions.cascade.setting import drawn_case
from windlass_reproductions.cascade.verdicts import SIGNIFICANT, is_about, is_less, over, reaches
from windlass_reproductions.criteria import below
from windlass_reproductions.reproduction import Row
from windlass_reproductions.verdicts import interval

#: Figures 5.20 and 5.21: Cascade over the optimum and over fair, for queries of one kind.
_PRINTED = {
    READER.name: (0.87, 6.47),
    CLASSIFIER.name: (1.02, 5.10),
    COUNTER.name: (0.87, 6.53),
    TRACKER.name: (1.02, 13.33),
}
#: Figure 5.22: Cascade over the optimum, by the number of trackers among five queries.
_MIXES = {0: 0.91, 1: 0.92, 2: 0.93, 3: 0.95, 4: 0.97, 5: 0.98}
_Means = Mapping[str, NDArray[np.float64]]


def type_rows(seeds: Sequence[int]) -> list[Row]:
    """Return the rows on four kinds at four queries per camera, and on mixes of trackers and license plate readers."""
    best = NEAREST if NEAREST in POLICIES.names() else "optimal"
    cases = [drawn_case(4, np.random.default_rng([seed, 4]), KINDS) for seed in seeds]
    found = {
        policy: {
            kind.name: np.array([each.of_kind(kind.name) for each in outcomes]) for kind in KINDS
        }
        for policy in ("cascade", best, "fair")
        for outcomes in [[run(case, policy) for case in cases]]
    }  # fmt: skip
    outcomes = [run(case, "fair", among="queries") for case in cases]
    even = {kind.name: np.array([each.of_kind(kind.name) for each in outcomes]) for kind in KINDS}
    return [*by_kind(found["cascade"], found[best], found["fair"], even), *_mixes(seeds, best)]


def by_kind(ours: _Means, best: _Means, fair: _Means, even: _Means) -> list[Row]:
    """Return the rows of Figures 5.20 and 5.21 from mean accuracies of each kind, (s,) by draw.

    ``fair`` has shares of the users of each resource, and ``even`` 1/n of every resource, as in the thesis.
    """
    rows = []
    for kind, (over_best, over_fair) in _PRINTED.items():
        near = over(ours[kind] / best[kind])
        rows.append(
            Row.by(
                f"Fig. 5.20: {kind}, Cascade over what the optimum gives this kind",
                over_best,
                str(near),
                is_about(near, over_best, 0.05),
                "tolerance 0.05, because profiles are synthetic; the optimum gives it "
                f"{best[kind].mean():.3f}, Cascade {ours[kind].mean():.3f}",
            )
        )
        if (fair[kind] > 0).all():
            gain = over(ours[kind] / fair[kind])
            rows.append(
                Row.by(
                    f"Fig. 5.21: {kind}, Cascade over fair",
                    over_fair,
                    str(gain),
                    reaches(gain, over_fair - 0.005),
                    f"fair gives this kind {fair[kind].mean():.3f}, and 1/n of every resource {even[kind].mean():.3f}",
                )
            )
        else:
            rows.append(
                Row(
                    f"Fig. 5.21: {kind}, Cascade over fair",
                    over_fair,
                    "fair runs none of them in some draws",
                    None,
                )
            )
    far = {kind: ours[kind] / best[kind] for kind in _PRINTED}
    farther = [
        over(far[low.name] - far[high.name]) for low in (READER, COUNTER) for high in (CLASSIFIER, TRACKER)
    ]
    rows.append(
        Row.by(
            "Fig. 5.20: readers and counters are farther from the optimum than classifiers and trackers",
            "farther",
            ", ".join(f"{kind} {interval(each)}" for kind, each in far.items()),
            below(farther, rule=f"each of the two against each of the others; {SIGNIFICANT}"),
            "the order depends on which kinds have plans of high efficiency",
        )
    )
    return rows


def _mixes(seeds: Sequence[int], best: str) -> list[Row]:
    found = {}
    for trackers in _MIXES:
        kinds = [TRACKER] * trackers + [READER] * (5 - trackers)
        cases = [drawn_case(5, np.random.default_rng([seed, trackers]), kinds) for seed in seeds]
        found[trackers] = np.array([run(case, "cascade").mean / run(case, best).mean for case in cases])
    return mix_rows(found, best)


def mix_rows(found: Mapping[int, NDArray[np.float64]], best: str) -> list[Row]:
    """Return the rows of Figure 5.22 from Cascade's accuracy over the best plan's, (s,) by trackers of five queries."""
    rows = [
        Row.by(
            f"Fig. 5.22: {20 * trackers} % trackers, the rest readers: Cascade over the optimum",
            paper,
            str(interval(found[trackers])),
            reaches(interval(found[trackers]), paper - 0.005),
            f"{best} is used as the optimum, which is better by about 1 %",
        )
        for trackers, paper in _MIXES.items()
    ]
    rows.append(
        Row.by(
            "Fig. 5.22: nearer the optimum with trackers only than with readers only",
            "0.98 after 0.91",
            f"{interval(found[5])} after {interval(found[0])}",
            is_less(found[0], found[5]),
        )
    )
    return rows
