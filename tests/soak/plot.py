"""A page with the memory, the latency and the queue of a driver over time."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import plotly.graph_objects as graphs
from plotly.subplots import make_subplots

from tests.soak.samples import Sample

_PANELS: tuple[tuple[str, Callable[[Sample], float]], ...] = (
    ("resident memory, MB", lambda each: each.memory / 1e6),
    ("poll of Slurm, s", lambda each: each.poll),
    ("from poll to release, s", lambda each: each.lag),
    ("waiting jobs", lambda each: float(each.waiting)),
    ("journal, MB", lambda each: each.journal / 1e6),
)


def page(samples: Sequence[Sample], said: Sequence[str]) -> str:
    """Return an HTML page with one panel per quantity, and lines of text above."""
    figure = make_subplots(rows=len(_PANELS), cols=1, shared_xaxes=True, vertical_spacing=0.03)
    for row, (what, value) in enumerate(_PANELS, 1):
        for process in sorted({each.process for each in samples}):
            mine = [each for each in samples if each.process == process]
            line = graphs.Scatter(
                x=[each.at / 60.0 for each in mine],
                y=[value(each) for each in mine],
                name=f"process {process}",
                line={"color": ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3")[(process - 1) % 4], "width": 1},
                legendgroup=str(process),
                showlegend=row == 1,
            )
            figure.add_trace(line, row=row, col=1)
        figure.update_yaxes(title_text=what, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="time, min", row=len(_PANELS), col=1)
    figure.update_layout(height=1000, margin={"l": 80, "r": 20, "t": 30, "b": 50}, template="simple_white")
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in said)
    return (
        "<!doctype html><meta charset=utf-8><title>Hours of driving Slurm</title>"
        f"<h1>Hours of driving Slurm</h1><ul>{lines}</ul>{figure.to_html(full_html=False)}"
    )
