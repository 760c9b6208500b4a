"""``windlass admit evaluate``: how well policies predict spikes in recorded telemetry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from windlass.admit.evaluation import Judged, NodeTelemetry
from windlass.admit.evaluation.recordings import EvaluationOptions, evaluate, evaluate_apart, node_of
from windlass.cli.admit.compared import best_signals, verdicts_of
from windlass.cli.admit.output import JudgedRecording, page_of, row_of, tables_of
from windlass.cli.output import check_report, print_lines, print_tables, write_json, write_report
from windlass.cli.progress import progress_rows
from windlass.io.traces.telemetry import read_telemetry
from windlass.model import InputError
from windlass.model.values import number

#: More steps than any recording has.
_MANY = 2**31


def shares(given: str) -> tuple[float, ...]:
    """Return downtimes as shares of time, read from the option.

    Raises
    ------
    InputError
        A downtime is not a share of time.

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
                f"--downtime: {each.strip()!r} is not a share of time, expected a number or a percentage such as 5%"
            ) from None
        if not 0.0 < value < 1.0:
            raise InputError(
                f"--downtime: {each.strip()!r} is out of bounds, expected more than 0 and less than 100%"
            )
        found.append(value)
    return tuple(found)


def evaluate_command(
    files: Sequence[Path],
    options: EvaluationOptions,
    *,
    before: Path | None,
    as_json: bool,
    report: Path | None,
) -> None:
    """Evaluate policies on recordings and print the results, for each recording if ``before`` is given, and for all."""
    options = _at_most(options, _MANY)
    number("--within", options.within, 1.0), number("--apart", options.apart, 1.0)
    check_report(report, (*files, *(() if before is None else (before,))))
    earlier = None if before is None else read_telemetry(before)
    nodes = [node_of(read_telemetry(file), options, earlier) for file in files]
    # More steps than a recording has are the same as all of its steps.
    options = _at_most(options, max(len(node.metrics) for node in nodes))
    with progress_rows() as rows:
        update = rows.row("")

        def progress(name: str, share: float) -> None:
            update(name, share, 1.0)

        if before is not None and len(files) > 1:
            found, *own = evaluate_apart(nodes, options, progress)
        else:
            found, own = evaluate(nodes, options, progress), []
    each = [
        JudgedRecording(file.name, lead_of([node], options, judged, before), judged)
        for file, node, judged in zip(files, nodes, own, strict=False)
    ]
    title = "Prediction of spikes: " + ", ".join(file.name for file in files[:3])
    whole = JudgedRecording(title, lead_of(nodes, options, found, before), found)
    if report is not None:
        write_report(report, page_of(whole, each, options.within))
    if as_json:
        write_json(_rows(whole, each))
        return
    for part in each:
        _print(part, f"{part.name}: ")
    _print(whole, "All recordings: " if each else "")


def _at_most(options: EvaluationOptions, steps: int) -> EvaluationOptions:
    """Return the options with at most this many steps before an onset."""
    return replace(options, within=min(options.within, steps), apart=min(options.apart, steps))


def _rows(whole: JudgedRecording, each: Sequence[JudgedRecording]) -> list[dict[str, object]]:
    """Return rows for JSON; with several recordings, each row names its file, or null for all together."""
    if not each:
        return [row_of(judged, whole.found) for judged in whole.found]
    parts = [*((part.name, part.found) for part in each), (None, whole.found)]
    return [{"file": name, **row_of(judged, found)} for name, found in parts for judged in found]


def _print(part: JudgedRecording, name: str) -> None:
    print_lines([f"{name}{part.lead}"], wrap=True)
    print_tables(*tables_of(part.found))
    print_lines(verdicts_of(part.found), wrap=True)


def lead_of(
    nodes: Sequence[NodeTelemetry],
    options: EvaluationOptions,
    found: Sequence[Judged],
    before: Path | None,
) -> str:
    """Return the best signals, then what is judged: the onsets, and what counts as an onset and as a prediction."""
    every = list(dict.fromkeys(f"{node.level:.3g}" for node in nodes))
    levels = ", ".join(every[:3]) + (", …" if len(every) > 3 else "")
    part = "the first fifth" if before is None else before.name
    of = "" if not options.threshold.startswith("p") else f" ({options.threshold} of {part})"
    steps = sum(len(node.ready) - node.warm for node in nodes)
    best = "".join(f"{each} " for each in best_signals(found))
    return (
        f"{best}{found[0].quality.onsets if found else 0:,} onsets in {steps:,} steps. An onset is {options.spikes} of "
        f"{levels}{of} or more after {options.apart} steps below. It is predicted if the signal is raised 1 to "
        f"{options.within} steps before."
    )
