"""The effect of Tetrium's options: the order of tasks, sites updated after a drop, ρ and ε; Figures 4.11–4.15."""

from __future__ import annotations

from windlass.report.pictures import Line, Picture
from windlass.results import summarise
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.rows import FigureRows, against_delay, join_notes, why
from windlass_reproductions.tetrium.runs import Bench, summary_text, values_text
from windlass_reproductions.tetrium.verdicts import is_highest, rises, rises_by


def ordering(bench: Bench, quick: bool) -> FigureRows:
    """Compute Figure 4.11: the order of tasks."""
    found = {
        (maps, reduces): bench.values("tetrium", "in-place", {"map_order": maps, "reduce_order": reduces})
        for maps in ("remote-spread", "local")
        for reduces in ("largest", "given")
    }
    ours = found.pop(("remote-spread", "largest"))
    judged = is_highest(ours, list(found.values()))
    text = ", ".join(f"{maps} / {reduces} {values_text(own)}" for (maps, reduces), own in found.items())
    note = "order matters only if a site gets more tasks of a stage than it has free slots"
    row = Row.by(
        "Fig. 4.11, remote-first (spread) and longest-first is best, %",
        "best of four",
        f"{values_text(ours)}; {text}",
        judged,
        join_notes(
            why(judged, "another order is better"), note, bench.scarce(), against_delay(bench, "tetrium", {})
        ),
    )
    return [row], []


def dynamics(bench: Bench, quick: bool) -> FigureRows:
    """Compute Figure 4.12: drops of resources at five sites, with plans updated at k sites."""
    drops = (0.3,) if quick else (0.1, 0.2, 0.3, 0.4, 0.5)
    few = (3, 50) if quick else (3, 5, 7, 10, 20, 50)
    paper = {
        0.1: (22, 35, 37, 38, 39, 39), 0.2: (18, 29, 33, 34, 35, 35), 0.3: (16, 25, 26, 26, 32, 34),
        0.4: (9, 19, 23, 25, 26, 30), 0.5: (6, 15, 18, 20, 21, 24),
    }  # fmt: skip
    rows, lines = [], []
    for drop in drops:
        values = [bench.values("tetrium", "in-place", {"update_sites": k}, drop=drop) for k in few]
        found = [summarise("gain", own.tolist()) for own in values]
        published = [paper[drop][(3, 5, 7, 10, 20, 50).index(k)] for k in few]
        judged = rises_by(values[0], values[-1], published[-1] - published[0])
        ours = ", ".join(f"k={k}: {summary_text(own)}" for k, own in zip(few, found, strict=True))
        theirs = ", ".join(f"k={k}: {value}" for k, value in zip(few, published, strict=True))
        free = bench.gain("tetrium", "in-place", drop=drop)
        note = (
            f"the verdict is on the rise in points; with placement updated at each instant: {summary_text(free)};"
            f" {against_delay(bench, 'tetrium', {'update_sites': few[-1]}, drop=drop)}; if k matters little: most"
            " stages end before a drop, and five sites hold a tenth of the tasks"
        )
        rows.append(Row.by(f"Fig. 4.12, drop of {drop:.0%}, %", theirs, ours, judged, note))
        lines.append(
            Line(f"drop {drop:.0%}", few, [own.mean for own in found], [own.half_width for own in found])
        )
    return rows, [
        Picture(
            "fig-4-12",
            "Figure 4.12: gains under drops of resources, by sites updated",
            "k",
            "%",
            tuple(lines),
            log_x=True,
        )
    ]


def knobs(bench: Bench, quick: bool) -> FigureRows:
    """Compute Figures 4.13–4.15: the WAN budget ρ and the fairness knob ε."""
    rows, pictures = [], []
    rhos = (0.0, 1.0) if quick else (0.0, 0.25, 0.5, 0.75, 1.0)
    for against, figure in (("in-place", "4.13"), ("centralised", "4.14")):
        times = [bench.values("tetrium", against, {"rho": rho}) for rho in rhos]
        wans = [bench.wan("tetrium", against, {"rho": rho}) for rho in rhos]
        ours = "; ".join(
            f"ρ={rho:g}: time {values_text(t)}, WAN {values_text(w)}"
            for rho, t, w in zip(rhos, times, wans, strict=True)
        )
        judged = rises((times[0], times[-1]), (wans[-1], wans[0]))
        note = join_notes(
            f"from ρ = 0 to 1; {against_delay(bench, 'tetrium', {'rho': 0.0})} at ρ = 0", why(judged)
        )
        rows.append(
            Row.by(
                f"Fig. {figure}, reductions against {against}, %",
                "larger ρ: less time, more WAN traffic",
                ours,
                judged,
                note,
            )
        )
        line = Line("ρ from 0 to 1", [float(w.mean()) for w in wans], [float(t.mean()) for t in times])
        pictures.append(
            Picture(
                f"fig-{figure.replace('.', '-')}",
                f"Figure {figure}: time and WAN usage",
                "reduction of WAN usage, %",
                "reduction of response time, %",
                (line,),
            )
        )
    epsilons = (0.0, 1.0) if quick else (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    values = [bench.values("tetrium", "in-place", {"epsilon": value}) for value in epsilons]
    found = [summarise("gain", own.tolist()) for own in values]
    ours = "; ".join(f"ε={value:g}: {summary_text(own)}" for value, own in zip(epsilons, found, strict=True))
    note = (
        "the verdict is on the rise in points; the cap counts slots of all sites, and binds only if all are scarce;"
        f" here the gain is due to placement, as Tetrium + FS shows; {bench.scarce()};"
        f" {against_delay(bench, 'tetrium', {'epsilon': 0.0})} at ε = 0"
    )
    judged = rises_by(values[0], values[-1], 42.0)
    rows.append(
        Row.by("Fig. 4.15, against in-place, %", "rises with ε from about 0 to 42", ours, judged, note)
    )
    line = Line("against in-place", epsilons, [own.mean for own in found], [own.half_width for own in found])
    pictures.append(Picture("fig-4-15", "Figure 4.15: gains by fairness", "ε", "%", (line,)))
    return rows, pictures
