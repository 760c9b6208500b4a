"""The gains of Tetrium with the setting varied."""

from __future__ import annotations

import dataclasses
from typing import Any

from windlass.report.pictures import Line, Picture
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.rows import against_delay
from windlass_reproductions.tetrium.runs import JOBS, SITES, Bench, summary_text


def sensitivity(bench: Bench, quick: bool) -> tuple[list[Row], list[Picture]]:
    """Vary load and bytes per task in the base setting."""
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
            ours = ", ".join(f"{other} {summary_text(own)}" for other, own in against.items())
            ours += f"; {against_delay(bench, 'tetrium', {}, jobs=jobs)}"
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
    caption = "Small reads: slots are scarce, and moving work pays. Large reads: links are scarce; little can be moved."
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
    """Return the row on whether ε and the order of tasks matter if all slots are scarce and links are not."""
    own: dict[str, Any] = {
        "sites": dataclasses.replace(SITES, slots=(25, 500)),
        "jobs": dataclasses.replace(JOBS, load=20.0, task_bytes=0.2e6),
    }
    changed: tuple[tuple[str, dict[str, Any]], ...] = (
        ("default", {}),
        ("ε = 0", {"epsilon": 0.0}),
        ("local maps first", {"map_order": "local"}),
        ("shuffles in the given order", {"reduce_order": "given"}),
    )
    ours = ", ".join(
        f"{name} {summary_text(bench.gain('tetrium', 'in-place', of, **own))}" for name, of in changed
    )
    ours += f"; {against_delay(bench, 'tetrium', {}, **own)}"
    what = "Varied: a tenth of the slots, 0.2 MB a task, all jobs at once, gain against in-place, %"
    note = "fewer slots and faster links relative to the work: do ε and the order of tasks matter then?"
    return [Row(what, None, ours, None, note)]
