"""``windlass check``: a policy's file imported, and held to what every policy of its decision must do."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from windlass.experiment.checks.validation import Checked, decision_of, run_checks
from windlass.model import InputError
from windlass.policy.limit import TimeLimitError, time_limit


def check_command(policy: str, decision: str | None, *, limit_s: float, as_json: bool) -> None:
    """Check a policy, say what was done, and end with status 1 where a check fails."""
    try:
        with time_limit(limit_s, f"{policy}: importing it"):
            registry = decision_of(policy, decision)
            cls = registry.find(policy)
    except TimeLimitError as error:
        raise InputError(str(error)) from error
    file = inspect.getfile(cls)
    shown = policy.partition(":")[0] if policy.partition(":")[0].endswith(".py") else Path(file).name
    console = Console(highlight=False)
    if not as_json:
        question = f"{registry.question[:1].lower()}{registry.question[1:]}"
        about = f"the policy {cls.name} of {registry.decision}, {question}"
        line = f"Imported {shown}: line {inspect.getsourcelines(cls)[1]} has {about}"
        console.print(line, markup=False, soft_wrap=True)
    done: list[Checked] = []
    for each in run_checks(registry, policy, limit_s):
        done.append(each)
        if not as_json:
            _say(console, each, shown)
    failed = [each for each in done if each.problem]
    if as_json:
        tree = {
            "policy": cls.name,
            "file": file,
            "decision": registry.decision,
            "passed": not failed,
            "checks": [asdict(each) | {"passed": not each.problem} for each in done],
        }
        sys.stdout.write(json.dumps(tree) + "\n")
    else:
        console.print(f"{len(done) - len(failed)} of {len(done)} checks passed.", markup=False)
    if failed:
        sys.exit(1)


def _say(console: Console, each: Checked, file: str) -> None:
    verdict = Text("failed" if each.problem else "ok    ", "bold red" if each.problem else "green")
    console.print(verdict, Text(f" {each.name}: {each.asks}"), sep="", soft_wrap=True)
    for line in each.problem.splitlines():
        console.print(f"         {line}", markup=False, soft_wrap=True)
    if each.problem:
        where = "line" if each.failed_there else "about line"
        console.print(f"         {file}, {where} {each.line}: {each.code}", markup=False, soft_wrap=True)
