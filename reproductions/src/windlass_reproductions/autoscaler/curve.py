"""The cost–wait curve: what each policy's knob makes of real workloads, in weeks that nothing was chosen by.

Every policy runs over the whole log; the first part is for learning, and knobs may be chosen there. All is measured
week by week, and intervals are of weeks drawn anew, the same for all policies.
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
    Compared,
    Front,
    Gain,
    compare,
)
from windlass_reproductions.autoscaler.curve_grid import CLAIRVOYANT, DEFAULT, REACTIVE, few, grid
from windlass_reproductions.autoscaler.curve_runs import Blocks, Measured, Point, measure
from windlass_reproductions.reproduction import Notify, Row

_Floats = NDArray[np.float64]

_ALL = ("KTH", "LCG", "Philly", "Helios", "openb")
_QUICK = ("KTH",)
#: Of draws of weeks.
_SEED = 7


def cost_and_wait(
    quick: bool,
    notify: Notify,
    cores: int | None = None,
    names: Sequence[str] | None = None,
    crews: Crews | None = None,
) -> tuple[tuple[Row, ...], tuple[Picture, ...]]:
    """Rows and pictures of all workloads whose logs are at hand.

    Parameters
    ----------
    quick
        One workload, two weeks to learn from and two to judge by, and a part of the grid.
    tell
        Told which step begins.
    cores
        So many processes at once; by default as many as there are cores.
    names
        Which workloads; by default all, or one if it has to be quick.
    crews
        Who runs the points; by default so many processes as ``cores`` says. What comes out does not depend on it.
    """
    chosen = workloads(tuple(names or (_QUICK if quick else _ALL)))
    rows: list[Row] = []
    pictures: list[Picture] = []
    asked = few if quick else grid
    number = min(cores or os.cpu_count() or 1, len(asked()))
    opened = (crews or partial(processes, number))() if crews or number > 1 else nullcontext()
    with opened as crew:
        for place, workload in enumerate(chosen):
            short = shortened(workload, 2) if quick else workload
            share = place / len(chosen)
            found, points = [], asked(_by_money(workload))
            for done, each in enumerate(_measured(short, points, crew)):
                notify(
                    f"{workload.name}, {each.point.curve} {each.point.knob}",
                    share + done / len(points) / len(chosen),
                )
                found.append(each)
            rows += rows_of(short, found)
            pictures.append(picture(short, found))
    rows += [
        Row(f"Cost and wait, {name}", None, "not run", None, "its log is not at hand")
        for name in absent()
        if name in (names or _ALL)
    ]
    return tuple(rows), tuple(pictures)


def _measured(workload: Workload, points: Sequence[Point], crew: Crew | None) -> Iterator[Measured]:
    """Each point, in their order, by a crew or here."""
    if crew is None:
        yield from (measure(workload, point) for point in points)
        return
    shared = crew.share(workload)
    asked = [crew.submit(measure, shared, point) for point in points]
    yield from (each.result() for each in asked)


def rows_of(workload: Workload, found: Sequence[Measured]) -> list[Row]:
    """Points, savings at the hours and at the wait of the reactive default, and the knob that the first part chose."""
    rows = [_point_row(workload, each) for each in found]
    theirs = _curve(found, REACTIVE)
    place = next((at for at, each in enumerate(theirs) if each.point.knob == DEFAULT), None)
    if place is None:
        return rows
    for name in _contenders(found):
        ours = _curve(found, name)
        rows += _saving_rows(workload, name, compared(ours, theirs, place))
        rows.append(_chosen_row(workload, name, ours, theirs[place]))
        rows += _losses(workload, name, ours, theirs)
    bound = _curve(found, CLAIRVOYANT)
    if bound:
        rows.append(_bound_row(workload, bound[0].judged, theirs[place].judged))
    return rows


def compared(ours: Sequence[Measured], theirs: Sequence[Measured], place: int) -> Compared:
    """Over the weeks that judge."""
    rng = np.random.default_rng(_SEED)
    return compare([each.judged for each in ours], [each.judged for each in theirs], place, rng)


def chosen_knob(ours: Sequence[Measured], reference: Measured) -> Measured:
    """The point that has least wait of those that cost no more than the reference, in the first part; else the one
    that costs least."""
    able = [each for each in ours if each.learned.usd.sum() <= reference.learned.usd.sum()]
    if not able:
        return min(ours, key=lambda each: float(each.learned.usd.sum()))
    return min(able, key=lambda each: each.learned.mean_wait())


def picture(workload: Workload, found: Sequence[Measured]) -> Picture:
    """A curve for each policy that has a knob, and a point for each that has none."""
    lines, by_money = [], _by_money(workload)
    for name in dict.fromkeys(each.point.curve for each in found):
        if name == "static":
            # So many hours that all others would be one point.
            continue
        own = _curve(found, name)
        paid = [each.judged.usd if by_money else each.judged.hours for each in own]
        lines.append(
            Line(name, [float(each.sum()) for each in paid], [each.judged.mean_wait() for each in own])
        )
    blocks = len(found[0].judged.jobs)
    caption = f"Each point is a knob, over the {blocks} weeks or days that judge. Lower left is better."
    return Picture(
        f"curve-{workload.name.lower()}",
        f"Cost and wait, {workload.name}",
        "USD" if by_money else "instance-hours",
        "mean wait, s",
        tuple(lines),
        caption,
    )


def _by_money(workload: Workload) -> bool:
    """Whether types differ in price, so that hours of one are not those of another."""
    return len({kind.price for kind in workload.case.fleet.types}) > 1


def _cost(workload: Workload) -> str:
    return "money" if _by_money(workload) else "hours"


def _less(workload: Workload) -> str:
    return "less money" if _by_money(workload) else "fewer hours"


def _curve(found: Sequence[Measured], name: str) -> list[Measured]:
    return [each for each in found if each.point.curve == name]


def _contenders(found: Sequence[Measured]) -> list[str]:
    """Those that have a knob, but for the reactive one."""
    names = [each.point.curve for each in found if each.point.knob]
    return [name for name in dict.fromkeys(names) if name != REACTIVE]


def _point_row(workload: Workload, each: Measured) -> Row:
    return Row(
        f"{workload.name}: {each.point.curve} {each.point.knob}".rstrip(), None, told(each.judged), None
    )


def told(found: Blocks) -> str:
    """All measures in a line."""
    return (
        f"{found.mean_wait():.1f} s mean wait, 95 % {found.p95_wait():.0f} s, "
        f"{100 * found.delayed.sum() / max(1.0, found.jobs.sum()):.1f} % delayed by a launch, "
        f"{found.hours.sum():,.0f} instance-hours, {found.usd.sum():,.0f} USD, {found.actions.sum():,.0f} actions"
    )


def _saving_rows(workload: Workload, name: str, found: Compared) -> list[Row]:
    what, cost = f"{workload.name}: {name} beside {REACTIVE}", _cost(workload)
    return [
        _saving_row(f"{what}, wait saved at equal {cost}", found.wait, LESS_WAIT),
        _saving_row(f"{what}, {cost} saved at equal wait", found.hours, FEWER_HOURS),
        Row.by(
            f"{what}: either",
            "one of the two",
            found.verdict(),
            found.judged(),
            "" if found.reached() else "neither is reached",
        ),
    ]


def _saving_row(what: str, gain: Gain, target: float) -> Row:
    judged = gain.judged(target)
    why = "" if judged.holds else _why(gain, target)
    return Row.by(what, f"at least {100 * target:.0f} %", str(gain), judged, why)


def _why(gain: Gain, target: float) -> str:
    if not np.isfinite(gain.value):
        return "the curve has no point of so little cost, or of so little wait"
    if gain.value < 0.0:
        return "it loses"
    if gain.value < target:
        return (
            "less than is claimed" if gain.low > 0.0 else "less than is claimed, and chance may have done it"
        )
    return "chance may have done it"


def _chosen_row(workload: Workload, name: str, ours: Sequence[Measured], reference: Measured) -> Row:
    best = chosen_knob(ours, reference)
    wait = 1.0 - best.judged.mean_wait() / max(reference.judged.mean_wait(), 1e-9)
    cost = 1.0 - best.judged.usd.sum() / reference.judged.usd.sum()
    return Row(
        f"{workload.name}: {name}, knob chosen in the first part for the {_cost(workload)} of {REACTIVE} {DEFAULT}",
        None,
        f"{best.point.knob}: {100 * wait:.1f} % less wait, {100 * cost:.1f} % {_less(workload)}",
        None,
    )


def _losses(
    workload: Workload, name: str, ours: Sequence[Measured], theirs: Sequence[Measured]
) -> Iterator[Row]:
    """Idle times at whose cost ours has more wait."""
    own = Front.of(*_sums(ours))
    lost = []
    for each, usd, wait in zip(theirs, *_sums(theirs), strict=True):
        at = own.wait_at(float(usd))
        if np.isfinite(at) and at > wait:
            lost.append(f"{each.point.knob} ({at:.0f} s to {wait:.0f} s)")
    if lost:
        yield Row(
            f"{workload.name}: where {name} loses to {REACTIVE}, at equal {_cost(workload)}",
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
        f"{workload.name}: what knowing all leaves, beside {REACTIVE} {DEFAULT}",
        None,
        f"{100 * wait:.1f} % less wait, {100 * cost:.1f} % {_less(workload)}",
        None,
    )
