"""The cost–wait curve: cost and mean wait of policies on real workloads, at several values of their parameters.

Every policy runs over the whole log. The first part is for training, and parameter values (knobs) may be chosen there;
results are measured in the second part, the test weeks. Intervals come from a bootstrap over weeks, with the same draws
for all policies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial

import numpy as np
from numpy.typing import NDArray

from windlass.engines.worker_pool import Crew, Crews, processes
from windlass.report.pictures import Line, Picture
from windlass_reproductions.autoscaler.curve_cases import Workload, absent, shortened, workloads
from windlass_reproductions.autoscaler.curve_front import (
    FEWER_HOURS,
    LESS_WAIT,
    Front,
    Gain,
    Savings,
    compare,
)
from windlass_reproductions.autoscaler.curve_grid import CLAIRVOYANT, DEFAULT, REACTIVE, grid, quick_grid
from windlass_reproductions.autoscaler.curve_runs import Blocks, Measured, Point, measure
from windlass_reproductions.reproduction import Notify, Row

_Floats = NDArray[np.float64]

_ALL = ("KTH", "LCG", "Philly", "Helios", "openb")
_QUICK = ("KTH",)
#: Seed of the bootstrap over weeks.
_SEED = 7


def cost_and_wait(
    quick: bool,
    notify: Notify,
    cores: int | None = None,
    names: Sequence[str] | None = None,
    crews: Crews | None = None,
) -> tuple[tuple[Row, ...], tuple[Picture, ...]]:
    """Return rows and pictures of all workloads whose logs are available.

    Parameters
    ----------
    quick
        Whether to run only one workload, two training and two test weeks, and a part of the grid.
    notify
        Called with each step that begins, and the share that is done.
    cores
        Maximum number of processes; by default the number of cores.
    names
        Names of the workloads; by default all, or one if ``quick``.
    crews
        Worker pool that runs the points; by default ``cores`` processes. The results do not depend on it.
    """
    chosen = workloads(tuple(names or (_QUICK if quick else _ALL)))
    rows: list[Row] = []
    pictures: list[Picture] = []
    choose = quick_grid if quick else grid
    number = min(cores or os.cpu_count() or 1, len(choose()))
    opened = (crews or partial(processes, number))() if crews or number > 1 else nullcontext()
    with opened as crew:
        for place, workload in enumerate(chosen):
            short = shortened(workload, 2) if quick else workload
            share = place / len(chosen)
            found, points = [], choose(_by_money(workload))
            for done, each in enumerate(_measured(short, points, crew)):
                notify(
                    f"{workload.name}, {each.point.curve} {each.point.knob}",
                    share + done / len(points) / len(chosen),
                )
                found.append(each)
            rows += rows_of(short, found)
            pictures.append(picture(short, found))
    rows += [
        Row(f"Cost and wait, {name}", None, "not run", None, "its log is not available")
        for name in absent()
        if name in (names or _ALL)
    ]
    return tuple(rows), tuple(pictures)


def _measured(workload: Workload, points: Sequence[Point], crew: Crew | None) -> Iterator[Measured]:
    """Yield the measurement of each point in order, computed by the crew or in this process."""
    if crew is None:
        yield from (measure(workload, point) for point in points)
        return
    shared = crew.share(workload)
    futures = [crew.submit(measure, shared, point) for point in points]
    yield from (each.result() for each in futures)


def rows_of(workload: Workload, found: Sequence[Measured]) -> list[Row]:
    """Return rows of all points, of savings against the reactive default, and of knobs chosen in the training part."""
    rows = [_point_row(workload, each) for each in found]
    reference = _curve(found, REACTIVE)
    place = next((at for at, each in enumerate(reference) if each.point.knob == DEFAULT), None)
    if place is None:
        return rows
    for name in _contenders(found):
        ours = _curve(found, name)
        rows += _saving_rows(workload, name, compare_curves(ours, reference, place))
        rows.append(_chosen_row(workload, name, ours, reference[place]))
        rows += _loss_rows(workload, name, ours, reference)
    bound = _curve(found, CLAIRVOYANT)
    if bound:
        rows.append(_bound_row(workload, bound[0].judged, reference[place].judged))
    return rows


def compare_curves(ours: Sequence[Measured], reference: Sequence[Measured], place: int) -> Savings:
    """Compare two curves over the test weeks, at one point of the second."""
    rng = np.random.default_rng(_SEED)
    return compare([each.judged for each in ours], [each.judged for each in reference], place, rng)


def chosen_knob(ours: Sequence[Measured], reference: Measured) -> Measured:
    """Return the point with the least wait in the training part among those that cost no more than the reference.

    If all points cost more, return the cheapest.
    """
    able = [each for each in ours if each.learned.usd.sum() <= reference.learned.usd.sum()]
    if not able:
        return min(ours, key=lambda each: float(each.learned.usd.sum()))
    return min(able, key=lambda each: each.learned.mean_wait())


def picture(workload: Workload, found: Sequence[Measured]) -> Picture:
    """Return the picture of a curve for each policy with a knob, and of a point for each without."""
    lines, by_money = [], _by_money(workload)
    for name in dict.fromkeys(each.point.curve for each in found):
        if name == "static":
            # Its many hours would stretch the axis until all other points coincide.
            continue
        own = _curve(found, name)
        paid = [each.judged.usd if by_money else each.judged.hours for each in own]
        lines.append(
            Line(name, [float(each.sum()) for each in paid], [each.judged.mean_wait() for each in own])
        )
    blocks = len(found[0].judged.jobs)
    caption = f"Each point is a knob, measured over {blocks} test weeks or days. Lower left is better."
    return Picture(
        f"curve-{workload.name.lower()}",
        f"Cost and wait, {workload.name}",
        "USD" if by_money else "instance-hours",
        "mean wait, s",
        tuple(lines),
        caption,
    )


def _by_money(workload: Workload) -> bool:
    """Whether types differ in price, so that money is compared instead of hours."""
    return len({kind.price for kind in workload.case.fleet.types}) > 1


def _cost(workload: Workload) -> str:
    return "money" if _by_money(workload) else "hours"


def _less(workload: Workload) -> str:
    return "less money" if _by_money(workload) else "fewer hours"


def _curve(found: Sequence[Measured], name: str) -> list[Measured]:
    return [each for each in found if each.point.curve == name]


def _contenders(found: Sequence[Measured]) -> list[str]:
    """Return the names of all curves with a knob, except the reactive one."""
    names = [each.point.curve for each in found if each.point.knob]
    return [name for name in dict.fromkeys(names) if name != REACTIVE]


def _point_row(workload: Workload, each: Measured) -> Row:
    return Row(
        f"{workload.name}: {each.point.curve} {each.point.knob}".rstrip(),
        None,
        measures_text(each.judged),
        None,
    )


def measures_text(found: Blocks) -> str:
    """Format all measures in one line."""
    return (
        f"{found.mean_wait():.1f} s mean wait, 95th percentile {found.p95_wait():.0f} s, "
        f"{100 * found.delayed.sum() / max(1.0, found.jobs.sum()):.1f} % delayed by a launch, "
        f"{found.hours.sum():,.0f} instance-hours, {found.usd.sum():,.0f} USD, {found.actions.sum():,.0f} actions"
    )


def _saving_rows(workload: Workload, name: str, found: Savings) -> list[Row]:
    what, cost = f"{workload.name}: {name} compared with {REACTIVE}", _cost(workload)
    return [
        _saving_row(f"{what}, wait saved at equal {cost}", found.wait, LESS_WAIT),
        _saving_row(f"{what}, {cost} saved at equal wait", found.hours, FEWER_HOURS),
        Row.by(
            f"{what}: either",
            "one of the two",
            found.verdict(),
            found.judged(),
            "" if found.reached() else "neither target is reached",
        ),
    ]


def _saving_row(what: str, gain: Gain, target: float) -> Row:
    judged = gain.judged(target)
    why = "" if judged.holds else _why(gain, target)
    return Row.by(what, f"at least {100 * target:.0f} %", str(gain), judged, why)


def _why(gain: Gain, target: float) -> str:
    if not np.isfinite(gain.value):
        return "the curve has no point at this cost, or at this wait"
    if gain.value < 0.0:
        return "it is worse"
    if gain.value < target:
        return (
            "less than claimed" if gain.low > 0.0 else "less than claimed, and not statistically significant"
        )
    return "not statistically significant"


def _chosen_row(workload: Workload, name: str, ours: Sequence[Measured], reference: Measured) -> Row:
    best = chosen_knob(ours, reference)
    wait = 1.0 - best.judged.mean_wait() / max(reference.judged.mean_wait(), 1e-9)
    cost = 1.0 - best.judged.usd.sum() / reference.judged.usd.sum()
    return Row(
        f"{workload.name}: {name}, knob chosen in the training part at the {_cost(workload)} of {REACTIVE} {DEFAULT}",
        None,
        f"{best.point.knob}: {100 * wait:.1f} % less wait, {100 * cost:.1f} % {_less(workload)}",
        None,
    )


def _loss_rows(
    workload: Workload, name: str, ours: Sequence[Measured], reference: Sequence[Measured]
) -> Iterator[Row]:
    """Yield a row of the reactive policy's idle times at whose cost the policy waits longer, if there are any."""
    own = Front.of(*_sums(ours))
    lost = []
    for each, usd, wait in zip(reference, *_sums(reference), strict=True):
        at = own.wait_at(float(usd))
        if np.isfinite(at) and at > wait:
            lost.append(f"{each.point.knob} ({at:.0f} s instead of {wait:.0f} s)")
    if lost:
        yield Row(
            f"{workload.name}: knobs of {REACTIVE} at which {name} waits longer, at equal {_cost(workload)}",
            None,
            ", ".join(lost),
            None,
        )


def _sums(found: Sequence[Measured]) -> tuple[_Floats, _Floats]:
    return (
        np.array([each.judged.usd.sum() for each in found]),
        np.array([each.judged.mean_wait() for each in found]),
    )


def _bound_row(workload: Workload, bound: Blocks, reference: Blocks) -> Row:
    wait = 1.0 - bound.mean_wait() / max(reference.mean_wait(), 1e-9)
    cost = 1.0 - bound.usd.sum() / reference.usd.sum()
    return Row(
        f"{workload.name}: {CLAIRVOYANT} compared with {REACTIVE} {DEFAULT}",
        None,
        f"{100 * wait:.1f} % less wait, {100 * cost:.1f} % {_less(workload)}",
        None,
    )
