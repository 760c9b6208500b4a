"""``python -m windlass_reproductions.pronto.overload``: admission under dispatchers that see little, and that see much.

Each family of admission policies is swept over its parameters on seeds and loads that serve no other purpose, for each
dispatcher, and its best setting is judged on other seeds and loads: the change of mean and 99th percentile of response
times compared with no admission on the same seed. The dispatchers see from nothing to everything: uniform random,
power of two choices, four proxies that count what they sent themselves, join the shortest queue, and ``pull``.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass_reproductions.pronto.simulated import percent_change
from windlass_reproductions.verdicts import Interval

Floats = NDArray[np.float64]

#: Loads and seeds to choose settings by, and to judge them by.
DESIGN_LOADS, DESIGN_SEEDS = (0.65, 0.85), (101, 102, 103)
JUDGED_LOADS, JUDGED_SEEDS = (0.6, 0.7, 0.8, 0.9), (1, 2, 3, 4, 5, 6, 7, 8)
DOWNTIMES = (0.02, 0.05, 0.1, 0.2)
#: A change within this is no harm, in percent.
TOLERANCE = 2.0


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """A dispatch policy with its number of schedulers, and what it sees of the nodes."""

    policy: str
    schedulers: int
    sees: str

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.policy if self.schedulers == 1 else f"{self.policy}, {self.schedulers} proxies"


DISPATCHERS = (
    Dispatcher("uniform", 1, "nothing"),
    Dispatcher("least-outstanding", 4, "what each proxy sent itself"),
    Dispatcher("pot", 1, "two queues"),
    Dispatcher("jsq", 1, "all queues"),
    Dispatcher("pull", 1, "all queues; tasks bind late"),
)


@dataclass(frozen=True, slots=True)
class AdmitSetting:
    """An admission policy with parameters."""

    policy: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """Its name with parameters."""
        given = ", ".join(f"{name} {value}" for name, value in self.parameters)
        return f"{self.policy} ({given})" if given else self.policy

    def spec(self) -> dict[str, Any]:
        """Return it as in a scenario."""
        return {self.policy: dict(self.parameters)}


NONE = AdmitSetting("always")


def grid(policy: str, **values: Sequence[Any]) -> Iterator[AdmitSetting]:
    """Yield a setting for each combination of values.

    >>> [each.label for each in grid("codel", target=[0.5], interval=[2, 5])]
    ['codel (target 0.5, interval 2)', 'codel (target 0.5, interval 5)']
    """
    for chosen in itertools.product(*values.values()):
        yield AdmitSetting(policy, tuple(zip(values, chosen, strict=True)))


def families() -> dict[str, tuple[AdmitSetting, ...]]:
    """Return the settings of each family, among which the design seeds choose.

    >>> len(families()), sum(map(len, families().values()))
    (12, 93)
    """
    gated: dict[str, Sequence[Any]] = {"downtime": DOWNTIMES, "between": (False, True)}
    scores: dict[str, Sequence[Any]] = {"signal": ["scores"], "weights": ["equal"], "forget": [0.99]}
    return {
        "utilisation": (*grid("utilisation", **gated), *grid("utilisation", threshold=[0.9, 0.99])),
        "ready": (*grid("ready", **gated), *grid("ready", threshold=[0.25, 0.5, 1.0, 2.0])),
        "rising": tuple(grid("rising", **gated)),
        "alarm": tuple(grid("alarm", series=["values"], **gated)),
        "pronto": (AdmitSetting("pronto"), *grid("pronto", **scores, **gated)),
        "forewarn": tuple(grid("forewarn", **gated)),
        "random": tuple(grid("random", **gated)),
        "concurrency": tuple(grid("concurrency", limit=[1, 2, 3, 5, 8])),
        "gradient": tuple(grid("gradient", tolerance=[1.5, 3.0], queue=[0.0, 1.0, 4.0], initial=[5])),
        "vegas": tuple(grid("vegas", initial=[5], alpha=[1.0, 3.0], beta=[3.0, 6.0])),
        "codel": tuple(grid("codel", target=[0.25, 0.5, 1.0, 2.0, 4.0], interval=[1.0, 3.0])),
        "breakwater": tuple(
            grid("breakwater", target=[0.25, 0.5, 1.0, 2.0, 4.0], decrease=[0.2], increase=[0.5], initial=[5])
        ),
    }


@dataclass(frozen=True, slots=True)
class Responses:
    """Mean and 99th percentile of response times of a run, s, and the share of tasks that their first node rejected."""

    mean: float
    p99: float
    rejected: float


@dataclass(frozen=True, slots=True)
class Case:
    """A run, without its admission policies."""

    dispatcher: Dispatcher
    load: float
    seed: int
    tasks: int

    def tree(self, settings: Sequence[AdmitSetting]) -> dict[str, Any]:
        """Return the scenario of a run under each admission policy."""
        return {
            "name": "overload",
            "world": "admission",
            "cluster": {
                "nodes": 16,
                "cores": 4,
                "speed": 4.0,
                "bursts": {"every": 120, "last": 20, "ramp": 3},
            },
            "workload": {"tasks": self.tasks, "load": self.load},
            "policies": {"dispatch": self.dispatcher.policy, "admit": [each.spec() for each in settings]},
            "schedulers": self.dispatcher.schedulers,
            "warm": 200,
            "seeds": [self.seed],
            "keep_tasks": 1000,
        }


def run_case(case: Case, settings: Sequence[AdmitSetting]) -> list[Responses]:
    """Return the responses under each setting."""
    found = []
    for variant in run(make_scenario(case.tree(settings)), 1).variants:
        metrics = variant.outcomes[0].metrics
        found.append(
            Responses(metrics.mean_response_s, metrics.p99_response_s, metrics.rejected_tasks / metrics.tasks)
        )
    return found


def chosen(settings: Sequence[AdmitSetting], runs: Sequence[Sequence[Responses]]) -> AdmitSetting:
    """Return the setting with the least geometric mean of 99th percentiles over the design runs.

    Parameters
    ----------
    settings
        The settings of one family.
    runs
        For each run, the responses under each setting.

    Examples
    --------
    >>> one, other = Responses(1.0, 4.0, 0.0), Responses(1.0, 3.0, 0.0)
    >>> chosen([NONE, AdmitSetting("ready")], [[one, other], [one, other]]).policy
    'ready'
    """
    logs = np.log([[each.p99 for each in own] for own in runs]).mean(axis=0)
    return settings[int(np.argmin(logs))]


def verdict(change: Interval) -> str:
    """Return what a change of response times, in percent, shows.

    *Helps* and *harms* need an interval on one side of 0; *harms* also a lower end above :data:`TOLERANCE`. With all of
    the interval within the tolerance, admission changes nothing. Otherwise it is open.

    Examples
    --------
    >>> [verdict(Interval(mean, half)) for mean, half in ((-5, 4), (5, 2), (0, 1.5), (0, 9), (5, 4))]
    ['helps', 'harms', 'nothing', 'open', 'open']
    """
    if change.high < 0.0:
        return "helps"
    if change.low > TOLERANCE:
        return "harms"
    return "nothing" if change.low >= -TOLERANCE and change.high <= TOLERANCE else "open"


@dataclass(frozen=True, slots=True)
class JudgedFamily:
    """A family's chosen setting on the judged seeds at one load: changes in percent, and the share rejected."""

    family: str
    setting: AdmitSetting
    load: float
    mean: Interval
    p99: Interval
    rejected: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """All families under one dispatcher, and the responses without admission by load, s."""

    dispatcher: Dispatcher
    without: Mapping[float, tuple[float, float]]
    rows: tuple[JudgedFamily, ...]


