"""``windlass admit evaluate``: what signals foresee on a machine's telemetry."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table

from windlass.admit import POLICIES
from windlass.admit.evaluation import Judged, Node, candidates, judge, level_of
from windlass.model import InputError
from windlass.model.values import number
from windlass.papers.plots import Line, Picture, part
from windlass.report.page import page
from windlass.report.parts import Part, text
from windlass.traces.telemetry import Telemetry, read_telemetry
from windlass.traces.telemetry.recorded import BUSY

#: Without earlier telemetry, policies begin in this share of it, and are not judged there.
_WARM = 0.2


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be evaluated.

    Parameters
    ----------
    spikes
        The column that spikes are of.
    threshold
        From which value on: a number, or a percentile such as ``p95``.
    downtimes
        Shares of steps.
    within, apart
        Onsets are to be foreseen by so many steps, and have so many without a spike before.
    seed
        Of intervals and of policies that draw.
    """

    spikes: str
    threshold: str
    downtimes: tuple[float, ...]
    within: int = 10
    apart: int = 5
    seed: int = 1


def shares(given: str) -> tuple[float, ...]:
    """Downtimes as a user gives them.

    Raises
    ------
    InputError
        One is not a share of time.

    Examples
    --------
    >>> shares("5%,0.1")
    (0.05, 0.1)
    """
    found = []
    for each in given.split(","):
        try:
            value = float(each.strip().removesuffix("%")) / (100.0 if each.strip().endswith("%") else 1.0)
        except ValueError:
            raise InputError(
                f"--downtime: {each.strip()!r} is no share of time, expected such as 5%"
            ) from None
        if not 0.0 < value < 1.0:
            raise InputError(
                f"--downtime: {each.strip()!r} is out of bounds, expected more than 0 and less than 100%"
            )
        found.append(value)
    return tuple(found)


def node_of(telemetry: Telemetry, asked: Asked, before: Telemetry | None) -> Node:
    """A node of what was measured: policies begin on what came before, or on the first fifth.

    Raises
    ------
    InputError
        There is no such column, or what came before has other metrics.

    Examples
    --------
    >>> rows = Telemetry("here", np.arange(10.0), ("cpu_ready",), np.arange(10.0)[:, None])
    >>> node = node_of(rows, Asked("cpu_ready", "p50", (0.05,)), None)
    >>> node.warm, node.level, node.told
    (2, 4.5, 0.5)
    """
    if before is None:
        ready = telemetry.of(asked.spikes)
        warm = int(_WARM * len(ready))
        level = level_of(ready, asked.threshold)
        told = level_of(ready[: max(warm, 1)], asked.threshold)
        return Node(telemetry.values, ready, level, told, warm, _busy(telemetry))
    if before.names != telemetry.names:
        other = set(before.names) ^ set(telemetry.names)
        raise InputError(
            f"{before.source}: has other metrics than {telemetry.source}: {', '.join(sorted(other)[:4])}"
        )
    both = Telemetry(
        telemetry.source,
        np.concatenate([before.time, telemetry.time]),
        telemetry.names,
        np.concatenate([before.values, telemetry.values]),
    )
    level = level_of(before.of(asked.spikes), asked.threshold)
    return Node(both.values, both.of(asked.spikes), level, level, len(before), _busy(both))


def _busy(telemetry: Telemetry) -> np.ndarray | None:
    return telemetry.of(BUSY) if BUSY in telemetry.names else None


def evaluate(
    nodes: Sequence[Node], asked: Asked, progress: Callable[[str, float], None] | None = None
) -> list[Judged]:
    """All candidates on all nodes; ``progress`` is told who is next, and the share that is done."""
    svm = importlib.util.find_spec("sklearn") is not None
    listed = list(candidates(asked.downtimes, busy=all(node.busy is not None for node in nodes), svm=svm))
    found = []
    for place, candidate in enumerate(listed):
        if progress is not None:
            progress(candidate.label, place / len(listed))
        rng = np.random.default_rng([asked.seed, place])
        found.append(judge(POLICIES, candidate, nodes, rng, within=asked.within, apart=asked.apart))
    return found


