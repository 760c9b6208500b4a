"""Results as tables, sentences and plots.

Results have two forms: a table of metrics for the terminal, and one HTML file that opens from disk and loads nothing
else. Both take the :class:`~windlass.results.Results` of any world, and omit what its tables have no columns for.

- :func:`metrics_table`: one row per variant, one column per metric, the best values in bold. Columns that do not fit
  continue in a second table below.
- :func:`ablation_tables`: what each decision is worth, if variants leave decisions out.
- :func:`group_table`: waits and work of each user, group, queue, partition or size class.
- :func:`winner_tables`: the winner and its margin at each point of a sweep, as a matrix.
- :func:`write_report`: the page, with the verdict, metrics, distributions of wait and slowdown, utilisation and queue
  over time, the policies' reasons, and the scenario; for a sweep, also curves over its axes.

Modules: ``table`` and ``html`` assemble the two; ``ablation`` is about decisions that are left out. Sections of the
page are ``overview``, ``ablation_section``, ``sweep``, ``trade_off``, ``site_map``, ``site_cores``, ``distributions``,
``timelines``, ``queues``, ``by_hour``, ``gantt``, ``breakdowns``, ``by_group``, ``group_tables`` and ``winners``;
``date_ticks`` has the dates of time axes.
``columns`` and ``units`` write metrics as text. ``answer`` writes the verdict, from ``sentence``, ``headlines``,
``qualifications``, ``cut_work``, ``fidelity`` and ``phrases``; ``capacity`` writes the smallest size that suffices,
``run_comparison`` the difference of two runs, ``sweep_sentence`` the change over a sweep, and ``instances`` the number
of instances that are paid for, ``forecasts`` by how much a forecaster is better, and ``group_sentence`` the users that
wait longer. ``job_columns``, ``series`` and ``flows`` turn tables into arrays and compute plotted quantities.
``figures``, ``panels``, ``stacks``, ``forest``, ``map_figure`` and ``pictures`` draw plots. ``page``,
``html_fragments`` and ``palette`` provide HTML and colours, ``script`` what figures need of Plotly's script.
``waiting`` and ``history`` explain the wait of one job in sentences.
"""

from pathlib import Path
from typing import Final

from windlass.report.ablation import ablation_tables
from windlass.report.group_tables import group_table
from windlass.report.table import metrics_table
from windlass.report.winners import winner_tables
from windlass.results import Results

#: First bytes of every report page. A file that starts with them may be overwritten by another report.
PAGE_PREFIX: Final = b"\n".join(
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
        Results of a scenario.
    path
        The file to write.
    answer
        Sentences at the top of the page; by default, the verdict on the first metric with a direction.
    by
        Metric that curves of a sweep show; by default, the first metric with a direction.
    """
    # Imported here because the plotting library takes a second to load, and most runs plot nothing.
    from windlass.report.html import write_report as write

    write(results, path, answer, by)


__all__ = ["PAGE_PREFIX", "ablation_tables", "group_table", "metrics_table", "winner_tables", "write_report"]
