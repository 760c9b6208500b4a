"""Chapter 3 of the geo-distributed thesis: SWAG and Reordering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from windlass.metrics.orders import BYTES_PER_SUBJOB
from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Reproduction, Row, Tell
from windlass.papers.swag.bounds import Room, bound_row, offline_row, room, small_rows
from windlass.papers.swag.causes import published_row, ranking_rows, setting_rows
from windlass.papers.swag.exact import example_rows, overhead_rows, static_rows
from windlass.papers.swag.runs import CLASSES, CONTENDERS, SRPT, Experiment, experiment

_UTILISATIONS = (0.39, 0.46, 0.58, 0.68, 0.78)
#: Job-size law: figures of response and slowdown; what SWAG is reported to gain on the SRPT variants at 78%.
_FIGURES = {
    "facebook": ("3.6", "3.9", 0.50),
    "google": ("3.7", "3.10", 0.29),
    "exponential": ("3.8", "3.11", 0.35),
}
_SHOWN = tuple(name for name in CONTENDERS if name not in ("FCFS", "Optimal order of 10"))
_REORDERED = ("Global-SRPT w/Reordering", "Independent-SRPT w/Reordering")
_WHY = (
    "no schedule of these jobs can be more than {possible:.1%} below the better SRPT, whatever it knows: with task "
    "times of the stated law, what jobs take alone is most of their response. See the rows 'what the gain depends on' "
    "and 'what ranks policies as published'"
)
_LESS_WAITING = (
    "jobs wait less here, beside what they take alone: the published slowdown needs tasks that are more alike than "
    "those of the stated law, or more load"
)


@dataclass(frozen=True, slots=True)
class _Size:
    """How much to run."""

    jobs: dict[str, int]
    utilisations: tuple[float, ...]
    seeds: int
    instances: int
    probes: dict[str, int]


_FULL = _Size(
    {"facebook": 3000, "google": 6000, "exponential": 1000},
    _UTILISATIONS,
    6,
    12,
    {"facebook": 4000, "exponential": 1000},
)
_QUICK = _Size(
    {"facebook": 600, "google": 1000, "exponential": 200},
    (0.39, 0.58, 0.78),
    2,
    5,
    {"facebook": 600, "exponential": 400},
)


class Swag:
    """Windlass' reproduction of chapter 3."""

    name: ClassVar[str] = "swag"
    title: ClassVar[str] = (
        "Hung, Resource scheduling in geo-distributed computing, 2017, ch. 3: SWAG and Reordering"
    )

    def reproduce(self, *, quick: bool, tell: Tell) -> Reproduction:
        """All tables and figures."""
        size = _QUICK if quick else _FULL
        rows, pictures = example_rows(), []
        tell("optimum", 0.0)
        rows += small_rows(200 if quick else 1000)
        rows += [*static_rows(size.instances), offline_row(3 if quick else 20)]
        for number, law in enumerate(_FIGURES):
            share = 0.05 + 0.2 * number
            found, drawn = _law(law, size, partial(tell, f"Figures {', '.join(_FIGURES[law][:2])}", share))
            rows += found
            pictures += drawn
        tell("what the gain depends on", 0.65)
        rows.append(published_row())
        rows += setting_rows(size.probes, quick=quick, tell=partial(tell, "what the gain depends on", 0.65))
        rows += ranking_rows(size.probes, quick=quick, tell=partial(tell, "what the gain depends on", 0.7))
        tell("Figures 3.12 and 3.13", 0.75)
        rows += overhead_rows(size.jobs["exponential"])
        for step, share in ((_told, 0.8), (_skew, 0.84), (_sites, 0.9), (_accuracy, 0.95)):
            tell("Figures 3.13–3.16", share)
            found, picture = step(size)
            rows += found
            pictures.append(picture)
        tell("done", 1.0)
        return Reproduction(tuple(rows), tuple(pictures))


