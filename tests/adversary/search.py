"""A search for a seed whose run goes wrong, and the smallest part of its plan that still does.

`python -m tests.adversary.search FIRST LAST [slurm|elastic|jobs|pbs|htcondor]` prints the first such seed
and plan, and counts what was injected.
"""

import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.adversary import elastic, htcondor, jobs, pbs, plan, world

#: How each driver's plans are drawn and run.
DRIVERS = {
    "slurm": (plan.draw, world.run),
    "elastic": (elastic.draw, elastic.run),
    "jobs": (jobs.draw, jobs.run),
    "pbs": (pbs.draw, pbs.run),
    "htcondor": (htcondor.draw, htcondor.run),
}


@dataclass
class Found:
    """What a search found: the runs, polls and drivers, the faults by kind, and the first plan that goes wrong."""

    runs: int = 0
    polls: int = 0
    drivers: int = 0
    injected: Counter = field(default_factory=Counter)
    seed: int | None = None
    plan: object = None
    problems: list = field(default_factory=list)

    def describe(self):
        """Return the failure as a text; a plan can be pasted into a test."""
        return f"seed {self.seed}: {'; '.join(self.problems)}\n{self.plan}"


def search(seeds, folder, driver="slurm"):
    """Run seeds until one goes wrong."""
    found, (draw, run) = Found(), DRIVERS[driver]
    for seed in seeds:
        done = run(draw(seed), folder)
        found.runs += 1
        found.polls += done.polls
        found.drivers += done.drivers
        found.injected += done.injected
        if done.problems:
            rule = rule_of(done)
            found.seed = seed
            found.plan = minimise(draw(seed), lambda plan, rule=rule: rule_of(run(plan, folder)) == rule)
            found.problems = run(found.plan, folder).problems
            break
    return found


def rule_of(done):
    """Return the first rule that a run breaks; empty if it breaks none."""
    return done.problems[0].partition(":")[0] if done.problems else ""


def minimise(plan, fails):
    """Return a plan from which no fault, action or job can be dropped without its failure.

    Parameters
    ----------
    plan
        A plan that fails.
    fails
        Returns whether a plan fails.
    """
    dropped = True
    while dropped:
        dropped = False
        for part in (*plan.faults, *plan.actions, *plan.jobs):
            smaller = plan.without(part)
            if smaller.jobs and fails(smaller):
                plan, dropped = smaller, True
    return plan


def main(first, last, driver="slurm"):
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        found = search(range(int(first), int(last)), Path(folder), driver)
    if found.seed is not None:
        print(found.describe())
    faults = ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.injected.items()))
    print(f"{found.runs:,} runs, {found.polls:,} polls, {found.drivers:,} drivers: {faults}")
    print(f"{time.process_time() - began:.0f} s of processor time")
    return 0 if found.seed is None else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
