"""Tetrium's gains: Figures 4.7–4.10, and Sections 4.6.1 and 4.6.3."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from windlass.experiment.workloads.sites import SiteModel
from windlass.report.pictures import Line, Picture
from windlass.results import Summary, summarise
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.rows import DELAY, WAITS, FigureRows, against_delay, delayed_row, gain_row
from windlass_reproductions.tetrium.runs import JOBS, LEFT_OPEN, Bench, reduction, summary_text
from windlass_reproductions.tetrium.verdicts import is_none

#: The variants of each baseline that the thesis leaves open.
_OF_TETRIS: dict[str, dict[str, Any]] = {
    "default": {},
    "without the links' term": {"network": False},
    "local reads credited": {"local_reads": True},
}
_OF_IRIDIUM: dict[str, dict[str, Any]] = {"ties by data": {}, "ties by slots": {"ties": "slots"}}


def deployment(bench: Bench, quick: bool) -> FigureRows:
    """Compute Figures 4.7 and 4.8: 8 and 30 sites of 4–16 slots; chains of 6–16 stages and of 2–5."""
    rows, lines = [], []
    cells = [
        (8, "TPC-DS", (6, 16)),
        (8, "Big-Data", (2, 5)),
        (30, "TPC-DS", (6, 16)),
        (30, "Big-Data", (2, 5)),
    ]
    settings: list[dict[str, Any]] = [
        {
            "sites": SiteModel(sites=sites, slots=(4, 16), mbit=(100.0, 1000.0)),
            "jobs": dataclasses.replace(JOBS, tasks=30.0, tasks_spread=0.6, task_bytes=30e6, stages=stages),
        }
        for sites, _, stages in cells
    ]
    for sites, label, setting in (
        (sites, label, own) for (sites, label, _), own in zip(cells, settings, strict=True)
    ):
        where = f"Fig. 4.7, {label} at {sites} sites, response against in-place, up to"
        rows.append(
            delayed_row(bench, where, 78.0, "tetrium", {}, "78 is the best of the thesis' four", **setting)
        )
    for against, paper in (("in-place", 78.0), ("iridium", 55.0)):
        values = [bench.gain("tetrium", against, **setting) for setting in settings]
        reached = max(values, key=lambda found: found.mean)
        place = values.index(reached)
        note = f"best of the four, {cells[place][1]} at {cells[place][0]} sites; all: " + ", ".join(
            summary_text(found) for found in values
        )
        if against == "iridium":
            other = [bench.gain("tetrium", against, other={"ties": "slots"}, **own) for own in settings]
            note += "; with its ties by slots: " + ", ".join(summary_text(found) for found in other)
            reached = min(reached, max(other, key=lambda found: found.mean), key=lambda found: found.mean)
        rows.append(gain_row(f"Fig. 4.7, response against {against}, up to", paper, reached, note))
        lines.append(
            Line(
                f"against {against}",
                range(4),
                [found.mean for found in values],
                [found.half_width for found in values],
            )
        )
    for against, paper in (("in-place", 45.0), ("iridium", 16.0)):
        slow = [_slowdown_gain(bench, against, {}, own) for own in settings]
        note = (
            "slowdown here: response over the work of the job's longest chain on empty slots; all: "
            + ", ".join(summary_text(found) for found in slow)
        )
        if against == "in-place":
            for wait in WAITS:
                late = [_slowdown_gain(bench, DELAY, {"wait": wait}, own) for own in settings]
                note += f"; delay scheduling at {wait:g} s: " + ", ".join(
                    summary_text(found) for found in late
                )
        best = max(slow, key=lambda found: found.mean)
        rows.append(gain_row(f"Fig. 4.8, slowdown against {against}, up to", paper, best, note))
    names = tuple(f"{name}, {sites} sites" for sites, name, _ in cells)
    picture = Picture(
        "fig-4-7", "Figure 4.7: reduction of the mean response time", "", "%", tuple(lines), categories=names
    )
    return rows, [picture]


def _slowdown_gain(bench: Bench, against: str, other: dict[str, Any], setting: dict[str, Any]) -> Summary:
    values = []
    for seed in bench.seeds:
        ours, theirs = bench.run("tetrium", seed, **setting), bench.run(against, seed, **setting, **other)
        jobs = ours.jobs
        alone = np.zeros(len(jobs))
        np.add.at(alone, jobs.job, jobs.task_s)
        values.append(reduction((ours.response / alone).mean(), (theirs.response / alone).mean()))
    return summarise("slowdown", values)


def average(bench: Bench, quick: bool) -> FigureRows:
    """Compute Figures 4.9 and 4.10, and the gain over Tetris."""
    rows = []
    wide = bench if quick else bench.over(15)
    reached = f"{wide.scarce()}; see the rows 'Varied'"
    for policy, label, papers in (
        ("tetrium", "Tetrium", (42.0, 50.0)),
        ("tetrium-fs", "Tetrium + FS", (26.0, 35.0)),
        ("tetrium-i-task", "Tetrium + I-task", (None, None)),
        ("tetrium-i-data", "Tetrium + I-data", (None, None)),
    ):
        for against, paper in zip(("in-place", "centralised"), papers, strict=True):
            what, open_setting = f"Fig. 4.9, {label} against {against}", f"{LEFT_OPEN}; {reached}"
            if paper is None:
                note = f"the text gives no number for this bar; {against_delay(wide, policy, {})}"
                rows.append(Row(f"{what}, %", None, summary_text(wide.gain(policy, against)), None, note))
            elif against == "in-place":
                rows.append(delayed_row(wide, what, paper, policy, {}, open_setting))
            else:
                rows.append(gain_row(what, paper, wide.gain(policy, against), open_setting))
    for what, paper, other, ways in (
        ("Section 4.6.3, Tetrium against Tetris, mean", 33.0, "tetris", _OF_TETRIS),
        ("Section 4.6.1, Tetrium against Iridium, up to", 55.0, "iridium", _OF_IRIDIUM),
    ):
        found = {label: wide.gain("tetrium", other, other=own) for label, own in ways.items()}
        # The published gain must hold against the best variant of the baseline.
        least = min(found.values(), key=lambda own: own.mean)
        text = ", ".join(f"{label} {summary_text(own)}" for label, own in found.items())
        rows.append(
            gain_row(what, paper, least, f"{text}; {against_delay(wide, 'tetrium', {})}; {LEFT_OPEN}")
        )
    lines = []
    baselines: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("in-place", "in-place", {}),
        *((f"delay scheduling at {wait:g} s", DELAY, {"wait": wait}) for wait in WAITS),
        ("centralised", "centralised", {}),
    )
    for against, name, other_s in baselines:
        gains = np.concatenate(
            [
                100 * (1 - bench.run("tetrium", seed).response / bench.run(name, seed, **other_s).response)
                for seed in bench.seeds
            ]
        )
        gains.sort()
        worse = float((gains < -5).mean() * 100)
        few = is_none(worse, 1.0)
        rows.append(
            Row.by(
                f"Fig. 4.10, jobs slowed down by over 5 % against {against}, %",
                0.0,
                worse,
                few,
                "the plot's axis begins at a reduction of 0, which can be read to 1 % of the jobs"
                + (
                    ""
                    if few.holds
                    else "; shortest job first delays long jobs, and transfers reduce the bandwidth of other jobs"
                ),
            )
        )
        lines.append(Line(f"against {against}", gains.tolist(), np.linspace(0, 100, len(gains)).tolist()))
    rows.append(
        delayed_row(
            bench,
            "Section 4.6.3, best of forward and reverse against in-place",
            45.0,
            "tetrium",
            {"direction": "best"},
            f"forward: {against_delay(bench, 'tetrium', {})}",
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
