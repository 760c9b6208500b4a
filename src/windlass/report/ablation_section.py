"""What each decision is worth, as a section of the page: forest plots, and a table of all changes."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.report.ablation import (
    ALONE,
    ALONE_LEGEND,
    INTERACTIONS,
    LEGEND,
    cell,
    interaction_lines,
    left_out_names,
    title,
    titled_ablations,
)
from windlass.report.columns import label
from windlass.report.forest import forest_plots
from windlass.report.html_fragments import PageSection, figure, rows, text
from windlass.results import Results
from windlass.results.verdict.ablation import Ablation, Effect

_LEAD = (
    "A row leaves decisions out: its point is the change of the metric, and its bar the paired 95 % confidence "
    "interval. It is filled if the interval excludes 0, with ✓ if the metric is better with the decision, else ✗."
)


def section(results: Results) -> PageSection:
    """Return the section; empty if no variant leaves a decision out.

    Parameters
    ----------
    results
        Results of any world.
    """
    parts = [_section(found, f"without-{number}") for number, found in enumerate(titled_ablations(results))]
    return PageSection(
        "".join(part.html for part in parts), tuple(plot for part in parts for plot in part.plots)
    )


def _section(found: Ablation, key: str) -> PageSection:
    plots = tuple(forest_plots(found, key))
    figures = "".join(figure(plot, name, "") for plot, name in plots)
    drawn = f'<p class="lead">{text(_LEAD)}</p><div class="plots">{figures}</div>' if plots else ""
    lines = "".join(f"<li>{text(line)}</li>" for line in interaction_lines(found))
    more = f"<h3>{text(title(found, INTERACTIONS))}</h3><ul>{lines}</ul>" if lines else ""
    return PageSection(
        f'<section><h2>{text(title(found))}</h2>{drawn}<p class="lead">{text(LEGEND)}</p>'
        f"{_table(left_out_names(found), found.effects)}{_alone(found)}{more}</section>",
        tuple(plot for plot, _ in plots),
    )


def _alone(found: Ablation) -> str:
    """Return the table of decisions that variants make alone; empty if there are none."""
    if not found.alone:
        return ""
    table = _table([(name,) for name in found.alone], found.alone_effects)
    return f'<h3>{text(title(found, ALONE))}</h3><p class="lead">{text(ALONE_LEGEND)}</p>{table}'


def _table(left_out: Sequence[Sequence[str]], effects: Sequence[Sequence[Effect]]) -> str:
    heads = ("without", *(" and ".join(names) for names in left_out))
    head = "".join(f'<th scope="col">{text(each)}</th>' for each in heads)
    body = rows(
        [
            f'<th scope="row">{text(label(row[0].metric))}</th>' + "".join(map(_cell, row))
            for row in zip(*effects, strict=True)
        ]
    )
    return f'<div class="scroll"><table class="wide"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(effect: Effect) -> str:
    shown, detail = text(cell(effect)), f"{effect.whole:,.6g} with it, {effect.without:,.6g} without it"
    if effect.difference is not None:
        detail += f"; difference {effect.difference.low:,.4g} to {effect.difference.high:,.4g}"
    return f'<td title="{text(detail)}">{f"<b>{shown}</b>" if effect.significant else shown}</td>'
