"""Autoscalers against baselines whose knobs are swept as well, chosen on earlier weeks and judged on later ones.

``python -m windlass_reproductions.autoscaler.swept`` prints a row per workload and budget. Every policy runs at each of
its knobs over the whole log. On the training weeks, each side keeps the knobs on its front of money and wait. A budget
is the money of ``reactive`` at an idle time in those weeks. Each side then takes the knob with the least wait that
costs no more. Nothing is chosen on the test weeks. The knobs cost slightly different amounts there, so both sides are
compared along their fronts, at the money of the baseline's choice. The interval is a bootstrap over weeks or days.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windlass.engines.worker_pool import processes
from windlass_reproductions.autoscaler.curve import compare_curves
from windlass_reproductions.autoscaler.curve_cases import Workload, absent, swf, workloads
from windlass_reproductions.autoscaler.curve_front import Front, Gain
from windlass_reproductions.autoscaler.curve_runs import Measured, Point, measure
from windlass_reproductions.public import VARIABLE

NAMES = ("KTH", "LCG", "Philly", "Helios", "openb")
#: Idle times of ``reactive`` whose money in the training weeks is a budget, minutes.
BUDGETS_MIN = (10, 60)
#: Shares of wait: a policy is ahead if it saves so much and the interval is above 0, behind if it loses so much.
AHEAD, BEHIND = 0.15, 0.05

_IDLE_MIN = (0, 2, 5, 10, 20, 30, 60)
_PATIENCE_MIN = (0, 5, 10, 30)
_SPARE = (1, 2, 4, 8, 16, 32)
_SHARE = (0.02, 0.05, 0.1, 0.2)
_WORTH = (1.0, 3.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2560.0)


def baselines() -> tuple[Point, ...]:
    """Return what an operator may configure: on demand, a constant reserve, and a fixed number."""
    return (
        *(_point("reactive", each, unneeded=60.0 * each) for each in _IDLE_MIN),
        *(
            _point("buffer", (spare, each), spare=spare, idle=60.0 * each)
            for spare in _SPARE
            for each in _PATIENCE_MIN
        ),
        *(
            _point("buffer", (f"{share:.0%}", each), spare=0, share=share, idle=60.0 * each)
            for share in _SHARE
            for each in _PATIENCE_MIN
        ),
        *(_point("static", each, margin=each) for each in (0.5, 0.75, 1.0)),
    )


def ours(policy: str) -> tuple[Point, ...]:
    """Return the knobs of a policy that learns arrivals: what an hour of waiting is worth, and its idle time."""
    return tuple(
        _point(policy, (worth, each), worth=worth, idle=60.0 * each)
        for worth in _WORTH
        for each in _PATIENCE_MIN
    )


def _point(policy: str, knob: object, **parameters: float) -> Point:
    return Point(policy, str(knob), policy, tuple(parameters.items()))


@dataclass(frozen=True, slots=True)
class Judgement:
    """Two sides at one budget, and the wait that ours saves in the test weeks at equal money."""

    budget: str
    baseline: Measured
    ours: Measured
    saved: Gain

    def verdict(self) -> str:
        """Return ``ahead``, ``behind`` or ``open``; see :func:`verdict`."""
        return verdict(self.saved)


def verdict(saved: Gain) -> str:
    """Return what a saved share of wait means.

    >>> verdict(Gain(0.2, 0.1, 0.3)), verdict(Gain(0.2, -0.1, 0.3)), verdict(Gain(-0.06, -0.2, 0.1))
    ('ahead', 'open', 'behind')
    """
    if not np.isfinite(saved.value) or saved.value < -BEHIND:
        return "behind"
    return "ahead" if saved.value >= AHEAD and saved.low > 0.0 else "open"


def on_front(found: Sequence[Measured]) -> list[Measured]:
    """Return the points on the front of money and wait in the training weeks, cheapest first."""
    usd = [float(each.learned.usd.sum()) for each in found]
    wait = [each.learned.mean_wait() for each in found]
    front = Front.of(np.array(usd), np.array(wait))
    return [
        found[next(at for at, own in enumerate(zip(usd, wait, strict=True)) if own == each)]
        for each in zip(front.hours.tolist(), front.wait.tolist(), strict=True)
    ]


def within(budget: float, front: Sequence[Measured]) -> Measured:
    """Return the point with the least training wait that costs no more than a budget; the cheapest if all cost more."""
    able = [each for each in front if each.learned.usd.sum() <= budget]
    return min(able, key=lambda each: each.learned.mean_wait()) if able else front[0]


def judge(found_baselines: Sequence[Measured], found_ours: Sequence[Measured]) -> Iterator[Judgement]:
    """Yield the judgement at each budget.

    Parameters
    ----------
    found_baselines, found_ours
        The points of both sides, measured on one workload. The first has ``reactive`` at all idle times of the budgets.
    """
    base, own = on_front(found_baselines), on_front(found_ours)
    for minutes in BUDGETS_MIN:
        (reference,) = (
            each
            for each in found_baselines
            if each.point.policy == "reactive" and each.point.knob == str(minutes)
        )
        budget = float(reference.learned.usd.sum())
        chosen = within(budget, base)
        saved = compare_curves(own, base, base.index(chosen)).wait
        yield Judgement(f"reactive, {minutes} min", chosen, within(budget, own), saved)


def row(workload: Workload, found: Judgement) -> str:
    """Return a row of the table."""
    sides = (
        f"{each.point.policy} {each.point.knob} | {each.judged.mean_wait():.1f} | {each.judged.p95_wait():.0f} | "
        f"{each.judged.usd.sum():,.0f}"
        for each in (found.baseline, found.ours)
    )
    return f"| {workload.name} | {found.budget} | {' | '.join(sides)} | {found.saved} | {found.verdict()} |"


def main(words: list[str] | None = None) -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.autoscaler.swept")
    parser.add_argument("names", nargs="*", default=NAMES, help=f"workloads [default: {' '.join(NAMES)}]")
    parser.add_argument(
        "--swf", type=Path, nargs="*", default=(), help="further logs, on nodes of one processor"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes [default: cores]")
    options = parser.parse_args(words)
    for name in absent():
        if name in options.names:
            print(f"{name}: its log is absent; set {VARIABLE} to the folder of the logs", file=sys.stderr)
    print("| workload | budget | best baseline | wait, s | 95 %, s | USD ", end="")
    print("| ours | wait, s | 95 %, s | USD | wait saved at equal money | verdict |")
    print("|---" * 12 + "|", flush=True)
    for workload in (*workloads(tuple(options.names)), *(swf(path) for path in options.swf)):
        priced = len({kind.price for kind in workload.case.fleet.types}) > 1
        sides = {"baselines": baselines(), "thrifty": ours("thrifty")}
        if priced:
            # With one price, it decides as `thrifty` does.
            sides["hazard"] = ours("hazard")
        found = _measured(workload, sides, options.jobs)
        for policy in list(sides)[1:]:
            for each in judge(found["baselines"], found[policy]):
                print(row(workload, each), flush=True)


def _measured(
    workload: Workload, sides: dict[str, tuple[Point, ...]], number: int
) -> dict[str, list[Measured]]:
    """Return the measurements of each side; report the progress on standard error."""
    with processes(number) as crew:
        shared = crew.share(workload)
        futures = {
            side: [crew.submit(measure, shared, point) for point in points] for side, points in sides.items()
        }
        found: dict[str, list[Measured]] = {side: [] for side in sides}
        done, total = 0, sum(len(points) for points in sides.values())
        for side, waiting in futures.items():
            for each in waiting:
                found[side].append(each.result())
                done += 1
                print(f"\r{workload.name}: {done} of {total}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
