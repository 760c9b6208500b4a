"""``python -m windlass_reproductions.pronto.simulated SCENARIO.yaml``: what admission gains in the simulator, seed by
seed.

Each policy is held against no admission (``always``), and against the utilisation threshold where that rejects as many
tasks. For that the threshold runs at a few downtimes besides. What it would have at a policy's own share of rejected
tasks lies between its two nearest runs with the same seed, where none rejected is no admission.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.runner import run
from windlass.experiment.scenario import load_tree, make_scenario
from windlass.model import InputError
from windlass.results import VariantResult
from windlass_reproductions.verdicts import Interval, interval

Floats = NDArray[np.float64]

#: Downtimes at which the utilisation threshold runs.
LADDER = (0.02, 0.035, 0.05, 0.065, 0.08)
NONE, THRESHOLD = "always", "utilisation"


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A policy in one setting of the scenario.

    Parameters
    ----------
    policy, label
        Its name, and that with its parameters.
    p99
        (s,) 99th percentile of responses by seed, s.
    rejected
        (s,) share of tasks whose first node rejected them, by seed.
    """

    policy: str
    label: str
    p99: Floats
    rejected: Floats


def with_ladder(
    tree: Mapping[str, Any], seed: int, tasks: int | None = None, sizes: str | None = None
) -> dict[str, Any]:
    """A scenario with one seed, and with the threshold at each downtime of the ladder.

    ``tasks`` and ``sizes`` take the place of the scenario's where they are told.

    >>> admit = ["always", {"utilisation": {"downtime": 0.05}}]
    >>> found = with_ladder({"policies": {"dispatch": "pot", "admit": admit}}, 3, 50)
    >>> len(found["policies"]["admit"]), found["workload"], found["seeds"]
    (6, {'tasks': 50}, [3])
    """
    admit = tree["policies"]["admit"]
    listed = list(admit) if isinstance(admit, list) else [admit]
    rungs = [{THRESHOLD: {"downtime": downtime}} for downtime in LADDER]
    found = {
        **tree,
        "seeds": [seed],
        "policies": {**tree["policies"], "admit": listed + [each for each in rungs if each not in listed]},
        # Nobody looks at its tables of tasks.
        "keep_tasks": 1000,
    }
    if tasks is not None:
        found["workload"] = {**tree.get("workload", {}), "tasks": tasks}
    if sizes is not None:
        found["sizes"] = sizes
    return found


def contenders(runs: Sequence[Sequence[VariantResult]]) -> dict[str, list[Contender]]:
    """Policies by dispatcher and point, such as ``rosella, load=0.8``, of runs of the same scenario, a seed each."""
    found: dict[str, list[Contender]] = {}
    for own in zip(*runs, strict=True):
        metrics = [each.outcomes[0].metrics for each in own]
        chosen = {each.decision: each for each in own[0].choices}
        setting = ", ".join(filter(None, (chosen["dispatch"].label, own[0].point)))
        found.setdefault(setting, []).append(
            Contender(
                chosen["admit"].policy,
                chosen["admit"].label,
                np.array([each.p99_response_s for each in metrics]),
                np.array([each.rejected_tasks / each.tasks for each in metrics]),
            )
        )
    return found


def at_share(shares: Floats, rungs: Sequence[Contender]) -> Floats:
    """(s,) what the threshold has, seed by seed, where it rejects such shares of tasks; NaN beyond its last rung.

    Parameters
    ----------
    shares
        (s,) of rejected tasks.
    rungs
        The threshold at several downtimes, and no admission, which rejects none.

    Examples
    --------
    >>> rungs = [Contender("", "", np.array([p99]), np.array([share])) for p99, share in ((2.0, 0.0), (4.0, 0.1))]
    >>> at_share(np.array([0.025]), rungs).tolist(), at_share(np.array([0.2]), rungs).tolist()
    ([2.5], [nan])
    """
    found = np.empty(len(shares))
    for seed, share in enumerate(shares):
        own = sorted((float(each.rejected[seed]), float(each.p99[seed])) for each in rungs)
        found[seed] = np.interp(share, [x for x, _ in own], [y for _, y in own], right=np.nan)
    return found


def over(ours: Floats, theirs: Floats) -> Interval:
    """By how many percent ours is above theirs on the same seeds: the mean, and its 95 % interval.

    >>> str(over(np.array([1.1, 1.3]), np.ones(2)))
    '20 ± 1.3e+02'
    """
    return interval(100.0 * (ours / theirs - 1.0))


def table(setting: str, found: Sequence[Contender]) -> Iterator[str]:
    """The lines of a table of Markdown, a policy each.

    Raises
    ------
    InputError
        There is no ``always`` to hold them against.
    """
    none = next((each for each in found if each.policy == NONE), None)
    if none is None:
        raise InputError(f"policies.admit: there is no {NONE}, against which all others are held")
    # A threshold that stays has no rung: its share is what it happens to be.
    rungs = [none, *(each for each in found if each.policy == THRESHOLD and "downtime=" in each.label)]
    yield f"{setting}, {len(none.p99)} seeds"
    yield "| policy | p99, s | rejected, % | over none, % | over the threshold that rejects as many, % |"
    yield "|---|---|---|---|---|"
    for each in found:
        cells = [f"{each.p99.mean():.2f}", f"{100 * each.rejected.mean():.1f}"]
        cells.append("" if each is none else _told(over(each.p99, none.p99)))
        cells.append("" if each in rungs else _told(over(each.p99, at_share(each.rejected, rungs))))
        yield f"| {each.label} | {' | '.join(cells)} |"


def _told(found: Interval) -> str:
    if np.isnan(found.mean):
        return "rejects more than the last rung"
    return f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"


def main(words: list[str]) -> None:
    """Run the scenario seed by seed, and print the tables anew after each."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.pronto.simulated")
    parser.add_argument("scenario", type=Path, help="of the world admission")
    parser.add_argument("--jobs", type=int, default=1, help="processes to run in")
    parser.add_argument("--tasks", type=int, help="fewer tasks than the scenario has, or more")
    parser.add_argument(
        "--sizes", choices=("hidden", "known"), help="whether the dispatch policy receives them"
    )
    asked = parser.parse_args(words)
    named, folder = str(asked.scenario), asked.scenario.parent
    tree = load_tree(asked.scenario)
    whole = make_scenario(tree, named, folder)
    if whole.world.name != "admission":
        raise InputError(f"{named}: world is {whole.world.name}, expected admission")
    runs: list[Sequence[VariantResult]] = []
    for seed in whole.seeds:
        scenario = make_scenario(with_ladder(tree, seed, asked.tasks, asked.sizes), named, folder)
        runs.append(run(scenario, asked.jobs).variants)
        for setting, found in contenders(runs).items():
            sys.stdout.write("\n".join(["", *table(setting, found), ""]))
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
