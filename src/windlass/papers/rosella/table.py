"""Rosella beside Sparrow and all other policies: loads, speed sets, rates unknown, still or permuted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Reproduction, Row
from windlass.results import summarise
from windlass.sim.workers.simulate import make_policy, simulate
from windlass.workloads.drift import shocks

SHOCK_EVERY = 500.0
_WORKERS = 32
#: Sparrow's mean response, s, above which its queues are taken to grow without bound.
_STABLE = 20.0


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy with its parameters."""

    label: str
    policy: str
    parameters: tuple[tuple[str, Any], ...] = ()


ROSELLA = Contender("rosella", "rosella")
ROSELLA_ALL = Contender("rosella, all queues", "rosella", (("probes", _WORKERS), ("by", "wait")))
LEARNERS = (Contender("eps-greedy", "eps-greedy"), Contender("ucb", "ucb"))
SPARROW = Contender("sparrow", "sparrow")
_OTHERS = ("pot", "uniform", "round-robin", "least-outstanding", "jsq", "halo", "pss", "ppot", "sed")
CONTENDERS = (ROSELLA, ROSELLA_ALL, *LEARNERS, SPARROW, *(Contender(name, name) for name in _OTHERS))


@dataclass(frozen=True, slots=True)
class SpeedSet:
    """32 workers of different speeds, 1 on average."""

    name: str
    speeds: NDArray[np.float64]


def speed_sets() -> tuple[SpeedSet, ...]:
    """Two classes as in Example 1, four classes, and a heavy tail."""
    drawn = (
        ("two classes, 28 of 1 and 4 of 6", np.repeat([1.0, 6.0], [28, 4])),
        ("four classes, 0.5, 1, 2, 4", np.repeat([0.5, 1.0, 2.0, 4.0], 8)),
        ("1/k, k = 1 … 32", 1.0 / np.arange(1, 33)),
    )
    return tuple(SpeedSet(name, speeds / speeds.mean()) for name, speeds in drawn)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a table is made under: whether speeds change, how many schedulers, and how old their view is, s."""

    key: str
    words: str
    shocks: bool = False
    schedulers: int = 1
    probe_delay: float = 0.0


_STILL = Conditions("still", "speeds fixed")
_SHOCKS = Conditions("shocks", f"speeds permuted every {SHOCK_EVERY:g} s", shocks=True)
_STALE = Conditions("stale", "8 schedulers that see queues as of 0.5 s ago", schedulers=8, probe_delay=0.5)


def _response(
    contender: Contender, speeds: NDArray[np.float64], load: float, tasks: int, seed: int, under: Conditions
) -> float:
    timetable = None
    if under.shocks:
        last = tasks / (load * speeds.sum())
        timetable = shocks(speeds, SHOCK_EVERY, last, np.random.default_rng([seed, 9]))
    rng = np.random.default_rng([seed, 8])
    policy = make_policy(contender.policy, speeds, rng, **dict(contender.parameters))
    done = simulate(
        policy,
        speeds,
        load,
        tasks,
        seed=seed,
        timetable=timetable,
        samples=0,
        schedulers=under.schedulers,
        probe_delay=under.probe_delay,
    )
    return float(done.response[tasks // 10 :].mean())


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean response over seeds of one contender at one load, and its 95% half width, s."""

    label: str
    load: float
    mean: float
    half_width: float


def _cells(speeds: NDArray[np.float64], under: Conditions, quick: bool) -> list[Cell]:
    loads = (0.5, 0.8, 0.85, 0.9) if quick else (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95)
    tasks, seeds = (50_000, (1, 2)) if quick else (400_000, (1, 2, 3, 4, 5))
    found = []
    for load in loads:
        for contender in CONTENDERS:
            values = [_response(contender, speeds, load, tasks, seed, under) for seed in seeds]
            summary = summarise(contender.label, values)
            found.append(Cell(contender.label, load, summary.mean, summary.half_width))
    return found


def _of(cells: list[Cell], contender: Contender, load: float) -> Cell:
    return next(cell for cell in cells if cell.label == contender.label and cell.load == load)


