"""Tables 4 to 6: forecasts of spikes, by three kinds of rules that define a spike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.forecast import spike_level
from windlass_reproductions.criteria import Judged, above, exactly
from windlass_reproductions.pronto.data import Machine, clusters
from windlass_reproductions.pronto.methods import cluster, has_svm, own, pooled
from windlass_reproductions.pronto.values import DAY, series_of
from windlass_reproductions.reproduction import Row

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_WINDOW = 14
#: Methods of the tables; the last learns from all machines. In ``ALONE`` an SVM of one machine replaces both.
METHODS = ("naive", "ExpSmo", "ARIMA", "SVM cluster", "SVM full")
ALONE = ("naive", "ExpSmo", "ARIMA", "SVM alone")
#: Published accuracy of each method, and share of spikes, %, by rule.
PUBLISHED = {
    "500": ((0.884, 0.8529, 0.894, 0.9057, 0.9071), 9.54),
    "800": ((0.9359, 0.9338, 0.938, 0.9417, 0.9414), 2.63),
    "1000": ((0.9725, 0.9734, 0.9763, 0.9746, 0.9744), 0.85),
    "90th": ((0.7472, 0.7444, 0.7301, 0.745, 0.7449), 13.28),
    "95th": ((0.7807, 0.7942, 0.7862, 0.7936, 0.7933), 10.18),
    "99th": ((0.8306, 0.8534, 0.8534, 0.8534, 0.8534), 7.3),
    "μ+3σ": ((0.9723, 0.9754, 0.9754, 0.9754, 0.9754), 4.6),
    "xbar": ((0.6687, 0.5953, 0.6594, 0.6875, 0.6926), 49.1),
    "median": ((0.4476, 0.3393, 0.4343, 0.4877, 0.4903), 24.91),
}
_TABLE = {"500": 4, "800": 4, "1000": 4, "90th": 5, "95th": 5, "99th": 5, "μ+3σ": 6, "xbar": 6, "median": 6}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy of forecasts of spikes.

    Parameters
    ----------
    balanced
        Mean of the shares of correct forecasts among spikes and among other days.
    plain
        Share of correct forecasts among all days.
    spikes
        Share of days that are spikes.
    silent
        ``balanced`` if no spike is ever predicted.
    """

    balanced: float
    plain: float
    spikes: float
    silent: float


def accuracy(foreseen: Bools, actual: Bools) -> Accuracy:
    """Return the accuracy over machines of (k, m) forecasts; a kind of day that a machine never has counts as correct.

    >>> accuracy(np.array([[True], [False], [False], [False]]), np.array([[True], [True], [False], [False]]))
    Accuracy(balanced=0.75, plain=0.75, spikes=0.5, silent=0.5)
    """
    balanced, silent = (_balanced(each, actual) for each in (foreseen, np.zeros_like(actual)))
    return Accuracy(balanced, float((foreseen == actual).mean()), float(actual.mean()), silent)


def _balanced(foreseen: Bools, actual: Bools) -> float:
    parts = []
    for kind in (True, False):
        count = (actual == kind).sum(axis=0)
        right = ((foreseen == kind) & (actual == kind)).sum(axis=0)
        parts.append(np.where(count > 0, right / np.maximum(count, 1), 1.0))
    return float(np.mean(parts))


def level(rule: str, window: Floats, fixed: dict[str, float]) -> float:
    """Return the value from which on a day is a spike, by the window before it.

    If all of the window reaches the value, return the smallest number above the window instead.

    >>> level("μ+3σ", np.array([0.0, 2.0]), {}), level("median", np.array([1.0, 1.0]), {}) > 1.0
    (4.0, True)
    """
    if rule in fixed:
        return fixed[rule]
    if rule.endswith("th"):
        found = spike_level("percentile", window, float(rule[:2]))
    else:
        found = spike_level({"μ+3σ": "sigma", "xbar": "xbar", "median": "median"}[rule], window, 3.0)
    return found if found > window.min() else float(np.nextafter(window.max(), np.inf))


def all_accuracies(found: tuple[Machine, ...], most: int) -> dict[tuple[str, str], Accuracy]:
    """Return accuracies by rule and method for the next day's median, over at most ``most`` days."""
    groups = [series_of(each, DAY) for each in clusters(found)]
    length = min(each.shape[1] for each in groups)
    every = np.concatenate([each[:, :length] for each in groups])
    member = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
    # Choose levels with the paper's share of spikes, as its fixed values have another unit.
    fixed = {
        rule: float(np.percentile(every, 100 - share))
        for rule, (_, share) in PUBLISHED.items()
        if rule.isdigit()
    }
    return accuracies(every, member, most, fixed, METHODS if has_svm() else METHODS[:3])


