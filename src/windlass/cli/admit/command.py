"""``windlass admit evaluate``: what signals foresee on a machine's telemetry."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from windlass.admit import POLICIES
from windlass.admit.evaluation import (
    Judged,
    NodeTelemetry,
    PolicyCandidate,
    candidates,
    judge,
    judge_apart,
    later,
    level_of,
    tuned,
)
from windlass.cli.admit.compared import verdicts_of
from windlass.cli.admit.output import JudgedRecording, page_of, row_of, tables_of
from windlass.cli.terminal import terminal
from windlass.io import check_file, write_text
from windlass.io.traces.telemetry import Telemetry, read_telemetry
from windlass.io.traces.telemetry.recorded import BUSY
from windlass.model import InputError
from windlass.model.values import number
from windlass.report import BEGINS

#: Without earlier telemetry, policies begin in this share of it, and are not judged there.
_WARM = 0.2


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
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


def node_of(telemetry: Telemetry, asked: EvaluationOptions, before: Telemetry | None) -> NodeTelemetry:
    """A node of what was measured: policies begin on what came before, or on the first fifth.

    What a spike is, that part alone says: nothing of what is judged is known before.

    Raises
    ------
    InputError
        There is no such column, or what came before has other metrics.

    Examples
    --------
    >>> rows = Telemetry("here", np.arange(10.0), ("cpu_ready",), np.arange(10.0)[:, None])
    >>> node = node_of(rows, EvaluationOptions("cpu_ready", "p50", (0.05,)), None)
    >>> node.warm, node.level, node.told
    (2, 0.5, 0.5)
    """
    if before is None:
        ready = telemetry.of(asked.spikes)
        warm = int(_WARM * len(ready))
        level = level_of(ready[: max(warm, 1)], asked.threshold)
        return NodeTelemetry(telemetry.values, ready, level, level, warm, _busy(telemetry))
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
    return NodeTelemetry(both.values, both.of(asked.spikes), level, level, len(before), _busy(both))


def _busy(telemetry: Telemetry) -> np.ndarray | None:
    return telemetry.of(BUSY) if BUSY in telemetry.names else None


def evaluate(
    nodes: Sequence[NodeTelemetry],
    asked: EvaluationOptions,
    progress: Callable[[str, float], None] = lambda name, share: None,
) -> list[Judged]:
    """All candidates on all nodes; ``progress`` is told who is next, and the share that is done.

    Among them is the Pronto that is best on what came before, where there were enough onsets to choose by.
    """
    found = []
    for candidate, rng in _listed(nodes, asked, progress):
        found.append(judge(POLICIES, candidate, nodes, rng, within=asked.within, apart=asked.apart))
    return _in_order(found, asked)


def evaluate_apart(
    nodes: Sequence[NodeTelemetry],
    asked: EvaluationOptions,
    progress: Callable[[str, float], None] = lambda name, share: None,
) -> list[list[Judged]]:
    """As :func:`evaluate` on all nodes, and then on each by itself, of the same signals.

    Who draws at random draws on from node to node.
    """
    rows = []
    for candidate, rng in _listed(nodes, asked, progress):
        rows.append(judge_apart(POLICIES, candidate, nodes, rng, within=asked.within, apart=asked.apart))
    return [_in_order(column, asked) for column in zip(*rows, strict=True)]


def _in_order(found: Iterable[Judged], asked: EvaluationOptions) -> list[Judged]:
    """Those without a downtime first, then one downtime after the other."""
    place = {downtime: at for at, downtime in enumerate(asked.downtimes)}
    return sorted(found, key=lambda each: place.get(each.candidate.downtime, -1))


def _listed(
    nodes: Sequence[NodeTelemetry], asked: EvaluationOptions, progress: Callable[[str, float], None]
) -> Iterator[tuple[PolicyCandidate, np.random.Generator]]:
    """Who is judged, each with a generator of its own; whoever runs them is told of in between."""
    svm = importlib.util.find_spec("sklearn") is not None
    listed = list(candidates(asked.downtimes, busy=all(node.busy is not None for node in nodes), svm=svm))
    for place, downtime in enumerate(asked.downtimes):
        progress("which Pronto is best on what came before", 0.4 * place / len(asked.downtimes))
        rng = np.random.default_rng(asked.seed)
        best = tuned(POLICIES, nodes, downtime, rng, within=asked.within, apart=asked.apart)
        if best is not None:
            last = max(at for at, each in enumerate(listed) if each.downtime == downtime)
            listed.insert(last, best)
    listed += later(asked.downtimes)
    for place, candidate in enumerate(listed):
        progress(candidate.label, 0.4 + 0.6 * place / len(listed))
        yield candidate, np.random.default_rng([asked.seed, place])


def evaluate_command(
    files: Sequence[Path],
    asked: EvaluationOptions,
    *,
    before: Path | None,
    as_json: bool,
    report: Path | None,
) -> None:
    """Read, evaluate, write, print; several files after the same one are told of one by one, and then all together."""
    number("--within", asked.within, 1.0), number("--apart", asked.apart, 1.0)
    if report is not None:
        check_file("--report", report, (*files, *(() if before is None else (before,))), BEGINS)
    earlier = None if before is None else read_telemetry(before)
    nodes = [node_of(read_telemetry(file), asked, earlier) for file in files]
    apart = before is not None and len(files) > 1
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        console=terminal(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=1.0)

        def progress(name: str, share: float) -> None:
            bar.update(task, description=name, completed=share)

        found, *own = evaluate_apart(nodes, asked, progress) if apart else [evaluate(nodes, asked, progress)]
    each = [
        JudgedRecording(file.name, told([node], asked, judged, before), judged)
        for file, node, judged in zip(files, nodes, own, strict=False)
    ]
    title = "What signals foresee of " + ", ".join(file.name for file in files[:3])
    whole = JudgedRecording(title, told(nodes, asked, found, before), found)
    if report is not None:
        write_text(page_of(whole, each, asked.within), report)
    if as_json:
        sys.stdout.write(json.dumps(_rows(whole, each), allow_nan=False) + "\n")
    else:
        _print(whole, each)


def _rows(whole: JudgedRecording, each: Sequence[JudgedRecording]) -> list[dict[str, object]]:
    """Rows as JSON has them; of several files, each says of which it is, and those of all have null there."""
    if not each:
        return [row_of(judged, whole.found) for judged in whole.found]
    parts = [*((part.name, part.found) for part in each), (None, whole.found)]
    return [{"file": name, **row_of(judged, found)} for name, found in parts for judged in found]


def _print(whole: JudgedRecording, each: Sequence[JudgedRecording]) -> None:
    console = terminal()
    for part in each:
        _print_part(console, part, f"{part.name}: ")
    _print_part(console, whole, "All together: " if each else "")


def _print_part(console: Console, part: JudgedRecording, name: str) -> None:
    console.print(f"{name}{part.lead}", markup=False)
    console.print(*tables_of(part.found))
    console.print("\n".join(verdicts_of(part.found)))


def told(
    nodes: Sequence[NodeTelemetry], asked: EvaluationOptions, found: Sequence[Judged], before: Path | None
) -> str:
    """What is judged, in a sentence."""
    every = list(dict.fromkeys(f"{node.level:.3g}" for node in nodes))
    levels = ", ".join(every[:3]) + (", …" if len(every) > 3 else "")
    of = "" if not asked.threshold.startswith("p") else f" ({asked.threshold} of {_before(before)})"
    steps = sum(len(node.ready) - node.warm for node in nodes)
    return (
        f"{found[0].quality.onsets if found else 0} onsets in {steps} steps: {asked.spikes} of {levels}{of} or more, "
        f"after {asked.apart} steps below. One is foreseen by a raise 1 to {asked.within} steps before."
    )


def _before(before: Path | None) -> str:
    return "the first fifth" if before is None else before.name
