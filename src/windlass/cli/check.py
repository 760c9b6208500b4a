"""``windlass check``: import a policy and run the checks that every policy of its decision must pass."""

from __future__ import annotations

import inspect
import sys
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from windlass.cli.output import write_json
from windlass.cli.terminal import terminal
from windlass.experiment.checks.validation import Checked, decision_of, run_checks
from windlass.model import InputError
from windlass.policy.limit import TimeLimitError, time_limit


def check_command(policy: str, decision: str | None, *, limit_s: float, as_json: bool) -> None:
    """Check a policy and print each check; end with status 1 if one fails."""
    try:
        with time_limit(limit_s, f"{policy}: importing it"):
            registry = decision_of(policy, decision)
            cls = registry.find(policy)
    except TimeLimitError as error:
        raise InputError(str(error)) from error
    file = inspect.getfile(cls)
    shown = policy.partition(":")[0] if policy.partition(":")[0].endswith(".py") else Path(file).name
    if not as_json:
        place = f"{shown}: line {inspect.getsourcelines(cls)[1]}"
        _print(f"{place} defines the policy {cls.name} of {registry.decision} ({registry.question})")
    done: list[Checked] = []
    for each in run_checks(registry, policy, limit_s):
        done.append(each)
        if not as_json:
            _print_check(each, shown)
    failed = [each for each in done if each.problem]
    if as_json:
        write_json(
            {
                "policy": cls.name,
                "file": file,
                "decision": registry.decision,
                "passed": not failed,
                "checks": [asdict(each) | {"passed": not each.problem} for each in done],
            }
        )
    else:
        _print(f"{len(done) - len(failed)} of {len(done)} checks passed.")
    if failed:
        sys.exit(1)


def _print_check(each: Checked, file: str) -> None:
    verdict = ("failed", "bold red") if each.problem else ("ok    ", "green")
    _print(Text.assemble(verdict, f" {each.name}: {each.asks}"))
    for line in each.problem.splitlines():
        _print(f"         {line}")
    if each.problem:
        where = "line" if each.failed_there else "about line"
        _print(f"         {file}, {where} {each.line}: {each.code}")


def _print(line: str | Text) -> None:
    terminal(soft_wrap=True).print(line)
