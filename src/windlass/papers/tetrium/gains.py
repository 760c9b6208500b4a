"""How much Tetrium gains: Figures 4.7–4.10, and Sections 4.6.1 and 4.6.3."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from windlass.papers.plots import Line, Picture
from windlass.papers.reproduction import Row
from windlass.papers.tetrium.rows import CLOSE, Found, gain_row
from windlass.papers.tetrium.runs import JOBS, LEFT_OPEN, Bench, reduction, told
from windlass.results import Summary
from windlass.workloads.sites import SiteModel


def deployment(bench: Bench, quick: bool) -> Found:
    """Figures 4.7 and 4.8: 8 and 30 sites of 4–16 slots; chains of 6–16 stages and of 2–5."""
    rows, lines = [], []
    best = {"in-place": -np.inf, "iridium": -np.inf}
    cells = [
        (8, "TPC-DS", (6, 16)),
        (8, "Big-Data", (2, 5)),
        (30, "TPC-DS", (6, 16)),
        (30, "Big-Data", (2, 5)),
    ]
    values: dict[str, list[Summary]] = {"in-place": [], "iridium": []}
    slow: dict[str, list[float]] = {"in-place": [], "iridium": []}
    for sites, _, stages in cells:
        setting: dict[str, Any] = {
            "sites": SiteModel(sites=sites, slots=(4, 16), mbit=(100.0, 1000.0)),
            "jobs": dataclasses.replace(JOBS, tasks=30.0, tasks_spread=0.6, task_bytes=30e6, stages=stages),
        }
        for against in best:
            found = bench.gain("tetrium", against, **setting)
            values[against].append(found)
            best[against] = max(best[against], found.mean)
            slow[against].append(_slowdown_gain(bench, against, setting))
    for against, paper in (("in-place", 78.0), ("iridium", 55.0)):
        reached = max(values[against], key=lambda found: found.mean)
        place = values[against].index(reached)
        note = f"best of the four, {cells[place][1]} at {cells[place][0]} sites; all: " + ", ".join(
            told(found) for found in values[against]
        )
        rows.append(gain_row(f"Fig. 4.7, response against {against}, up to", paper, reached, note))
        lines.append(
            Line(
                f"against {against}",
                range(4),
                [found.mean for found in values[against]],
                [found.half_width for found in values[against]],
            )
        )
    for against, paper in (("in-place", 45.0), ("iridium", 16.0)):
        ours = max(slow[against])
        note = "slowdown here: response over the work of the job's longest chain on empty slots"
        rows.append(
            Row(
                f"Fig. 4.8, slowdown against {against}, up to, %",
                paper,
                f"{ours:.0f}",
                ours >= paper - CLOSE,
                note,
            )
        )
    names = tuple(f"{name}, {sites} sites" for sites, name, _ in cells)
    picture = Picture(
        "fig-4-7", "Figure 4.7: reduction of the mean response time", "", "%", tuple(lines), categories=names
    )
    return rows, [picture]


def _slowdown_gain(bench: Bench, against: str, setting: dict[str, Any]) -> float:
    values = []
    for seed in bench.seeds:
        ours, theirs = bench.run("tetrium", seed, **setting), bench.run(against, seed, **setting)
        jobs = ours.jobs
        alone = np.zeros(len(jobs))
        np.add.at(alone, jobs.job, jobs.task_s)
        values.append(reduction((ours.response / alone).mean(), (theirs.response / alone).mean()))
    return float(np.mean(values))


def average(bench: Bench, quick: bool) -> Found:
    """Figures 4.9 and 4.10, and Tetris."""
    rows = []
    wide = bench if quick else bench.over(15)
    reached = f"{wide.scarce()}; varied below"
    for policy, label, papers in (
        ("tetrium", "Tetrium", (42.0, 50.0)),
        ("tetrium-fs", "Tetrium + FS", (26.0, 35.0)),
        ("tetrium-i-task", "Tetrium + I-task", (None, None)),
        ("tetrium-i-data", "Tetrium + I-data", (None, None)),
    ):
        for against, paper in zip(("in-place", "centralised"), papers, strict=True):
            found = wide.gain(policy, against)
            what = f"Fig. 4.9, {label} against {against}"
            if paper is None:
                rows.append(Row(f"{what}, %", None, told(found), None, "bar without a number in the text"))
            else:
                rows.append(gain_row(what, paper, found, f"{LEFT_OPEN}; {reached}"))
    open_setting = f"{LEFT_OPEN}; {reached}"
    for what, paper, other in (
        ("Section 4.6.3, Tetrium against Tetris, mean", 33.0, "tetris"),
        ("Section 4.6.1, Tetrium against Iridium, up to", 55.0, "iridium"),
    ):
        rows.append(gain_row(what, paper, wide.gain("tetrium", other), open_setting))
    lines = []
    for against in ("in-place", "centralised"):
        gains = np.concatenate(
            [
                100 * (1 - bench.run("tetrium", seed).response / bench.run(against, seed).response)
                for seed in bench.seeds
            ]
        )
        gains.sort()
        worse = float((gains < -5).mean() * 100)
        rows.append(
            Row(
                f"Fig. 4.10, jobs slowed down by over 5 % against {against}, %",
                0.0,
                worse,
                worse <= 5.0,
                ""
                if worse <= 5
                else "shortest job first lets long jobs wait, and what moves takes part of links from others",
            )
        )
        lines.append(Line(f"against {against}", gains.tolist(), np.linspace(0, 100, len(gains)).tolist()))
    both = bench.gain("tetrium", "in-place", {"direction": "best"})
    rows.append(
        gain_row(
            "Section 4.6.3, best of forward and reverse against in-place",
            45.0,
            both,
            f"forward: {told(bench.gain('tetrium', 'in-place'))}",
        )
    )
    return rows, [
        Picture(
            "fig-4-10",
            "Figure 4.10: CDF of the reduction of jobs' response times",
            "%",
            "% of jobs",
            tuple(lines),
        )
    ]
