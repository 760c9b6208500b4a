"""``windlass list`` and ``windlass trace``."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

from windlass.cli.terminal import terminal
from windlass.experiment.workloads.load import offered_load
from windlass.experiment.worlds import worlds
from windlass.io.traces import FORMATS, Trace, Workload, read_trace, to_workload
from windlass.model import JobTable
from windlass.policy.registry import decisions


def list_command() -> None:
    """Print decisions and when each is asked, their policies, worlds, formats."""
    console = terminal()
    questions = Table(
        "decision", "in a scenario", "question", "asked when", title="Decisions", title_justify="left"
    )
    policies = Table("decision", "policy", "what it does", title="Policies", title_justify="left")
    for registry in decisions():
        questions.add_row(registry.decision, f"policies.{registry.key}", registry.question, registry.upon)
        for name in registry.names():
            policies.add_row(registry.decision, name, _first_sentence(registry.find(name)))
        policies.add_section()
    formats = Table("format", "files", "what it is", title="Log formats", title_justify="left")
    for known in FORMATS:
        formats.add_row(known.name, ", ".join(known.suffixes), known.summary)
    places = Table("world", "decisions", "what it is", title="Worlds", title_justify="left")
    for world in worlds():
        places.add_row(
            world.name, ", ".join(registry.decision for registry in world.decisions), world.summary
        )
    for table in (questions, policies, places, formats):
        console.print(table)


def _first_sentence(thing: object) -> str:
    text = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".") + "."


@dataclass(frozen=True, slots=True)
class Description:
    """A log in numbers: times in s, ``load`` is processor-seconds asked for over those there were."""

    name: str
    records: int
    bad_lines: int
    jobs: int
    processors: int
    first_submit_s: float
    last_submit_s: float
    load: float
    mean_interarrival_s: float
    serial_share: float
    mean_procs: float
    largest_procs: int
    mean_run_s: float
    median_run_s: float
    longest_run_s: float
    mean_request_over_run: float
    over_request: int


def describe(trace: Trace, workload: Workload) -> Description:
    """Describe the jobs of a log that can be scheduled."""
    jobs: JobTable = workload.jobs
    span = float(jobs.submit[-1] - jobs.submit[0])
    some = jobs.run > 0
    ratio = float((jobs.request[some] / jobs.run[some]).mean()) if some.any() else 0.0
    return Description(
        name=trace.name,
        records=len(trace.records),
        bad_lines=len(trace.bad_lines),
        jobs=len(jobs),
        processors=workload.processors,
        first_submit_s=float(jobs.submit[0]),
        last_submit_s=float(jobs.submit[-1]),
        load=offered_load(jobs, workload.processors) if span > 0 else 0.0,
        mean_interarrival_s=span / max(len(jobs) - 1, 1),
        serial_share=float((jobs.procs == 1).mean()),
        mean_procs=float(jobs.procs.mean()),
        largest_procs=int(jobs.procs.max()),
        mean_run_s=float(jobs.run.mean()),
        median_run_s=float(np.median(jobs.run)),
        longest_run_s=float(jobs.run.max()),
        mean_request_over_run=ratio,
        over_request=int((jobs.run > jobs.request).sum()),
    )


def trace_command(
    file: Path, procs: int | None, skip_bad_lines: bool, format_: str | None = None, *, as_json: bool
) -> None:
    """Print a description."""
    trace = read_trace(file, format_, skip_bad_lines)
    workload = to_workload(trace, procs)
    description = describe(trace, workload)
    if as_json:
        tree = asdict(description) | {
            "notes": list(workload.notes),
            "bad": [asdict(bad) for bad in trace.bad_lines],
        }
        sys.stdout.write(json.dumps(tree, allow_nan=False) + "\n")
        return
    console = terminal()
    table = Table(show_header=False, title=str(file), title_justify="left")
    for name, value in asdict(description).items():
        table.add_row(
            name, f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if name != "name" else value
        )
    console.print(table)
    for note in workload.notes:
        console.print(f"note: {note}")
    for bad in trace.bad_lines[:20]:
        console.print(f"line {bad.line}: {bad.reason}")
