"""``windlass run``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import yaml
from rich.console import Console
from rich.text import Text

from windlass.cli.answer import Answer, Asked, answer_to, verdict_tree
from windlass.cli.json_text import results_json
from windlass.cli.overrides import Overrides, overridden
from windlass.cli.progress import progress_bar
from windlass.cli.signals import stopped_by_signals
from windlass.cli.stderr_capture import errors_apart
from windlass.cli.terminal import terminal
from windlass.engines.targets import Executors, Target, executors
from windlass.engines.worker_pool import Crews, crews_on
from windlass.experiment.checkpoint import Kept, begin, files_of
from windlass.experiment.checkpoint import resume as resumed
from windlass.experiment.recorded import AsItWas
from windlass.experiment.runner import describe_live, run
from windlass.experiment.scenario import Scenario, load_tree, make_scenario
from windlass.experiment.scenario.files import code_in
from windlass.io import Claim, check_file, claimed
from windlass.io.traces.files import stem
from windlass.model import InputError
from windlass.model.text import printable
from windlass.policy.user_code import contained
from windlass.report import BEGINS, metrics_table, write_report
from windlass.results import AS_IT_WAS, FILES, Results
from windlass.results.verdict import Requirement, check_names, parse_requirements

_VERBS = frozenset({"start", "stop", "use", "run", "pass", "leave"})
#: Wider than any table.
_WIDE = 10_000
DEFAULT_POLICIES = ["fcfs", "sjf", "easy", "conservative"]


@dataclass(frozen=True, slots=True)
class By:
    """Who runs the cells: so many processes, or a Ray cluster (``on``), a private one of so many nodes."""

    jobs: int = 1
    on: str | None = None
    nodes: int = 1

    def crews(self, scenario: Scenario) -> Crews | None:
        """The crew on Ray, where one is asked for; nothing is started yet."""
        return None if self.on is None else crews_on(self.on, self.nodes, sorted(files_of(scenario.as_run)))


def run_command(
    target: str | None,
    overrides: Overrides,
    *,
    code: bool = True,
    by: By,
    out: Path | None,
    report: Path | None,
    as_json: bool,
    live: Target | None = None,
    dry_run: bool = False,
    force: bool = False,
    resume: bool = False,
    asked: Asked | None = None,
) -> None:
    """Run, print, save."""
    asked = asked or Asked()
    # Policies may print, and some engines do: standard output is for results alone.
    with contained():
        scenario = scenario_of(target, overrides, code=code)
        required = _required(scenario, asked)
        if as_json and asked.csv:
            raise InputError("--csv: --json is given as well, expected one of the two")
        if out is None and (force or resume):
            raise InputError(
                f"{'--resume' if resume else '--force'}: is about the folder of --out, which is missing"
            )
        if report is not None:
            inputs = {Path(target)} if target is not None else set()
            check_file("--report", report, inputs | files_of(scenario.as_run), BEGINS)
        on = None if live is None else executors(live)
        if by.on is not None and (on is not None or by.jobs > 1):
            raise InputError(
                f"--on: {'--engine' if on is not None else '--jobs'} is given as well, expected one of the two"
            )
        crews = by.crews(scenario)
        said = terminal(stderr=True, soft_wrap=True)
        described = (*_imported(scenario), *_described(scenario, on)) if dry_run else None
        if described is None:
            place = nullcontext() if out is None else claimed(out, "--out", FILES, replace=force)
            with place as claim:
                kept = None if claim is None else _kept(claim, scenario, resume=resume, force=force)
                try:
                    live_or_ray = on is not None or crews is not None
                    with (
                        stopped_by_signals(live_or_ray),
                        errors_apart("Ray", live_or_ray),
                        progress_bar() as shown,
                    ):
                        results = run(scenario, by.jobs, shown.running, on, shown.compiling, kept, crews)
                    if claim is not None:
                        claim.fill(results.save)
                finally:
                    _say_kept(kept, scenario, said)

            check = asked.check

            def uncut() -> Results | None:
                return _uncut(target, overrides, scenario, by) if check and on is None else None

            answer = answer_to(results, asked.by, required, uncut)
    if described is not None:
        for line in described:
            print(printable(line))
        return
    try:
        _show(results, answer, asked, as_json)
    finally:
        # Also where nobody reads to the end what is shown, as `| head` does.
        if out is not None:
            said.print(f"Tables and the scenario as run are in {out}")
        if report is not None:
            write_report(
                results, report, answer.said, None if answer.verdict is None else answer.verdict.metric
            )
            said.print(f"The report is {report}")


def _line(text: str) -> str:
    return printable(text) + "\n"


def _required(scenario: Scenario, asked: Asked) -> tuple[Requirement, ...]:
    """What a winner must keep; wrong names are said before anything is run."""
    names = [variant.name.removesuffix(f", {variant.point}") for variant in scenario.variants]
    if scenario.world.logged is not None:
        names.append(AS_IT_WAS)
    required = () if asked.require is None else parse_requirements(asked.require, names)
    check_names(scenario.world.metrics, asked.by, required)
    for each in required:
        if each.variant == AS_IT_WAS and not AsItWas(scenario).known():
            raise InputError(
                f"--require: {each.text!r}: nothing says when the jobs started, so there is no row {AS_IT_WAS!r}"
            )
    return required


def _kept(claim: Claim, scenario: Scenario, *, resume: bool, force: bool) -> Kept:
    """Where cells are kept while the run goes on."""
    if resume:
        return resumed(claim.partial, scenario.as_run)
    if claim.partial.is_dir() and not force:
        raise InputError(
            f"--out: {claim.place} was begun and not finished; --resume goes on, and --force begins anew"
        )
    return begin(claim.partial, scenario.as_run)


def _say_kept(kept: Kept | None, scenario: Scenario, said: Console) -> None:
    """Where results did not come to their place, say what can be gone on with; where that is nothing, leave nothing."""
    if kept is None or not kept.folder.is_dir():
        return
    count, total = kept.count(), len(scenario.variants) * len(scenario.seeds)
    if count == 0:
        kept.discard()
        return
    said.print(f"{count} of {total} runs are kept; the same command with --resume goes on")


def _imported(scenario: Scenario) -> tuple[str, ...]:
    named = sorted(set(code_in(yaml.safe_load(scenario.as_run))))
    return tuple(
        f"{printable(each)} was imported, to see what it is; --no-code would refuse" for each in named
    )


def _described(scenario: Scenario, on: Executors | None) -> tuple[str, ...]:
    if on is None:
        raise InputError(
            "--dry-run: says what a live engine would be asked to do, expected --engine beside it"
        )
    try:
        found = describe_live(scenario, on)
    finally:
        on.close()
    lines = [f"would {line}" if line.split()[0] in _VERBS else f"  {line}" for line in found]
    return (*lines, "Nothing was started.")


def scenario_of(target: str | None, overrides: Overrides, *, code: bool = True) -> Scenario:
    """The scenario that a target and the options mean; without ``code`` one that names a policy file is refused.

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
    tree = overridden(tree, overrides)
    named = [] if code else code_in(tree)
    if named:
        raise InputError(f"--no-code: {source} names {named[0]}, which would be imported; nothing of it was")
    return make_scenario(tree, source, folder)