def judge(
    dispatcher: Dispatcher, tasks: int, pool: ProcessPoolExecutor, notify: Callable[[str], None]
) -> Judgement:
    """Choose a setting of each family on the design runs, and judge it."""
    listed = families()
    every = [each for own in listed.values() for each in own]
    cases = [Case(dispatcher, load, seed, tasks) for load in DESIGN_LOADS for seed in DESIGN_SEEDS]
    notify(f"{dispatcher.label}: choosing among {len(every)} settings in {len(cases)} runs")
    design = list(pool.map(partial(run_case, settings=every), cases))
    best: dict[str, AdmitSetting] = {}
    begin = 0
    for family, settings in listed.items():
        best[family] = chosen(settings, [own[begin : begin + len(settings)] for own in design])
        begin += len(settings)
    judged = [NONE, *best.values()]
    cases = [Case(dispatcher, load, seed, tasks) for load in JUDGED_LOADS for seed in JUDGED_SEEDS]
    notify(f"{dispatcher.label}: judging {len(best)} policies in {len(cases)} runs")
    runs = list(pool.map(partial(run_case, settings=judged), cases))
    rows, without = [], {}
    for load in JUDGED_LOADS:
        own = [found for case, found in zip(cases, runs, strict=True) if case.load == load]
        means, p99s = (
            np.array([[getattr(each, name) for each in row] for row in own]) for name in ("mean", "p99")
        )
        without[load] = float(means[:, 0].mean()), float(p99s[:, 0].mean())
        for at, (family, setting) in enumerate(best.items(), 1):
            rows.append(
                JudgedFamily(
                    family, setting, load,
                    percent_change(means[:, at], means[:, 0]), percent_change(p99s[:, at], p99s[:, 0]),
                    float(np.mean([row[at].rejected for row in own])),
                )
            )  # fmt: skip
    return Judgement(dispatcher, without, tuple(rows))


