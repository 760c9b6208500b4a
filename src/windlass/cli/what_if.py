"""``windlass what-if``: waits of the waiting jobs under other policies and sizes, of a log or of a journal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from windlass.cli.column_names import columns_given
from windlass.cli.output import print_lines, print_tables, write_json
from windlass.cli.policy_notation import split_policies
from windlass.cli.progress import counted_progress
from windlass.cli.when import policy_of
from windlass.control.journal import JournalReader, is_journal
from windlass.control.what_if import chosen_queue
from windlass.control.words import clock_text
from windlass.experiment.start_times.alternatives import WhatIf, alternatives_of, compare_alternatives
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.question import history_of
from windlass.experiment.start_times.sentences import what_if_sentences
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import read_trace, to_workload
from windlass.io.traces.pipes import as_file
from windlass.model import InputError
from windlass.report.units import number, time_unit


@dataclass(frozen=True, slots=True)
class WhatIfOptions:
    """A question about alternatives.

    Parameters
    ----------
    file
        A log or a journal.
    policies, procs
        The alternatives, as in ``sjf,saf`` and ``64,128``.
    without
        Names of machines that are removed; of a journal.
    policy
        The present policy of a log's site.
    at
        The instant, s; of a log.
    engine, site
        Of a journal.
    columns
        How a log is read.
    """

    file: Path
    policies: str | None = None
    procs: str | None = None
    without: str | None = None
    policy: str | None = None
    at: float | None = None
    engine: str | None = None
    site: str | None = None
    columns: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Present:
    history: SiteHistory
    at: float
    policy: PolicySpec
    when: str
    #: Processors that are left without the removed machines; None if none is removed.
    left: int | None
    #: Whether the history shows when jobs arrive.
    arrivals: bool


def what_if_command(given: WhatIfOptions, *, as_json: bool) -> None:
    """Compare the alternatives, and print the answer."""
    policies = [policy_of(each.strip()) for each in split_policies(given.policies)] if given.policies else []
    sizes = _sizes(given.procs)
    if not (policies or sizes or given.without):
        raise InputError("expected an alternative: --policies, --procs or --without")
    journal = given.file.suffix == ".db" or is_journal(given.file)
    present = _of_journal(given) if journal else _of_log(given)
    sizes += [] if present.left is None else [present.left]
    alternatives = alternatives_of(present.policy, present.history.workload.processors, policies, sizes)
    with counted_progress("replays") as update:
        found = compare_alternatives(
            present.history,
            present.at,
            present.policy,
            alternatives,
            arrivals=present.arrivals,
            progress=lambda done: update(done, done),
        )
    if as_json:
        write_json(
            {"at_s": found.at, "alternatives": found.table().to_dicts(), "jobs": found.by_job().to_dicts()}
        )
        return
    print_lines(what_if_sentences(found, present.when), wrap=True)
    if found.jobs:
        print_tables(_table(found))


def _of_journal(given: WhatIfOptions) -> _Present:
    if given.at is not None or given.policy is not None or given.columns:
        raise InputError("--at, --policy and --columns are for a log, and the file is a journal")
    with JournalReader(given.file) as reader:
        queue = chosen_queue(reader, given.engine, given.site)
    left = None if given.without is None else queue.without(given.without.split(","))
    when = f"at {queue.site or queue.engine}, {clock_text(queue.now)}"
    return _Present(queue.history, queue.now, queue.policy, when, left, arrivals=False)


def _of_log(given: WhatIfOptions) -> _Present:
    if given.engine or given.site or given.without:
        raise InputError("--engine, --site and --without are for a journal, and the file is a log")
    workload = to_workload(read_trace(as_file(given.file), columns=columns_given(given.columns)))
    policy = policy_of(given.policy or "easy")
    history = history_of(workload, policy, recorded=workload.wait is not None)
    at = float(workload.jobs.submit[-1]) if given.at is None else given.at
    if not math.isfinite(at):
        raise InputError(f"--at is {at}, expected a time in seconds")
    return _Present(history, at, policy, f"at {at:,.0f} s", None, arrivals=True)


def _sizes(text: str | None) -> list[int]:
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and 0 < int(part[:10]) < 10**9 for part in parts):
        raise InputError(f"--procs is {text!r}, expected numbers of processors such as 64,128")
    return [int(part) for part in parts]


def _table(found: WhatIf) -> Table:
    table = found.table()
    unit = time_unit([*table["wait_s"].to_list(), *table["change_s"].to_list()])
    title = f"Mean wait of the waiting jobs from now on ({unit.symbol})"
    shown = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for name in ("policy", "procs", "wait", "90 %", "change", "90 %", "sooner", "later", "never"):
        shown.add_column(name, justify="left" if name == "policy" else "right")

    def text(seconds: float) -> str:
        value = seconds * unit.factor
        return number(value, 0 if abs(value) >= 10 else 1)

    for place, row in enumerate(table.iter_rows()):
        policy, procs, wait, low, high, change, least, most, *counts = row
        by = ("–", "–") if place == 0 else (text(change), f"{text(least)} to {text(most)}")
        shown.add_row(
            policy,
            f"{procs:,}",
            text(wait),
            f"{text(low)} to {text(high)}",
            *by,
            *(f"{count:,}" for count in counts),
        )
    return shown
