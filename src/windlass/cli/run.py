"""``windlass run``: parse, run the experiment, print."""

from __future__ import annotations

from pathlib import Path

import yaml

from windlass.cli.answer import AnswerOptions
from windlass.cli.option_checks import check_together
from windlass.cli.overrides import Overrides, scenario_of
from windlass.cli.progress import progress_bar
from windlass.cli.results import print_results
from windlass.cli.signals import stopped_by_signals
from windlass.cli.stderr_capture import errors_apart
from windlass.cli.terminal import terminal
from windlass.engines.targets import Target, executors
from windlass.experiment.checkpoint import files_of
from windlass.experiment.experiment import Experiment, Folder, Workers
from windlass.experiment.judged import JudgedResults
from windlass.experiment.scenario import Scenario
from windlass.experiment.scenario.files import code_in
from windlass.io import check_file
from windlass.model.text import printable
from windlass.policy.user_code import contained
from windlass.report import BEGINS

_VERBS = frozenset({"start", "stop", "use", "run", "pass", "leave"})


def run_command(
    target: str | None,
    overrides: Overrides,
    *,
    code: bool = True,
    by: Workers,
    out: Path | None,
    report: Path | None,
    as_json: bool,
    live: Target | None = None,
    dry_run: bool = False,
    force: bool = False,
    resume: bool = False,
    asked: AnswerOptions | None = None,
) -> None:
    """Run, print, save."""
    asked = asked or AnswerOptions()
    # Policies may print, and some engines do: standard output is for results alone.
    with contained():
        scenario = scenario_of(target, overrides, code=code)
        check_together(asked, by, out, live is not None, as_json=as_json, force=force, resume=resume)
        engines = None if live is None else executors(live)
        folder = None if out is None else Folder(out, force, resume)
        experiment = Experiment(
            scenario,
            by=asked.by,
            require=asked.require,
            workers=by,
            live=engines,
            folder=folder,
            check=asked.check,
        )
        if report is not None:
            inputs = {Path(target)} if target is not None else set()
            check_file("--report", report, inputs | files_of(scenario.as_run), BEGINS)
        described = (*_imported(scenario), *_described(experiment)) if dry_run else None
        results = None if dry_run else _run(experiment, live is not None or by.on is not None)
    if described is not None:
        print("\n".join(map(printable, described)))
    if results is not None:
        print_results(results, asked, out, report, as_json=as_json)


def _run(experiment: Experiment, starts_something: bool) -> JudgedResults:
    try:
        with (
            stopped_by_signals(starts_something),
            errors_apart("Ray", starts_something),
            progress_bar() as shown,
        ):
            return experiment.run(shown.running, shown.compiling)
    finally:
        kept = experiment.unfinished()
        if kept is not None:
            count, total = kept
            terminal(stderr=True, soft_wrap=True).print(
                f"{count} of {total} runs are kept; the same command with --resume goes on"
            )


def _imported(scenario: Scenario) -> tuple[str, ...]:
    named = sorted(set(code_in(yaml.safe_load(scenario.as_run))))
    return tuple(f"{each} was imported, to see what it is; --no-code would refuse" for each in named)


def _described(experiment: Experiment) -> tuple[str, ...]:
    lines = [f"would {line}" if line.split()[0] in _VERBS else f"  {line}" for line in experiment.describe()]
    return (*lines, "Nothing was started.")