def _picture(key: str, title: str, cells: list[Cell]) -> Picture:
    lines = []
    for label in dict.fromkeys(cell.label for cell in cells):
        own = [cell for cell in cells if cell.label == label]
        lines.append(Line(label, [c.load for c in own], [c.mean for c in own], [c.half_width for c in own]))
    return Picture(
        key, title, "load", "mean response, s (mean service at mean speed: 1 s)", tuple(lines), log_y=True
    )


def against_all(quick: bool) -> Reproduction:
    """Speeds fixed, unknown to those that learn."""
    return _compare(quick, _STILL)


def volatile(quick: bool) -> Reproduction:
    """All speeds dealt out anew every so often; who 'knows' rates is told at once."""
    return _compare(quick, _SHOCKS)


def stale(quick: bool) -> Reproduction:
    """Several schedulers that do not coordinate and see queues late, as in a cluster."""
    return _compare(quick, _STALE)


def _compare(quick: bool, under: Conditions) -> Reproduction:
    rows, pictures, gains = [], [], []
    for number, speed_set in enumerate(speed_sets()):
        cells = _cells(speed_set.speeds, under, quick)
        pictures.append(_picture(f"{under.key}-{number}", f"{speed_set.name}; {under.words}", cells))
        for load in dict.fromkeys(cell.load for cell in cells):
            rosella, sparrow = _of(cells, ROSELLA, load), _of(cells, SPARROW, load)
            gain = 1 - rosella.mean / sparrow.mean
            if load >= 0.8 and sparrow.mean < _STABLE:
                gains.append((gain, f"{speed_set.name}, load {load}, {under.words}"))
            setting = f"{speed_set.name}, load {load}, {under.words}"
            rows += _against_learners(cells, load, setting, f"below Sparrow by {gain:.0%}")
    if gains:
        (gain, where), *less = sorted(gains, reverse=True)
        rows.append(
            Row(
                f"below Sparrow's mean response, {where}",
                "65 % (32 machines on AWS)",
                f"{gain:.0%}",
                gain >= 0.65,
                f"the most at load 0.8 or more where Sparrow's mean stays under {_STABLE:g} s; elsewhere its queues "
                "grow without bound, and the share below it says nothing; other such settings: "
                + ("; ".join(f"{setting} by {share:.0%}" for share, setting in less) or "none"),
            )
        )
    return Reproduction(tuple(rows), tuple(pictures))


def _against_learners(cells: list[Cell], load: float, setting: str, gain: str) -> list[Row]:
    """Rosella against ε-greedy and UCB, which look at all queues for each task: with two probes, and with as many."""
    best = min((_of(cells, learner, load) for learner in LEARNERS), key=lambda cell: cell.mean)
    two, all_queues = _of(cells, ROSELLA, load).mean, _of(cells, ROSELLA_ALL, load).mean
    ppot = next(cell.mean for cell in cells if cell.label == "ppot" and cell.load == load)
    known = ", ".join(f"{cell.label} {cell.mean:.3g}" for cell in cells if cell.load == load)
    return [
        Row(
            f"{setting}: Rosella seeing all queues over the best other learner (asked: 1.05 at most)",
            None,
            all_queues / best.mean,
            all_queues <= 1.05 * best.mean,
            f"{gain}; mean responses, s: {known}"
            + (
                ""
                if all_queues <= 1.05 * best.mean
                else f"; {_WORKERS} draws by rate miss some slow workers' queues"
            ),
        ),
        Row(
            f"{setting}: Rosella with its two probes over the same (asked: 1.05 at most)",
            None,
            two / best.mean,
            two <= 1.05 * best.mean,
            _why_not(two, best, ppot),
        ),
    ]


def _why_not(two: float, best: Cell, ppot: float) -> str:
    if two <= 1.05 * best.mean:
        return ""
    seen = (
        f"{best.label} looks at all {_WORKERS} queues for each task and Rosella at two; with rates known, two probes "
        f"give {ppot / best.mean:.2f} times {best.label}'s"
    )
    late = "; beyond that it learns late: its window grows as 1/(1 − load)²" if two > 1.15 * ppot else ""
    return seen + late
