"""The matrix of winners and margins of a sweep, for the terminal and for the report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from windlass.report.html_fragments import NOTHING, PageSection, text
from windlass.report.phrases import label
from windlass.report.units import percentage
from windlass.results.winners import WinnerCell, WinnerMatrix

_MARKS = "Margin: lead over the second. n.s.: not all others are significantly worse."


def winner_tables(matrices: Sequence[WinnerMatrix]) -> tuple[Group, ...]:
    """Return a table per matrix: rows and columns are swept values, cells are the winner and its margin.

    Examples
    --------
    >>> from rich.console import Console
    >>> cell = WinnerCell("load=0.5", "easy", 10.0, "fcfs", 0.25, True)
    >>> other = WinnerCell("load=0.9", "fcfs", 10.0, "easy", 0.015, False)
    >>> matrix = WinnerMatrix("mean_wait_s", -1, "", ("load", ""), (0.5, 0.9), ("",), ((cell,), (other,)))
    >>> for table in winner_tables((matrix,)):
    ...     Console(width=80).print(table)  # doctest: +NORMALIZE_WHITESPACE
    Lowest mean wait, and margin over the second
    load  winner
    ──────────────────────
    0.5   easy 25 %
    0.9   fcfs 1.5 % n.s.
    Margin: lead over the second. n.s.: not all others are significantly worse.
    """
    return tuple(_table(matrix, last=matrix is matrices[-1]) for matrix in matrices)


def _table(matrix: WinnerMatrix, *, last: bool) -> Group:
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    for head in (_corner(matrix), *_heads(matrix)):
        table.add_column(Text(head))
    for value, cells in zip(matrix.rows, matrix.cells, strict=True):
        shown = [
            Text(_shown(cell), "bold" if cell is not None and cell.significant else "") for cell in cells
        ]
        table.add_row(Text(str(value)), *shown)
    return Group(Text(_title(matrix), "bold"), table, *([Text(_MARKS)] if last else []))


def section(matrices: Sequence[WinnerMatrix]) -> PageSection:
    """Return the report's section with a table per matrix; empty without matrices."""
    if not matrices:
        return NOTHING
    return PageSection(
        f'<section><h2>Winners over swept parameters</h2><p class="lead">{text(_MARKS)}</p>'
        f"{''.join(map(_html, matrices))}</section>"
    )


def _html(matrix: WinnerMatrix) -> str:
    heads = "".join(f'<th scope="col">{text(each)}</th>' for each in (_corner(matrix), *_heads(matrix)))
    body = "".join(
        f'<tr><th scope="row">{text(value)}</th>{"".join(map(_html_cell, cells))}</tr>'
        for value, cells in zip(matrix.rows, matrix.cells, strict=True)
    )
    return (
        f'<h3>{text(_title(matrix))}</h3><div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _html_cell(cell: WinnerCell | None) -> str:
    shown = text(_shown(cell))
    return f"<td><b>{shown}</b></td>" if cell is not None and cell.significant else f"<td>{shown}</td>"


def _title(matrix: WinnerMatrix) -> str:
    most = "Highest" if matrix.better > 0 else "Lowest"
    at = f", {matrix.point}" if matrix.point else ""
    return f"{most} {label(matrix.metric)}, and margin over the second{at}"


def _corner(matrix: WinnerMatrix) -> str:
    return matrix.axes[0].rpartition(".")[2]


def _heads(matrix: WinnerMatrix) -> list[str]:
    name = matrix.axes[1].rpartition(".")[2]
    return [f"{name}={value}" for value in matrix.columns] if name else ["winner"]


def _shown(cell: WinnerCell | None) -> str:
    if cell is None:
        return "none"
    if cell.second is None or math.isnan(cell.margin):
        return cell.best
    if cell.margin == 0:
        return f"{cell.best} = {cell.second}"
    return f"{cell.best} {percentage(cell.margin)}" + ("" if cell.significant else " n.s.")