def evaluate_command(
    files: Sequence[Path],
    asked: Asked,
    *,
    before: Path | None,
    as_json: bool,
    report: Path | None,
) -> None:
    """Read, evaluate, print."""
    if before is not None and len(files) > 1:
        raise InputError(f"--before: {before} is of one machine, found {len(files)} files to judge on")
    number("--within", asked.within, 1.0), number("--apart", asked.apart, 1.0)
    earlier = None if before is None else read_telemetry(before)
    nodes = [node_of(read_telemetry(file), asked, earlier) for file in files]
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=1.0)
        found = evaluate(
            nodes, asked, lambda name, share: bar.update(task, description=name, completed=share)
        )
    if as_json:
        sys.stdout.write(json.dumps([_row(each) for each in found], allow_nan=False) + "\n")
    else:
        Console().print(*tables_of(found))
    if report is not None:
        report.write_text(_page(files, found, asked.within), encoding="utf-8")


def _row(judged: Judged) -> dict[str, object]:
    """One candidate as JSON has it; what is not known is null, and intervals are of 95 %."""
    found = {"policy": judged.candidate.label, "asked_downtime": judged.candidate.downtime}
    found |= asdict(judged.quality) | {f"{name}_95": pair for name, pair in asdict(judged.intervals).items()}
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


HEADS = (
    "policy", "asked", "downtime", "recall", "chance", "shifted", "over shifted", "ahead", "precision", "lead",
    "left", "right",
)  # fmt: skip


def cells(judged: Judged) -> tuple[str, ...]:
    """One candidate as a row of :data:`HEADS`."""
    of, found, sure = judged.candidate, judged.quality, judged.intervals
    lift = found.ahead / found.downtime if found.downtime else math.nan
    return (
        of.label,
        "–" if math.isnan(of.downtime) else f"{of.downtime:.0%}",
        f"{found.downtime:.1%}",
        f"{found.recall:.2f} ({sure.recall[0]:.2f}–{sure.recall[1]:.2f})",
        f"{found.by_chance:.2f}",
        f"{found.shifted:.2f}",
        f"{sure.over_shifted[0]:+.2f} to {sure.over_shifted[1]:+.2f}",
        f"{lift:.2f} ({sure.lift[0]:.2f}–{sure.lift[1]:.2f})",
        f"{found.precision:.2f}",
        f"{found.lead:.1f}",
        str(found.left),
        str(found.right),
    )


#: Which columns of :data:`HEADS` are in the first table for the terminal, and which in the second.
_TABLES = ((0, 2, 3, 4, 5, 7), (0, 6, 8, 9, 10, 11))


def tables_of(found: Sequence[Judged]) -> list[Table]:
    """All candidates in two tables for the terminal, those of one downtime below each other."""
    onsets = found[0].quality.onsets if found else 0
    tables = []
    for place, columns in enumerate(_TABLES):
        table = Table(box=SIMPLE, title=f"{onsets} onsets" if place == 0 else None, title_justify="left")
        for column in columns:
            table.add_column(HEADS[column], no_wrap=column > 0)
        last = math.nan
        for each in found:
            if each.candidate.downtime != last and not math.isnan(each.candidate.downtime):
                table.add_section()
                table.add_row(f"[bold]at {each.candidate.downtime:.0%} downtime")
            last = each.candidate.downtime
            own = cells(each)
            table.add_row(*(own[column] for column in columns))
        tables.append(table)
    return tables


def _page(files: Sequence[Path], found: Sequence[Judged], within: int) -> str:
    title = "What signals foresee of " + ", ".join(file.name for file in files[:3])
    heads = "".join(f"<th>{text(head)}</th>" for head in HEADS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in cells(each)) + "</tr>" for each in found
    )
    head = f"<header><h1>{text(title)}</h1><p class='lead'>{found[0].quality.onsets} onsets of spikes.</p></header>"
    table = (
        f'<section><h2>Recall beside chance</h2><div class="scroll"><table class="claims"><thead><tr>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div></section>"
    )
    drawn = part(recalls(found, within))
    return page(title, [Part(head), Part(table), Part(f"<section>{drawn.html}</section>", drawn.plots)])


def recalls(found: Sequence[Judged], within: int) -> Picture:
    """Recall over downtime, a line a policy, and chance."""
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
