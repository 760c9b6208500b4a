"""``python -m windlass_reproductions.pronto.simulated SCENARIO.yaml``: the effect of admission in the simulator.

Each policy is compared with no admission (``always``), and with the utilisation threshold at an equal share of rejected
tasks. For this the threshold also runs at several downtimes. Its value at a policy's share of rejected tasks is
interpolated between its two nearest runs with the same seed; no admission is the point with no rejected tasks.
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
    """Results of a policy in one setting of the scenario.

    Parameters
    ----------
    policy, label
        Name of the policy, and its name with parameters.
    p99
        (s,) 99th percentile of response times for each seed, s.
    rejected
        (s,) share of tasks that their first node rejected, for each seed.
    """

    policy: str
    label: str
    p99: Floats
    rejected: Floats


def with_ladder(
    tree: Mapping[str, Any], seed: int, tasks: int | None = None, sizes: str | None = None
) -> dict[str, Any]:
    """Return a scenario with one seed, and with the threshold at each downtime of :data:`LADDER`.

    ``tasks`` and ``sizes`` replace the scenario's if they are given.

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
        # Keep few tasks, as the tables of tasks are not used.
        "keep_tasks": 1000,
    }
    if tasks is not None:
        found["workload"] = {**tree.get("workload", {}), "tasks": tasks}
    if sizes is not None:
        found["sizes"] = sizes
    return found


def contenders(runs: Sequence[Sequence[VariantResult]]) -> dict[str, list[Contender]]:
    """Return the policies for each dispatcher and point, such as ``rosella, load=0.8``, of runs with a seed each."""
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
    """Interpolate (s,) the threshold's p99 for each seed at shares of rejected tasks; NaN above its largest share.

    Parameters
    ----------
    shares
        (s,) shares of rejected tasks.
    rungs
        Results of the threshold at several downtimes, and of no admission, which rejects none.

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


def percent_change(ours: Floats, reference: Floats) -> Interval:
    """Return by how many percent ours is above the reference on the same seeds: the mean and its 95 % interval.

    >>> str(percent_change(np.array([1.1, 1.3]), np.ones(2)))
    '20 ± 1.3e+02'
    """
    return interval(100.0 * (ours / reference - 1.0))


def table(setting: str, found: Sequence[Contender]) -> Iterator[str]:
    """Yield the lines of a Markdown table with a row for each policy.

    Raises
    ------
    InputError
        The scenario has no policy ``always`` to compare with.
    """
    none = next((each for each in found if each.policy == NONE), None)
    if none is None:
        raise InputError(f"policies.admit: no policy {NONE!r}, expected it as the reference of all others")
    # A threshold with a fixed level is compared like any other policy, as its share is not set by a downtime.
    rungs = [none, *(each for each in found if each.policy == THRESHOLD and "downtime=" in each.label)]
    yield f"{setting}, {len(none.p99)} seeds"
    yield "| policy | p99, s | rejected, % | vs. no admission, % | vs. threshold at equal rejection, % |"
    yield "|---|---|---|---|---|"
    for each in found:
        cells = [f"{each.p99.mean():.2f}", f"{100 * each.rejected.mean():.1f}"]
        cells.append("" if each is none else _change_text(percent_change(each.p99, none.p99)))
        cells.append(
            "" if each in rungs else _change_text(percent_change(each.p99, at_share(each.rejected, rungs)))
        )
        yield f"| {each.label} | {' | '.join(cells)} |"


def _change_text(found: Interval) -> str:
    if np.isnan(found.mean):
        return "rejects more than any threshold run"
    return f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"


def main(words: list[str]) -> None:
    """Run the scenario seed by seed, and print the tables of all seeds so far after each."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.pronto.simulated")
    parser.add_argument("scenario", type=Path, help="Scenario of the world admission.")
    parser.add_argument("--jobs", type=int, default=1, help="Number of processes. [default: %(default)s]")
    parser.add_argument("--tasks", type=int, help="Number of tasks. [default: that of the scenario]")
    parser.add_argument(
        "--sizes",
        choices=("hidden", "known"),
        help="Whether the dispatch policy knows task sizes. [default: that of the scenario]",
    )
    options = parser.parse_args(words)
    named, folder = str(options.scenario), options.scenario.parent
    tree = load_tree(options.scenario)
    whole = make_scenario(tree, named, folder)
    if whole.world.name != "admission":
        raise InputError(f"{named}: world is {whole.world.name}, expected admission")
    runs: list[Sequence[VariantResult]] = []
    for seed in whole.seeds:
        scenario = make_scenario(with_ladder(tree, seed, options.tasks, options.sizes), named, folder)
        runs.append(run(scenario, options.jobs).variants)
        for setting, found in contenders(runs).items():
            sys.stdout.write("\n".join(["", *table(setting, found), ""]))
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
