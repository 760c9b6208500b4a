"""``windlass run``."""

from __future__ import annotations

import contextlib
import sys
from importlib import resources
from pathlib import Path

import yaml
from rich.console import Console

from windlass.cli.json_text import results_json
from windlass.cli.overrides import Overrides, overridden
from windlass.cli.progress import progress_bar
from windlass.cli.signals import stopped_by_signals
from windlass.engines.targets import Executors, Target, executors
from windlass.model import InputError
from windlass.report import metrics_table, write_report
from windlass.results import Results
from windlass.runner import describe_live, run
from windlass.scenario import Scenario, load_tree, make_scenario
from windlass.traces.files import stem

_VERBS = frozenset({"start", "stop", "use", "run", "pass", "leave"})
DEFAULT_POLICIES = ["fcfs", "sjf", "easy", "conservative"]


def run_command(
    target: str | None,
    overrides: Overrides,
    *,
    jobs: int,
    out: Path | None,
    report: Path | None,
    as_json: bool,
    live: Target | None = None,
    dry_run: bool = False,
) -> None:
    """Run, print, save."""
    scenario = scenario_of(target, overrides)
    _check_writable(out, report)
    on = None if live is None else executors(live)
    if dry_run:
        _describe(scenario, on)
        return
    # Some engines print warnings to standard output, where the results go.
    with progress_bar() as shown, stopped_by_signals(on is not None), contextlib.redirect_stdout(sys.stderr):
        results = run(scenario, jobs=jobs, report=shown.running, executors=on, compiling=shown.compiling)
    _show(results, as_json)
    said = Console(stderr=True, highlight=False, soft_wrap=True)
    if out is not None:
        results.save(out)
        said.print(f"Tables and the scenario as run are in {out}", markup=False)
    if report is not None:
        write_report(results, report)
        said.print(f"The report is {report}", markup=False)


def _describe(scenario: Scenario, on: Executors | None) -> None:
    if on is None:
        raise InputError(
            "--dry-run: says what a live engine would be asked to do, expected --engine beside it"
        )
    try:
        for line in describe_live(scenario, on):
            print(f"would {line}" if line.split()[0] in _VERBS else f"  {line}")
    finally:
        on.close()
    print("Nothing was started.")


def scenario_of(target: str | None, overrides: Overrides) -> Scenario:
    """The scenario that a target and the options mean.

    >>> scenario_of(None, Overrides(policies="easy")).name
    'lublin'
    """
    if target is None:
        bundled = resources.files("windlass.cli") / "lublin.yaml"
        tree, source, folder = yaml.safe_load(bundled.read_text(encoding="utf-8")), "lublin", Path()
    elif Path(target).suffix in (".yaml", ".yml"):
        tree, source, folder = load_tree(Path(target)), target, Path(target).parent
    else:
        tree = {
            "name": stem(Path(target)),
            "workload": {"trace": target},
            "policies": {"order": DEFAULT_POLICIES},
        }
        source, folder = target, Path()
    return make_scenario(overridden(tree, overrides), source, folder)


def _check_writable(out: Path | None, report: Path | None) -> None:
    """Say that a result cannot be written before the work, not after it."""
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out: {out} is a file, expected a folder")
    if report is not None and not report.absolute().parent.is_dir():
        raise InputError(f"--report: the folder {report.absolute().parent} does not exist")
    if report is not None and report.is_dir():
        raise InputError(f"--report: {report} is a folder, expected a file")


def _show(results: Results, as_json: bool) -> None:
    said = Console(stderr=True, highlight=False, soft_wrap=True)
    for note in results.notes():
        said.print(f"note: {note}", markup=False)
    if as_json:
        sys.stdout.write(results_json(results) + "\n")
    else:
        console = Console()
        console.print(metrics_table(results, console.width))
