"""Metrics of a run as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from windlass.report.columns import Cell, MetricColumn, metric_columns
from windlass.results import Results

#: Width to which names of variants may be folded, if one table then has room for all columns.
_NAME_WIDTH = 16


def metrics_table(results: Results, width: int) -> Group:
    """Return a table with one row per variant and one column per metric; the best values are bold.

    The metric's field defines its direction, :data:`~windlass.results.LOWER` or :data:`~windlass.results.HIGHER`. Of
    the variants that differ only in their policies, the best one is bold, and so are those that are not significantly
    worse (paired 95 % confidence interval). Nothing is bold if no variant is significantly worse
    (:mod:`windlass.results.verdict`). The header of a column has its unit. With several seeds, a cell has the mean and
    the half width of its 95 % confidence interval.

    Columns that do not fit follow in further tables, which repeat the variants' names. Nothing is cut off if the names
    and one metric fit the width.

    Parameters
    ----------
    results
        Results of any world; the columns are the fields of its metrics.
    width
        Width of the terminal, in characters.

    Returns
    -------
    Group
        One or more tables with blank lines between them, for rich to print.

    Examples
    --------
    >>> import polars as pl
    >>> from rich.console import Console
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> from windlass.results import Outcome, Results, VariantResult
    >>> metrics = BatchMetrics(2.0, 5400.0, 0.0, 1e4, 6e3, 1.5, 0.75, 2e4)
    >>> variant = VariantResult("easy", (), (Outcome(1, metrics, pl.DataFrame(), 8),))
    >>> results = Results("two jobs", "", (variant,))
    >>> Console(width=40).print(metrics_table(results, 40))  # doctest: +NORMALIZE_WHITESPACE
                  mean median   p95     mean
                  wait   wait  wait response
    variant jobs     h      h     h        h
    ────────────────────────────────────────
    easy       2 1.500      0 2.778    1.667
    <BLANKLINE>
                mean
             bounded utilisation makespan
    variant slowdown           %        h
    ─────────────────────────────────────
    easy       1.500          75    5.556
    """
    names = [variant.name for variant in results.variants]
    longest = max(map(cell_len, ["variant", *names]))
    columns = metric_columns(results)
    least = min(longest, _NAME_WIDTH)
    if least + sum(1 + _width(column) for column in columns) <= width:
        return Group(_table(names, columns, least))
    # Several tables have room for long names, which are easier to read unfolded. Equal widths align the tables.
    own = max(least, min(longest, width // 2))
    tables: list[RenderableType] = []
    for some in _that_fit(columns, width - own):
        tables += [Text()] if tables else []
        tables.append(_table(names, some, own, own))
    return Group(*tables)


def _that_fit(columns: Iterable[MetricColumn], width: int) -> Iterator[list[MetricColumn]]:
    """Split the columns, in order, into groups that fit a width; a group has at least one column."""
    some: list[MetricColumn] = []
    left = width
    for column in columns:
        needed = 1 + _width(column)
        if some and needed > left:
            yield some
            some, left = [], width
        some.append(column)
        left -= needed
    if some:
        yield some


def _table(names: list[str], columns: Iterable[MetricColumn], least: int, most: int | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    table.add_column("variant", vertical="top", overflow="fold", min_width=least, max_width=most)
    for column in columns:
        # Only the column of names may be folded.
        table.add_column(_head(column), justify="right", vertical="bottom", no_wrap=True)
    for row, name in enumerate(names):
        table.add_row(Text(name), *(_text(column.cells[row]) for column in columns))
    return table


def _width(column: MetricColumn) -> int:
    texts = [_head(column), *map(_text, column.cells)]
    return max(cell_len(line) for text in texts for line in text.plain.split("\n"))


def _head(column: MetricColumn) -> Text:
    # One word per line lets the columns of the batch world fit a terminal with 80 columns.
    return Text("\n".join([*column.label.split(), *filter(None, [column.unit])]))


def _text(cell: Cell) -> Text:
    # The half width is below the mean, because eight metrics with both on one line do not fit 80 columns.
    mean, sign, spread = cell.text.partition(" ± ")
    text = Text(mean, "bold" if cell.best else "", no_wrap=True)
    return text.append(f"\n±{spread}", "not bold dim") if sign else text