def _law(law: str, size: _Size, tell: Callable[[], None]) -> tuple[list[Row], list[Picture]]:
    figure, slowdowns, theirs = _FIGURES[law]
    by_load = {
        load: experiment(size.seeds, tell=tell, law=law, jobs=size.jobs[law], utilisation=load)
        for load in size.utilisations
    }
    rows = [
        Row(
            f"Fig. {figure}, {law}, {load:.0%}: {name}, response over FCFS's",
            None,
            f"{summary.mean:.3f} ± {summary.half_width:.3f}",
            None,
        )
        for load, found in by_load.items()
        for name in _SHOWN
        for summary in (found.normalised(name),)
    ]
    high, low = by_load[0.78], by_load[0.39]
    gain, wanted = high.below("SWAG", SRPT), 0.25 if law == "facebook" else theirs
    over = [high.response(name) / high.response(name + " w/Reordering") for name in SRPT]
    above, under = (room(size.seeds, law=law, jobs=size.jobs[law], utilisation=load) for load in (0.78, 0.39))
    rows += [
        _gain(f"Fig. {figure}, {law}, 78%", f"up to {theirs:.0%}", gain, wanted, above),
        _gain(f"Fig. {figure}, {law}, 39%", "at least 12%", low.below("SWAG", SRPT), 0.12, under),
        Row(
            f"Fig. {figure}, {law}, 78%: Reordering below its base, the larger gain",
            "up to 27%",
            f"{1 - 1 / max(over):.1%}",
            1 - 1 / max(over) > 0.0,
            "holds where it is a gain; how large it can be is bounded as SWAG's is",
        ),
        Row(
            f"Fig. {figure}, {law}, 78%: slowdown of FCFS",
            "more than 15",
            f"{high.slowdown('FCFS')[0]:.1f}",
            bool(high.slowdown("FCFS")[0] > 15),
            "" if high.slowdown("FCFS")[0] > 15 else _LESS_WAITING,
        ),
        Row(
            f"Fig. {figure}, {law}, 78%: SWAG over the better SRPT w/Reordering",
            "up to 10% below",
            f"{high.below('SWAG', _REORDERED):.1%} below",
            high.below("SWAG", _REORDERED) > -0.02,
            "holds where it is no more than 2% above",
        ),
        _optimal(law, figure, size),
        bound_row(figure, law, above),
        *_fairness(law, slowdowns, high),
    ]
    return rows, [_response_picture(law, figure, by_load), _slowdown_picture(law, slowdowns, high)]


def _gain(where: str, paper: str, gain: float, wanted: float, found: Room) -> Row:
    return Row(
        f"{where}: SWAG below the better SRPT; at most possible",
        paper,
        f"{gain:.1%}; {found.possible:.1%}",
        gain >= wanted,
        "" if gain >= wanted else _WHY.format(possible=found.possible),
    )


def _optimal(law: str, figure: str, size: _Size) -> Row:
    names = ("FCFS", "SWAG", "Optimal order of 10")
    found = experiment(1, names, law=law, jobs=min(size.jobs[law], 1000), utilisation=0.78)
    gap = found.response("SWAG") / found.response(names[2]) - 1.0
    return Row(
        f"Fig. {figure}, {law}, 78%: SWAG above the best order of the first ten jobs",
        "within 2% of the optimum",
        f"{gap:.2%}",
        gap <= 0.05,
        "the optimum over all jobs cannot be computed; this one orders ten jobs best at each decision",
    )


def _fairness(law: str, figure: str, high: Experiment) -> list[Row]:
    rows = []
    for name, limit in (("Independent-SRPT", 0.40), ("Independent-SRPT w/Reordering", 0.30), ("SWAG", 0.25)):
        overall, *_, large = high.slowdown(name)
        more = large / overall - 1.0
        rows.append(
            Row(
                f"Fig. {figure}, {law}, 78%: {name}, slowdown by class: " + ", ".join(CLASSES),
                f"large {limit:.0%} above overall" if law != "google" else "large far above overall",
                ", ".join(f"{value:.2f}" for value in high.slowdown(name)) + f" (large {more:+.0%})",
                None if law == "google" else more <= limit + 0.005,
            )
        )
    return rows


def _told(size: _Size) -> tuple[list[Row], Picture]:
    names = ("FCFS", "Global-SRPT", *_REORDERED, "SWAG")
    found = {
        load: experiment(
            min(size.seeds, 3), names, law="exponential", jobs=size.jobs["exponential"], utilisation=load
        )
        for load in size.utilisations
    }

    def kbytes(load: float, name: str) -> float:
        return float(np.mean([run.told for run in found[load].runs[name]])) * BYTES_PER_SUBJOB / 1000

    high = {name: kbytes(0.78, name) for name in names if name != "FCFS"}
    least = min(high, key=lambda name: high[name])
    rows = [
        Row(
            "Fig. 3.13, 78%: kB told for a decision",
            "SWAG tells least; 10–100 kB",
            ", ".join(f"{name} {value:.2f}" for name, value in high.items()),
            high["SWAG"] <= 1.02 * high[least],
            "8 bytes a sub-job with tasks left, an encoding of ours; FCFS and Independent-SRPT need none. Holds where "
            "SWAG is within 2% of the least; fewer bytes because fewer jobs wait",
        )
    ]
    lines = [Line(name, list(found), [kbytes(load, name) for load in found]) for name in high]
    return rows, Picture("told", "Fig. 3.13: told for a decision", "utilisation", "kB", tuple(lines))