def lines(judgement: Judgement) -> Iterator[str]:
    """Yield the lines of a Markdown table: a row for each family, and a column for each load."""
    loads = list(judgement.without)
    yield f"{judgement.dispatcher.label}, which sees {judgement.dispatcher.sees}"
    yield ""
    yield "| policy | " + " | ".join(f"load {load}" for load in loads) + " | mean, load 0.8 | setting |"
    yield "|---|" + "---|" * (len(loads) + 2)
    none = [f"{p99:.2f} s" for _, p99 in judgement.without.values()]
    yield f"| none: p99 | {' | '.join(none)} | {judgement.without[0.8][0]:.2f} s | |"
    for family in dict.fromkeys(row.family for row in judgement.rows):
        own = {row.load: row for row in judgement.rows if row.family == family}
        cells = [f"{_text(own[load].p99)}, {verdict(own[load].p99)}" for load in loads]
        yield f"| {family} | {' | '.join(cells)} | {_text(own[0.8].mean)} | {own[loads[0]].setting.label} |"
    yield ""
    counts = {
        word: sum(verdict(row.p99) == word for row in judgement.rows)
        for word in ("helps", "harms", "nothing")
    }
    yield f"p99: {', '.join(f'{word} {count}' for word, count in counts.items())} of {len(judgement.rows)}"


def _text(change: Interval) -> str:
    return f"{change.mean:+.0f} % ({change.low:+.0f} to {change.high:+.0f})"


def main(words: list[str]) -> None:
    """Print the table of each dispatcher as soon as it is judged."""
    parser = argparse.ArgumentParser(prog="python -m windlass_reproductions.pronto.overload")
    parser.add_argument("--jobs", type=int, default=1, help="Number of processes. [default: %(default)s]")
    parser.add_argument("--tasks", type=int, default=20_000, help="Number of tasks. [default: %(default)s]")
    parser.add_argument(
        "--dispatchers", nargs="*", default=[each.policy for each in DISPATCHERS], help="[default: all]"
    )
    options = parser.parse_args(words)
    with ProcessPoolExecutor(options.jobs) as pool:
        for dispatcher in DISPATCHERS:
            if dispatcher.policy not in options.dispatchers:
                continue
            found = judge(dispatcher, options.tasks, pool, lambda text: print(text, file=sys.stderr))
            sys.stdout.write("\n".join(["", *lines(found), ""]))
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
