"""Results as tables and plots.

What came out of a run is shown in two ways: a table of metrics for the terminal, and one HTML file that holds
everything, opens from disk and loads nothing. Both take any world's :class:`~windlass.results.Results` and
show what its tables have columns for.

- :func:`metrics_table`: a row per variant, a column per metric, the best values in bold; columns that do not fit
  continue in a second table below.
- :func:`write_report`: the page: the verdict, metrics, distributions of wait and slowdown, utilisation and queue over
  time, reasons, and the scenario; of a sweep, curves over its axes.

``table`` and ``html`` put them together. Sections of the page: ``overview``, ``sweep``, ``distributions``,
``timelines``, ``breakdowns``, ``by_group``. What they are made of: ``columns``, ``sentence``, ``fidelity`` and
``units`` (metrics and the verdict as text), ``job_columns`` and ``series`` (tables as arrays, and what is computed from
them), ``figures``, ``panels`` and ``pictures`` (plots), ``page``, ``html_fragments`` and ``palette`` (HTML and
colours). ``waiting`` explains in sentences what one job waited for.
"""

from pathlib import Path
from typing import Final

from windlass.report.table import metrics_table
from windlass.results import Results

#: First bytes of every report page; a file that begins with them may be overwritten by another report.
BEGINS: Final = b"\n".join(
    (
        b"<!doctype html>",
        b'<html lang="en">',
        b"<head>",
        b'<meta charset="utf-8">',
        b'<meta name="generator" content="Windlass">',
    )
)


def write_report(
    results: Results, path: Path, answer: tuple[str, ...] | None = None, by: str | None = None
) -> None:
    """Write one self-contained HTML file.

    Parameters
    ----------
    results
        What came out of a scenario.
    path
        The file to write.
    answer
        The sentences that it begins with; by default, the verdict on the first metric with a direction.
    by
        The metric that curves of a sweep show; by default, that one.
    """
    # Imported here: the plotting library takes a second to load, and most runs plot nothing.
    from windlass.report.html import write_report as write

    write(results, path, answer, by)


__all__ = ["BEGINS", "metrics_table", "write_report"]