def _uncut(target: str | None, overrides: Overrides, scenario: Scenario, by: By) -> Results | None:
    """The same scenario with no job stopped at its requested time; None where the scenario sweeps just that."""
    other = scenario_of(target, replace(overrides, no_kill=True))
    if [variant.name for variant in other.variants] != [variant.name for variant in scenario.variants]:
        return None
    crews = by.crews(other)
    with (
        stopped_by_signals(crews is not None),
        errors_apart("Ray", crews is not None),
        progress_bar() as shown,
    ):
        return run(other, by.jobs, shown.running, compiling=shown.compiling, crews=crews)


def _show(results: Results, answer: Answer, asked: Asked, as_json: bool) -> None:
    said = terminal(stderr=True, soft_wrap=True)
    for note in results.notes():
        said.print(f"note: {note}")
    if as_json:
        sys.stdout.write(results_json(results, verdict_tree(answer)) + "\n")
        return
    if asked.csv:
        # The sentences are for people: the table is all there is on standard output.
        for line in answer.said:
            said.print(line)
        table = results.metrics().write_csv()
        # A program is given every sign as it is, and a terminal none that steers it.
        sys.stdout.write("".join(map(_line, table.splitlines())) if sys.stdout.isatty() else table)
        return
    console = terminal()
    for number, line in enumerate(answer.said):
        # In a pipe a sentence is a line, so that the first line is the answer.
        console.print(Text(line, "bold" if number == 0 else ""), soft_wrap=not console.is_terminal)
    if answer.said:
        console.print()
    width = _WIDE if asked.wide else console.width
    (terminal(width=width) if asked.wide else console).print(metrics_table(results, width))
