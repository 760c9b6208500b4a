"""Measured and planned accuracy and lateness of streaming queries, as a table and as JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rich.table import Table

from windlass.engines.streams.result import StreamsRun
from windlass.engines.streams.scoring import Playing


def measured_table(run: StreamsRun) -> Table:
    """Return a row per query and configuration, with the numbers of undisturbed and disturbed playings.

    Accuracy and lateness are those of the undisturbed playings.
    """
    table = Table(
        "query", "configuration", "playings", "planned", "measured", "missed", "late", "late p95", "expected"
    )
    for rows in _groups(run):
        first, calm = rows[0], [row for row in rows if row.undisturbed]
        late = np.concatenate([row.late for row in calm]) if calm else np.empty(0)
        table.add_row(
            first.query,
            first.label or "nothing",
            f"{len(calm)} + {len(rows) - len(calm)} disturbed",
            f"{first.planned:.3f}",
            f"{np.mean([row.accuracy for row in calm]):.3f}" if calm else "–",
            str(sum(row.missed for row in calm)),
            _seconds(float(late.mean()) if len(late) else math.nan),
            _seconds(float(np.quantile(late, 0.95)) if len(late) else math.nan),
            _seconds(first.expected),
        )
    return table


def tree_of(run: StreamsRun) -> dict[str, Any]:
    """Return every playing and decision as plain values for JSON; times in seconds."""
    return {
        "playings": [
            {
                "query": row.query,
                "number": row.number,
                "configuration": row.label,
                "undisturbed": row.undisturbed,
                "accuracy_planned": row.planned,
                "accuracy_measured": row.accuracy,
                "frames_missed": row.missed,
                "late_expected_s": row.expected,
                "late_mean_s": float(row.late.mean()) if len(row.late) else None,
                "late_p95_s": float(np.quantile(row.late, 0.95)) if len(row.late) else None,
                "late_most_s": float(row.late.max()) if len(row.late) else None,
            }
            for row in run.playings
        ],
        "decisions": [
            {"noticed_s": each.noticed, "at_s": each.at, "upon": list(each.upon), "plan": list(each.lines)}
            for each in run.decisions
        ],
        "failures": run.failures,
    }


def _groups(run: StreamsRun) -> list[list[Playing]]:
    found: dict[tuple[str, str], list[Playing]] = {}
    for row in run.playings:
        found.setdefault((row.query, row.label), []).append(row)
    return list(found.values())


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if math.isfinite(value) else "–"
