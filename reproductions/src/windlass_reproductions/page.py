"""A reproduction as a table for the terminal, as JSON, and as an HTML page."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
from rich.table import Table

from windlass.io import write_text
from windlass.report.html_fragments import PageSection, text
from windlass.report.page import page
from windlass.report.pictures import part
from windlass_reproductions.reproduction import Paper, Reproduction, Row

#: The fields of a row that are written; its note includes the criterion of the verdict.
_FIELDS = tuple(field.name for field in dataclasses.fields(Row) if field.name != "judged")


def rows_json(reproduction: Reproduction) -> str:
    """Return the rows as a JSON list."""
    return json.dumps([{key: _plain(getattr(row, key)) for key in _FIELDS} for row in reproduction.rows])


def _plain(value: object) -> object:
    plain = value.item() if isinstance(value, np.generic) else value
    return str(plain) if isinstance(plain, float) and not math.isfinite(plain) else plain


def rows_table(paper: Paper, reproduction: Reproduction) -> Table:
    """Return the rows as a table for the terminal."""
    table = Table("what", "paper", "ours", "holds", "note", title=paper.title, title_justify="left")
    for row in reproduction.rows:
        table.add_row(row.what, _shown(row.paper), _shown(row.ours), _verdict(row), row.note)
    return table


def save(paper: Paper, reproduction: Reproduction, folder: Path) -> None:
    """Write ``NAME.json`` (rows) and ``NAME.html`` (rows and pictures) into a folder, which is created if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(rows_json(reproduction) + "\n", folder / f"{paper.name}.json")
    write_text(_page(paper, reproduction), folder / f"{paper.name}.html")


def _page(paper: Paper, reproduction: Reproduction) -> str:
    published = [row for row in reproduction.rows if row.paper is not None and row.holds is not None]
    held = sum(row.holds is True for row in published)
    open_ones = sum(row.paper is not None and row.holds is None for row in reproduction.rows)
    undecided = f" Undecided: {open_ones}." if open_ones else ""
    head = (
        f'<header><p class="kicker">Windlass reproduces</p><h1>{text(paper.title)}</h1>'
        f'<p class="lead">{held} of {len(published)} published results hold here.{undecided}</p></header>'
    )
    cells = "".join(
        f"<tr><td>{text(row.what)}</td><td>{text(_shown(row.paper))}</td><td>{text(_shown(row.ours))}</td>"
        f"<td>{_verdict(row)}</td><td>{text(row.note)}</td></tr>"
        for row in reproduction.rows
    )
    table = (
        '<section><h2>Published values and ours</h2><div class="scroll"><table class="claims"><thead><tr><th>what</th>'
        "<th>paper</th><th>ours</th><th>holds</th><th>note</th></tr></thead>"
        f"<tbody>{cells}</tbody></table></div></section>"
    )
    pictures = (part(picture) for picture in reproduction.pictures)
    sections = (PageSection(f"<section>{shown.html}</section>", shown.plots) for shown in pictures)
    return page(paper.title, [PageSection(head), PageSection(table), *sections])


def _shown(value: float | str | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


def _verdict(row: Row) -> str:
    return {True: "yes", False: "no", None: "–"}[row.holds]
