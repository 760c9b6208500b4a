"""What each decision is worth, as a section of the page."""

from __future__ import annotations

from windlass.report.ablation import LEGEND, cell, interaction_lines, title
from windlass.report.columns import label
from windlass.report.html_fragments import rows, text
from windlass.results import Results
from windlass.results.verdict.ablation import Ablation, Effect, ablation


def section(results: Results) -> str:
    """Return the section; empty if no variant leaves a decision out.

    Parameters
    ----------
    results
        Results of any world.
    """
    return "".join(map(_section, ablation(results)))


def _section(found: Ablation) -> str:
    heads = ("without", *(" and ".join(names) for names in found.left_out))
    head = "".join(f'<th scope="col">{text(each)}</th>' for each in heads)
    body = rows(
        [
            f'<th scope="row">{text(label(effects[0].metric))}</th>' + "".join(map(_cell, effects))
            for effects in zip(*found.effects, strict=True)
        ]
    )
    lines = "".join(f"<li>{text(line)}</li>" for line in interaction_lines(found))
    more = f"<ul>{lines}</ul>" if lines else ""
    return (
        f'<section><h2>{text(title(found))}</h2><p class="lead">{text(LEGEND)}</p>'
        f'<div class="scroll"><table class="wide"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{more}</section>"
    )


def _cell(effect: Effect) -> str:
    shown, detail = text(cell(effect)), f"{effect.whole:,.6g} with it, {effect.without:,.6g} without it"
    if effect.difference is not None:
        detail += f"; difference {effect.difference.low:,.4g} to {effect.difference.high:,.4g}"
    return f'<td title="{text(detail)}">{f"<b>{shown}</b>" if effect.significant else shown}</td>'
