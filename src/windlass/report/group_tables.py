"""Waits, work and starved jobs of each user, group, queue, partition and size class, for terminal and report."""

from __future__ import annotations

import polars as pl
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from windlass.report.html_fragments import text
from windlass.report.units import counted, duration, number, share, time_unit
from windlass.results import Results
from windlass.results.groups import divisions_of, group_metrics, starved_bound

#: Maximum number of groups in a table: those with the most jobs.
_MOST_GROUPS = 10
#: Number of rows above which fewer groups are shown, but at least three.
_MOST_ROWS = 60
_HEADS = ("jobs", "mean wait", "p95 wait", "mean bounded slowdown", "share of work", "starved")

#: Attribute of cells with names, which are on the left.
_LEFT = ' class="place"'


def group_table(results: Results, division: str) -> Group:
    """Return a table for the terminal: a row per variant for each group, the groups with the most jobs first.

    Parameters
    ----------
    results
        Results of any world.
    division
        One of :data:`windlass.results.groups.DIVISIONS`.

    Raises
    ------
    InputError
        The division is unknown, or the jobs do not have it.
    """
    heads, rows, caption = _content(results, division)
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    for place, head in enumerate((division, "variant", *heads)):
        # One word per line, so that the columns fit a narrow terminal.
        words = "\n".join(head.split()) if place > 1 else head
        table.add_column(Text(words), justify="left" if place < 2 else "right", vertical="bottom")
    for row in rows:
        table.add_row(*map(Text, row))
    return Group(table, Text(caption))


def section(results: Results) -> str:
    """Return the report's section: a table per division with at least two groups; empty without one."""
    parts = []
    for division in divisions_of(results.variants):
        heads, rows, caption = _content(results, division)
        if len({row[0] for row in rows if row[0]}) < 2:
            continue
        head = "".join(
            f'<th scope="col"{_LEFT if each == "variant" else ""}>{text(each)}</th>'
            for each in (division, "variant", *heads)
        )
        body = "".join(
            f'<tr{"" if row[0] else " class=same"}><th scope="row">{text(row[0])}</th>'
            + f"<td{_LEFT}>{text(row[1])}</td>"
            + "".join(f"<td>{text(each)}</td>" for each in row[2:])
            + "</tr>"
            for row in rows
        )
        parts.append(
            f"<h3>By {division}</h3>"
            f'<div class="scroll"><table class="wide"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
            f'<p class="lead">{text(caption)}</p>'
        )
    if not parts:
        return ""
    return f"<section><h2>Waits and work of users, queues and sizes</h2>{''.join(parts)}</section>"


def _content(results: Results, division: str) -> tuple[list[str], list[list[str]], str]:
    """Return the heads with units, a row of texts per group and variant, and the caption."""
    metrics = group_metrics(results.variants, division, results.as_run)
    first = metrics.filter(pl.col("variant") == metrics["variant"][0]) if len(metrics) else metrics
    names = list(dict.fromkeys([*first[division].to_list(), *metrics[division].to_list()]))
    shown = names[: min(_MOST_GROUPS, max(3, _MOST_ROWS // max(1, len(results.variants))))]
    order = {variant.name: row for row, variant in enumerate(results.variants)}
    units = {name: time_unit(metrics[name].to_list()) for name in ("mean_wait_s", "p95_wait_s")}
    rows = []
    for name in shown:
        own = metrics.filter(pl.col(division).eq_missing(name)).sort(
            pl.col("variant").replace_strict(order, return_dtype=pl.Int64)
        )
        for place, row in enumerate(own.iter_rows(named=True)):
            waits = [number(row[each] * unit.factor) for each, unit in units.items()]
            rows.append(
                [
                    ("none" if name is None else name) if place == 0 else "",
                    row["variant"],
                    number(row["jobs"], None if row["jobs"] % 1 else 0),
                    *waits,
                    number(row["mean_bounded_slowdown"]),
                    share(row["work_share"], 1.0),
                    number(row["starved"], None if row["starved"] % 1 else 0),
                ]
            )
    symbols = [unit.symbol for unit in units.values()]
    heads = [
        _HEADS[0],
        *(f"{head} {unit}" for head, unit in zip(_HEADS[1:3], symbols, strict=True)),
        *_HEADS[3:],
    ]
    bounds = dict.fromkeys(duration(starved_bound(variant, results.as_run)) for variant in results.variants)
    rest = len(names) - len(shown)
    more = f" {counted(rest, f'other {division}')} not shown; JSON has all." if rest else ""
    return heads, rows, f"Starved: jobs that waited longer than {' or '.join(bounds)}.{more}"
