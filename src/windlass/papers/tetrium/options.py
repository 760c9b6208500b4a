"""What Tetrium's own options do: the order of tasks, sites updated after a drop, ρ and ε; Figures 4.11–4.15."""

from __future__ import annotations

from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Row
from windlass.papers.tetrium.rows import CLOSE, UNEXPLAINED, Found
from windlass.papers.tetrium.runs import Bench, told


def ordering(bench: Bench, quick: bool) -> Found:
    """Figure 4.11: which tasks start first."""
    found = {}
    for maps in ("remote-spread", "local"):
        for reduces in ("largest", "given"):
            found[maps, reduces] = bench.gain(
                "tetrium", "in-place", {"map_order": maps, "reduce_order": reduces}
            )
    ours = found["remote-spread", "largest"]
    best = max(own.mean for own in found.values())
    text = ", ".join(f"{maps} / {reduces} {told(own)}" for (maps, reduces), own in found.items())
    spread = best - min(own.mean for own in found.values())
    close = ours.mean >= best - 0.5 and spread > 1.0
    row = Row(
        "Fig. 4.11, remote-first (spread) and longest-first is best, %",
        "best of four",
        text,
        bool(close),
        f"order matters only where a site gets more tasks of a stage than it has free slots; {bench.scarce()}",
    )
    return [row], []


def dynamics(bench: Bench, quick: bool) -> Found:
    """Figure 4.12: drops of resources at five sites, plans changed at k of them."""
    drops = (0.3,) if quick else (0.1, 0.2, 0.3, 0.4, 0.5)
    few = (3, 50) if quick else (3, 5, 7, 10, 20, 50)
    paper = {
        0.1: (22, 35, 37, 38, 39, 39), 0.2: (18, 29, 33, 34, 35, 35), 0.3: (16, 25, 26, 26, 32, 34),
        0.4: (9, 19, 23, 25, 26, 30), 0.5: (6, 15, 18, 20, 21, 24),
    }  # fmt: skip
    rows, lines = [], []
    for drop in drops:
        found = bench.gains([("tetrium", {"update_sites": k}) for k in few], "in-place", drop=drop)
        published = [paper[drop][(3, 5, 7, 10, 20, 50).index(k)] for k in few]
        grows = found[-1].mean >= found[0].mean + 3.0
        ours = ", ".join(f"k={k}: {told(own)}" for k, own in zip(few, found, strict=True))
        theirs = ", ".join(f"k={k}: {value}" for k, value in zip(few, published, strict=True))
        free = bench.gain("tetrium", "in-place", drop=drop)
        note = (
            f"placing anew at each instant: {told(free)}; where k matters little: most stages are over before a drop,"
            " and five sites hold a tenth of the tasks"
        )
        rows.append(
            Row(f"Fig. 4.12, drop of {drop:.0%}, %", theirs, ours, bool(grows and found[-1].mean > 0), note)
        )
        lines.append(
            Line(f"drop {drop:.0%}", few, [own.mean for own in found], [own.half_width for own in found])
        )
    return rows, [
        Picture(
            "fig-4-12",
            "Figure 4.12: gains where resources drop, by sites updated",
            "k",
            "%",
            tuple(lines),
            log_x=True,
        )
    ]


def knobs(bench: Bench, quick: bool) -> Found:
    """Figures 4.13–4.15: the WAN budget ρ and the fairness knob ε."""
    rows, pictures = [], []
    rhos = (0.0, 1.0) if quick else (0.0, 0.25, 0.5, 0.75, 1.0)
    for against, figure in (("in-place", "4.13"), ("centralised", "4.14")):
        times = [bench.gain("tetrium", against, {"rho": rho}) for rho in rhos]
        wans = [bench.wan("tetrium", against, {"rho": rho}) for rho in rhos]
        ours = "; ".join(
            f"ρ={rho:g}: time {told(t)}, WAN {told(w)}" for rho, t, w in zip(rhos, times, wans, strict=True)
        )
        shape = "more ρ: less time, more WAN"
        holds = times[-1].mean >= times[0].mean and wans[0].mean >= wans[-1].mean
        rows.append(
            Row(
                f"Fig. {figure}, reductions against {against}, %",
                shape,
                ours,
                bool(holds),
                "" if holds else UNEXPLAINED,
            )
        )
        line = Line("ρ from 0 to 1", [w.mean for w in wans], [t.mean for t in times])
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
    found = [bench.gain("tetrium", "in-place", {"epsilon": value}) for value in epsilons]
    ours = "; ".join(f"ε={value:g}: {told(own)}" for value, own in zip(epsilons, found, strict=True))
    note = (
        "the cap counts slots of all sites, and binds only where all are scarce; here the gain is the placement's,"
        f" as Tetrium + FS shows; {bench.scarce()}"
    )
    rows.append(
        Row(
            "Fig. 4.15, against in-place, %",
            "rises with ε from about 0 to 42",
            ours,
            bool(found[-1].mean >= found[0].mean + CLOSE),
            note,
        )
    )
    line = Line("against in-place", epsilons, [own.mean for own in found], [own.half_width for own in found])
    pictures.append(Picture("fig-4-15", "Figure 4.15: gains by fairness", "ε", "%", (line,)))
    return rows, pictures
