"""``windlass run``: parse the options, run the experiment, print the results."""

from __future__ import annotations

from pathlib import Path

import yaml

from windlass.cli.answer import AnswerOptions
from windlass.cli.option_checks import check_together
from windlass.cli.output import check_report, note, print_lines
from windlass.cli.overrides import Overrides, scenario_of
from windlass.cli.progress import run_progress
from windlass.cli.results import print_results
from windlass.cli.signals import stopped_by_signals
from windlass.cli.stderr_capture import errors_apart
from windlass.engines.targets import Target, executors
from windlass.experiment.checkpoint import files_of
from windlass.experiment.experiment import Experiment, Folder, Workers
from windlass.experiment.judged import JudgedResults
from windlass.experiment.scenario import Scenario
from windlass.experiment.scenario.files import code_in
from windlass.io.traces.pipes import is_pipe
from windlass.policy.user_code import contain_policies
from windlass.results.groups import check_division
from windlass.results.verdict.compare import reused_observations

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
    answer: AnswerOptions | None = None,
) -> None:
    """Run a scenario, and print and save its results."""
    answer = answer or AnswerOptions()
    with reused_observations():
        # Policies and engines may print; standard output is for results alone.
        with contain_policies():
            if answer.per is not None:
                check_division(answer.per)
            scenario = scenario_of(target, overrides, code=code)
            check_together(answer, by, out, live is not None, as_json=as_json, force=force, resume=resume)
            experiment = Experiment(
                scenario,
                by=answer.by,
                require=answer.require,
                workers=by,
                live=None if live is None else executors(live),
                folder=None if out is None else Folder(out, force, resume),
                check=answer.check,
            )
            if target is not None and out is not None and is_pipe(target):
                note("the log comes through a pipe and is not saved; explain and --resume need a file")
            inputs = {Path(target)} if target is not None else set()
            check_report(report, inputs | files_of(scenario.as_run))
            described = (*_imported(scenario), *_described(experiment)) if dry_run else None
            results = None if dry_run else _run(experiment, live is not None or by.on is not None)
        if described is not None:
            print_lines(described)
        if results is not None:
            print_results(results, answer, out, report, as_json=as_json)


def _run(experiment: Experiment, starts_something: bool) -> JudgedResults:
    try:
        with (
            stopped_by_signals(starts_something),
            errors_apart("Ray", starts_something),
            run_progress() as shown,
        ):
            return experiment.run(shown.running, shown.compiling)
    finally:
        unfinished = experiment.unfinished()
        if unfinished is not None:
            count, total = unfinished
            note(f"{count} of {total} runs are saved; the same command with --resume continues")


def _imported(scenario: Scenario) -> tuple[str, ...]:
    named = sorted(set(code_in(yaml.safe_load(scenario.as_run))))
    return tuple(f"imported {each} to check its policy; --no-code refuses to" for each in named)


def _described(experiment: Experiment) -> tuple[str, ...]:
    lines = [f"would {line}" if line.split()[0] in _VERBS else f"  {line}" for line in experiment.describe()]
    return (*lines, "Nothing was started.")
