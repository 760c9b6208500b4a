"""Judged policies as tables for the terminal, as JSON, and as an HTML page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.box import SIMPLE
from rich.table import Table

from windlass.admit.evaluation import Judged, against_best
from windlass.cli.admit.compared import fields_of, signed, verdicts_of
from windlass.report.html_fragments import PageSection, answer, heading, narrow, text
from windlass.report.page import page
from windlass.report.pictures import Line, Picture, part
from windlass.report.units import counted


def row_of(judged: Judged, found: Sequence[Judged]) -> dict[str, object]:
    """Return one candidate as plain values for JSON; the names of 95 % intervals end in ``_95``."""
    of, sure = judged.candidate, asdict(judged.intervals)
    return {
        "policy": of.label,
        "asked_downtime": of.downtime,
        "parameters": dict(of.parameters),
        **asdict(judged.quality),
        "by_shift": sure.pop("by_shift"),
        **{f"{name}_95": pair for name, pair in sure.items()},
        **fields_of(judged, found),
    }


#: Columns of a candidate.
HEADS = (
    "policy", "target", "downtime", "recall", "chance", "shifted", "by shift", "over shifted", "ahead", "precision",
    "lead", "left", "right", "over best baseline",
)  # fmt: skip


def cells(judged: Judged, found: Sequence[Judged]) -> tuple[str, ...]:
    """Return one candidate as the cells of :data:`HEADS`."""
    of, own, sure = judged.candidate, judged.quality, judged.intervals
    lift = own.ahead / own.downtime if own.downtime else math.nan
    against = None if math.isnan(of.downtime) else against_best(judged, found)
    return (
        of.label,
        "–" if math.isnan(of.downtime) else f"{of.downtime:.0%}",
        f"{own.downtime:.1%}",
        f"{own.recall:.2f} ({sure.recall[0]:.2f}–{sure.recall[1]:.2f})",
        f"{own.by_chance:.2f}",
        f"{own.shifted:.2f}",
        f"{sure.by_shift:.3f}",
        f"{sure.over_shifted[0]:+.2f} to {sure.over_shifted[1]:+.2f}",
        f"{lift:.2f} ({sure.lift[0]:.2f}–{sure.lift[1]:.2f})",
        f"{own.precision:.2f}",
        "–" if math.isnan(own.lead) else f"{own.lead:.1f}",
        str(own.left),
        str(own.right),
        "–" if against is None else signed(against[1]),
    )


#: Columns of :data:`HEADS` by their place, in each of the tables for the terminal.
_TABLES = ((0, 2, 3, 4, 5, 6), (0, 8, 9, 10, 11, 12), (0, 7, 13))


def tables_of(found: Sequence[Judged]) -> list[Table]:
    """Return tables for the terminal, with a section for each downtime."""
    rows = [cells(each, found) for each in found]
    tables = []
    for columns in _TABLES:
        table = Table(box=SIMPLE)
        for column in columns:
            table.add_column(HEADS[column], no_wrap=column > 0)
        last = math.nan
        for each, own in zip(found, rows, strict=True):
            if each.candidate.downtime != last and not math.isnan(each.candidate.downtime):
                table.add_section()
                table.add_row(f"at {each.candidate.downtime:.0%} downtime", style="bold")
            last = each.candidate.downtime
            table.add_row(*(own[column] for column in columns))
        tables.append(table)
    return tables


@dataclass(frozen=True, slots=True)
class JudgedRecording:
    """The candidates on one recording.

    Parameters
    ----------
    name
        The name of the recording.
    lead
        Sentences on the recording.
    found
        The judged candidates.
    """

    name: str
    lead: str
    found: Sequence[Judged]


def page_of(whole: JudgedRecording, each: Sequence[JudgedRecording], within: int) -> str:
    """Return a page with the table and the curves of all recordings, and a table for each."""
    recordings = counted(max(len(each), 1), "recording")
    policies = counted(len({judged.candidate.label for judged in whole.found}), "policy")
    head = heading(whole.name, f"{policies} · {recordings}") + answer([whole.lead])
    parts = [PageSection(head), PageSection(_table("Recall compared with chance", whole.found))]
    found = whole.found
    for picture in (recalls(found, within), leads(found, within), *over_nodes(found)):
        drawn = part(picture)
        parts.append(PageSection(f"<section>{drawn.html}</section>", drawn.plots))
    parts += [PageSection(_table(own.name, own.found, own.lead)) for own in each]
    return page(whole.name, parts)


def _table(title: str, found: Sequence[Judged], lead: str = "") -> str:
    heads = "".join(f"<th>{text(head)}</th>" for head in HEADS)
    rows = "".join(
        f"<tr><th scope='row'>{text(first)}</th>"
        + "".join(f"<td>{narrow(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in (cells(each, found) for each in found)
    )
    intro = f"<p>{text(lead)}</p>" if lead else ""
    verdicts = "".join(f"<p>{text(line)}</p>" for line in verdicts_of(found))
    return (
        f'<section><h2>{text(title)}</h2>{intro}<div class="scroll"><table class="wide many"><thead><tr>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{verdicts}</section>"
    )


def recalls(found: Sequence[Judged], within: int) -> Picture:
    """Return a plot of recall over downtime, with a line for each policy and one for chance."""
    names = list(dict.fromkeys(each.candidate.label for each in found))
    lines = []
    for name in names:
        own = sorted(
            (each.quality.downtime, each.quality.recall) for each in found if each.candidate.label == name
        )
        lines.append(Line(name, [pair[0] for pair in own], [pair[1] for pair in own]))
    spent = np.linspace(0.0, max((each.quality.downtime for each in found), default=0.1), 40)
    lines.append(Line("chance", spent.tolist(), (1.0 - (1.0 - spent) ** within).tolist()))
    return Picture("recall", "Recall over downtime", "share of steps down", "recall", tuple(lines))


def _first(found: Sequence[Judged]) -> list[Judged]:
    """Return the candidates at the first downtime, and those without one."""
    downtimes = [each.candidate.downtime for each in found if not math.isnan(each.candidate.downtime)]
    return [
        each
        for each in found
        if math.isnan(each.candidate.downtime) or each.candidate.downtime == downtimes[0]
    ]


def leads(found: Sequence[Judged], within: int) -> Picture:
    """Return a plot of leads: the share of onsets that were predicted at least N steps before."""
    steps = list(range(1, within + 1))
    lines = []
    for each in _first(found):
        known = each.leads[each.hits]
        count = max(len(each.leads), 1)
        lines.append(
            Line(each.candidate.label, steps, [float((known >= step).sum()) / count for step in steps])
        )
    return Picture(
        "leads",
        "Steps from the first signal to the onset",
        "steps before, or more",
        "share of onsets",
        tuple(lines),
    )


def over_nodes(found: Sequence[Judged]) -> list[Picture]:
    """Return CDFs over nodes of recall above chance and of downtime; none for a single node."""
    shown = _first(found)
    if not shown or len(shown[0].each) < 2:
        return []
    gains = [
        _cdf(each.candidate.label, [own.recall - own.by_chance for own in each.each if own.onsets])
        for each in shown
    ]
    downs = [_cdf(each.candidate.label, [own.downtime for own in each.each]) for each in shown]
    return [
        Picture(
            "gains", "Recall above chance, over nodes", "recall minus chance", "share of nodes", tuple(gains)
        ),
        Picture("downs", "Downtime, over nodes", "share of steps down", "share of nodes", tuple(downs)),
    ]


def _cdf(name: str, values: Sequence[float]) -> Line:
    return Line(name, sorted(values), [(place + 1) / len(values) for place in range(len(values))])