def accuracies(
    every: Floats, member: NDArray[np.int64], most: int, fixed: dict[str, float], methods: Sequence[str]
) -> dict[tuple[str, str], Accuracy]:
    """Return accuracies by rule and method of forecasts of the next of (m, t) values.

    Parameters
    ----------
    every
        (m, t) values, a row for each machine.
    member
        (m,) cluster of each machine.
    most
        Maximum number of values to forecast, from the end.
    fixed
        Value from which on there is a spike, for each rule with a fixed value.
    methods
        Some of :data:`METHODS` or :data:`ALONE`.
    """
    length = every.shape[1]
    places = range(max(_WINDOW, length - most), length)
    result = {}
    for rule in PUBLISHED:
        foreseen: dict[str, list[Bools]] = {method: [] for method in methods}
        actual = []
        for place in places:
            windows = every[:, place - _WINDOW : place]
            levels = np.array([level(rule, each, fixed) for each in windows])
            marks = (windows >= levels[:, None]).astype(np.float64)
            actual.append(every[:, place] >= levels)
            for method in methods:
                foreseen[method].append(_ahead(method, marks, member) >= 0.5)
        for method in methods:
            result[rule, method] = accuracy(np.array(foreseen[method]), np.array(actual))
    return result


def _ahead(method: str, marks: Floats, member: NDArray[np.int64]) -> Floats:
    if method == "SVM full":
        return pooled(marks)
    if method == "SVM cluster":
        found = np.zeros(len(marks))
        for each in np.unique(member):
            found[member == each] = cluster("SVM", marks[member == each])
        return found
    return np.array([own(method.removesuffix(" alone"), each) for each in marks])


def rows_of(found: dict[tuple[str, str], Accuracy], of: str = "") -> list[Row]:
    """Return rows of all cells and of the paper's conclusions; ``of`` is a prefix of their names."""
    rows = []
    for (rule, method), ours in found.items():
        published = PUBLISHED[rule][0][(ALONE if method in ALONE else METHODS).index(method)]
        rows.append(
            Row(
                f"{of}Table {_TABLE[rule]}, {rule}, {method}: accuracy",
                f"{published:.3f}",
                f"{ours.balanced:.3f}; over all days {ours.plain:.3f}",
                None,
                f"spikes are {100 * ours.spikes:.1f} % of days, in the paper {PUBLISHED[rule][1]} %",
            )
        )
    best = {rule: max(each.balanced for (one, _), each in found.items() if one == rule) for rule in PUBLISHED}
    silence = {rule: each.silent for (rule, _), each in found.items()}
    rows.append(few_row(best, silence, of))
    never = [1.0 - share / 100.0 for rule, (_, share) in PUBLISHED.items() if rule.isdigit()]
    beaten = [
        max(PUBLISHED[rule][0]) > each for rule, each in zip(("500", "800", "1000"), never, strict=True)
    ]
    rows.append(
        Row(
            f"{of}Table 4: shares of correct days, the best method compared with one that never predicts a spike",
            f"above it at {sum(beaten)} of 3",
            "; ".join(
                f"{rule}: {best_plain(found, rule):.3f} against {none:.3f}" for rule, none in silent(found)
            ),
            None,
            "published accuracies are near those of never predicting a spike, under any reading of the formula",
        )
    )
    return rows


def few_row(best: Mapping[str, float], silence: Mapping[str, float], of: str = "") -> Row:
    """Return the row that tests whether spikes of rules that mark few days are predicted more accurately.

    ``best`` has the best accuracy of each rule, ``silence`` that of never predicting a spike.
    """
    pairs = list(zip(("1000", "99th", "μ+3σ"), ("500", "90th", "median"), strict=True))
    gaps = [best[few] - best[many] for few, many in pairs]
    # Machines without spikes count as correct, so never predicting a spike can give the same order.
    blind = all(silence[few] > silence[many] for few, many in pairs)
    rule = "holds if each is above, and never predicting a spike gives another order"
    return Row.by(
        f"{of}Tables 4 to 6: rules that mark few days are more accurate (1000, 99th, μ+3σ above 500, 90th, median)",
        "in all three",
        f"in {sum(gap > 0 for gap in gaps)} of 3" + (", as without predicting any" if blind else ""),
        Judged((), rule) if blind else above([exactly(gap) for gap in gaps], rule=rule),
        "the formula is assumed to mean shares of correct forecasts, and 1 if a machine has no such day",
    )


def best_plain(found: dict[tuple[str, str], Accuracy], rule: str) -> float:
    """Return the highest share of correct days under a rule."""
    return max(each.plain for (of, _), each in found.items() if of == rule)


def silent(found: dict[tuple[str, str], Accuracy]) -> list[tuple[str, float]]:
    """Return, for each fixed rule, the share of correct days if no spike is ever predicted."""
    return [(rule, 1.0 - found[rule, "naive"].spikes) for rule in ("500", "800", "1000")]