def _skew(size: _Size) -> tuple[list[Row], Picture]:
    settings: dict[str, Any] = {str(skew): skew for skew in ("uniform", 1.0, 2.0, 3.0, 4.0, "one-site")}
    found = {
        name: experiment(min(size.seeds, 3), law="exponential", jobs=size.jobs["exponential"], skew=skew)
        for name, skew in settings.items()
    }
    gains = {name: each.below("SWAG", ("Global-SRPT", "Independent-SRPT")) for name, each in found.items()}
    worse = {
        name: 1 - each.response("SWAG") / max(each.response(srpt) for srpt in SRPT)
        for name, each in found.items()
    }
    one = found["one-site"]
    same = max(abs(one.response(name) / one.response("SWAG") - 1) for name in _SHOWN)
    inner = max(worse[name] for name in list(worse)[1:-1])
    rows = [
        Row(
            "Fig. 3.14: SWAG below the better (and the worse) SRPT by skew",
            "rises with the skew, then falls",
            ", ".join(f"{name} {gains[name]:.1%} ({worse[name]:.1%})" for name in gains),
            inner >= worse["uniform"] and inner >= worse["one-site"],
            "judged by the gain on the worse SRPT",
        ),
        Row(
            "Fig. 3.14, one site: largest difference between all but FCFS",
            "none",
            f"{same:.2%}",
            same < 0.005,
        ),
    ]
    return rows, _bars("skew", "Fig. 3.14: skew of tasks over sites", "skew of Zipf's law", found)


def _sites(size: _Size) -> tuple[list[Row], Picture]:
    found = {
        str(sites): experiment(
            min(size.seeds, 3),
            law="exponential",
            jobs=size.jobs["exponential"],
            slots=np.full(sites, 9000 // sites),
        )
        for sites in (10, 15, 20, 25, 30)
    }
    gains = [each.normalised("SWAG").mean for each in found.values()]
    rows = [
        Row(
            "Fig. 3.15: SWAG's response over FCFS's at 10, 15, 20, 25, 30 sites",
            "falls with the number of sites",
            ", ".join(f"{gain:.3f}" for gain in gains),
            gains[-1] < gains[0],
        )
    ]
    return rows, _bars("sites", "Fig. 3.15: number of sites, 9,000 slots in all", "sites", found)


def _accuracy(size: _Size) -> tuple[list[Row], Picture]:
    found = {
        f"{accuracy:.0%}": experiment(
            min(size.seeds, 3), law="exponential", jobs=size.jobs["exponential"], accuracy=accuracy
        )
        for accuracy in (0.0, 0.4, 0.8, 1.0)
    }
    means = [each.response("SWAG") for each in found.values()]
    rows = [
        Row(
            "Fig. 3.16: SWAG's response at estimates of 0, 40, 80, 100% accuracy, s",
            "falls marginally",
            ", ".join(f"{mean:.2f}" for mean in means),
            means[-1] <= means[0],
            "0% draws the expected time from 0 to twice the true one",
        )
    ]
    return rows, _bars("accuracy", "Fig. 3.16: accuracy of estimates", "accuracy", found)


def _response_picture(law: str, figure: str, by_load: dict[float, Experiment]) -> Picture:
    lines = []
    for name in _SHOWN:
        summaries = [each.normalised(name) for each in by_load.values()]
        widths = [summary.half_width for summary in summaries]
        lines.append(Line(name, list(by_load), [summary.mean for summary in summaries], widths))
    title = f"Fig. {figure}: mean response, {law} sizes"
    return Picture(f"response-{law}", title, "utilisation", "response over FCFS's", tuple(lines))


def _slowdown_picture(law: str, figure: str, high: Experiment) -> Picture:
    names = ("Independent-SRPT", "Independent-SRPT w/Reordering", "SWAG")
    lines = tuple(Line(name, range(4), high.slowdown(name).tolist()) for name in names)
    title = f"Fig. {figure}: slowdown by class of jobs, {law} sizes, 78%"
    return Picture(f"slowdown-{law}", title, "jobs", "slowdown", lines, categories=CLASSES)


def _bars(key: str, title: str, x_title: str, found: dict[str, Experiment]) -> Picture:
    lines = tuple(
        Line(name, range(len(found)), [each.normalised(name).mean for each in found.values()])
        for name in _SHOWN
    )
    return Picture(key, title, x_title, "response over FCFS's", lines, categories=tuple(found))
