"""Response and slowdown by the law of job sizes: Figures 3.6–3.11."""

from __future__ import annotations

from collections.abc import Callable

from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Row
from windlass.papers.swag.bounds import Room, bound_row, room
from windlass.papers.swag.runs import CLASSES, REORDERED, SHOWN, SRPT, Experiment, Size, experiment

#: Job-size law: figures of response and slowdown; what SWAG is reported to gain on the SRPT variants at 78%.
FIGURES = {
    "facebook": ("3.6", "3.9", 0.50),
    "google": ("3.7", "3.10", 0.29),
    "exponential": ("3.8", "3.11", 0.35),
}
_WHY = (
    "no schedule of these jobs can be more than {possible:.1%} below the better SRPT, whatever it knows: with task "
    "times of the stated law, what jobs take alone is most of their response. See the rows 'what the gain depends on' "
    "and 'what ranks policies as published'"
)
_LESS_WAITING = (
    "jobs wait less here, beside what they take alone: the published slowdown needs tasks that are more alike than "
    "those of the stated law, or more load"
)


def law_figures(law: str, size: Size, tell: Callable[[], None]) -> tuple[list[Row], list[Picture]]:
    """The figures of one law of job sizes.

    Parameters
    ----------
    law
        One of ``FIGURES``.
    size
        How much to run.
    tell
        Called after each run.
    """
    figure, slowdowns, theirs = FIGURES[law]
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
        for name in SHOWN
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
            f"{high.below('SWAG', REORDERED):.1%} below",
            high.below("SWAG", REORDERED) > -0.02,
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


def _optimal(law: str, figure: str, size: Size) -> Row:
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


def _response_picture(law: str, figure: str, by_load: dict[float, Experiment]) -> Picture:
    lines = []
    for name in SHOWN:
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
