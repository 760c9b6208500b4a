"""The worked example of Section 5.3, compared with the numbers that the thesis prints."""

from __future__ import annotations

import itertools

import numpy as np

from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan import POLICIES, PlanView, QueryOptions, configurations
from windlass_reproductions.cascade.drawn import MBIT, RAW
from windlass_reproductions.criteria import Judged, Within, below, exactly, printed
from windlass_reproductions.reproduction import Row

#: Plans: accuracy, Mb/s into the detector and into the associator, cores of each.
_PLANS = (("1080p", 0.9, 3.0, 1.5, 3.0), ("480p", 0.6, 1.0, 1.0, 2.0), ("240p", 0.2, 0.5, 0.5, 0.5))


def example_view() -> PlanView:
    """Return the example: two trackers, a private cluster of 3 cores, an uplink of 3 Mb/s, and a cloud of 40 cores."""
    cameras = tuple(Cluster(f"camera-{number}", 0.0, 3 * MBIT, parent="private") for number in (1, 2))
    hierarchy = Hierarchy(
        (Cluster("cloud", 40.0), Cluster("private", 3.0, 3 * MBIT, parent="cloud"), *cameras)
    )
    plans = tuple(
        QueryPlan(
            accuracy,
            (
                Component(f"encode {name}", 0.0, first * MBIT),
                Component("detect", cores, second * MBIT),
                Component("associate", cores, 0.0),
            ),
        )
        for name, accuracy, first, second, cores in _PLANS
    )
    found = [
        configurations(Query(f"Q{number}", f"camera-{number}", plans, RAW), hierarchy) for number in (1, 2)
    ]
    queries = tuple(QueryOptions.of(place, each) for place, each in enumerate(found))
    return PlanView(0.0, hierarchy.resources, hierarchy.capacity(), queries)


def example_rows() -> list[Row]:
    """Return the rows on the best plan, found by trying all, and on the plans of the planners."""
    view = example_view()
    fits = {}
    for pair in itertools.product(*(range(len(each)) for each in view.queries)):
        total = sum(each.demand[choice] for each, choice in zip(view.queries, pair, strict=True))
        if (total <= view.capacity * (1 + 1e-9)).all():
            fits[pair] = [
                float(each.accuracy[choice]) for each, choice in zip(view.queries, pair, strict=True)
            ]
    means = {pair: float(np.mean(both)) for pair, both in fits.items()}
    best = [pair for pair, mean in means.items() if mean >= max(means.values()) - 1e-12]
    label = view.queries[0].label(best[0][0]), view.queries[1].label(best[0][1])
    split = sum("detect@private; associate@cloud" in each for each in label)
    worst = max(map(min, fits.values()))
    rows = [
        Row.by(
            "Section 5.3: best mean accuracy, by trying all configurations",
            0.75,
            max(means.values()),
            printed(exactly(max(means.values())), 0.75, 0.01),
        ),
        Row.by(
            "Section 5.3: number of best plans, up to an exchange of the queries",
            "one: 1080p with its detector private and its associator in the cloud, 480p all in the cloud",
            f"{len(best)} of {len(fits)} plans that fit, with the queries exchanged; {'; '.join(label)}",
            Judged(
                (Within(exactly(len(best)), 2.0, 2.0), Within(exactly(split), 1.0, 1.0)),
                "holds if there are two best plans, and in the first exactly one query is split as printed",
            ),
        ),
        Row.by(
            "Section 5.3: both queries at 1080p",
            "do not fit",
            "fit" if worst >= _PLANS[0][1] else "do not fit",
            below([exactly(worst)], _PLANS[0][1], rule="holds if one of them always has less accuracy"),
        ),
    ]
    for policy in ("optimal", "cascade", "refined", "fair"):
        if policy not in POLICIES.names():
            continue
        plan = POLICIES.make(policy, np.random.default_rng(1)).decide(view)
        plan.check(view)
        mean = float(
            np.mean(
                [
                    each.accuracy[choice] if choice >= 0 else 0.0
                    for each, choice in zip(view.queries, plan.choices, strict=True)
                ]
            )
        )
        rows.append(
            Row(
                f"Section 5.3: mean accuracy of {policy}",
                None,
                mean,
                None,
                "the thesis gives no value for its planners",
            )
        )
    return rows
