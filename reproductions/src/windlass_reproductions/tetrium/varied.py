"""What the gains of Tetrium depend on: the base setting with one thing varied after the other."""

from __future__ import annotations

import dataclasses
from typing import Any

from windlass.report.pictures import Line, Picture
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.rows import beside
from windlass_reproductions.tetrium.runs import JOBS, SITES, Bench, told


def sensitivity(bench: Bench, quick: bool) -> tuple[list[Row], list[Picture]]:
    """Why a gain is what it is: the base setting with load and bytes a task varied."""
    rows, lines = [], []
    sizes = (0.5e6, 10e6) if quick else (0.5e6, 2e6, 10e6)
    for load in (1.0,) if quick else (0.3, 1.0, 3.0):
        points = []
        for size in sizes:
            jobs = dataclasses.replace(JOBS, load=load, task_bytes=size)
            against = {
                other: bench.gain("tetrium", other, jobs=jobs)
                for other in ("in-place", "centralised", "iridium", "tetris")
            }
            points.append(against["in-place"])
            ours = ", ".join(f"{other} {told(own)}" for other, own in against.items())
            ours += f"; {beside(bench, 'tetrium', {}, jobs=jobs)}"
            rows.append(
                Row(f"Varied: load {load:g}, {size / 1e6:g} MB a task, gain against, %", None, ours, None)
            )
        lines.append(
            Line(
                f"load {load:g}",
                [size / 1e6 for size in sizes],
                [own.mean for own in points],
                [own.half_width for own in points],
            )
        )
    if not quick:
        rows += _scarce_everywhere(bench)
    caption = (
        "Small reads: slots are scarce and moving work pays. Large reads: links are, and little can be moved."
    )
    return rows, [
        Picture(
            "varied",
            "Gain against in-place by load and bytes a task",
            "MB a task",
            "%",
            tuple(lines),
            caption,
            log_x=True,
        )
    ]


def _scarce_everywhere(bench: Bench) -> list[Row]:
    """Whether ε and the order of tasks begin to matter where all slots are scarce and links are not."""
    own: dict[str, Any] = {
        "sites": dataclasses.replace(SITES, slots=(25, 500)),
        "jobs": dataclasses.replace(JOBS, load=20.0, task_bytes=0.2e6),
    }
    changed: tuple[tuple[str, dict[str, Any]], ...] = (
        ("as it is", {}),
        ("ε = 0", {"epsilon": 0.0}),
        ("local maps first", {"map_order": "local"}),
        ("shuffles in the given order", {"reduce_order": "given"}),
    )
    ours = ", ".join(f"{name} {told(bench.gain('tetrium', 'in-place', of, **own))}" for name, of in changed)
    ours += f"; {beside(bench, 'tetrium', {}, **own)}"
    what = "Varied: a tenth of the slots, 0.2 MB a task, all jobs at once, gain against in-place, %"
    note = "slots scarcer and links wider for the work: do ε and the order of tasks matter then?"
    return [Row(what, None, ours, None, note)]
