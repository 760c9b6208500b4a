"""Accuracy of the simulator of a fleet: the same workloads and policies simulated and on a real Ray."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.engines.live.run import run_live
from windlass.engines.targets import Executors, Target, executors
from windlass.model.fleet import FleetCase, FleetJobs
from windlass.report.pictures import Line, Picture
from windlass.sim.fleet import run_placed
from windlass_reproductions.reproduction import Notify, Paper, Reproduction, Row
from windlass_reproductions.sim_vs_live.cases import (
    Calibration,
    Case,
    Contender,
    Remote,
    calibrate,
    calibration_case,
    cases,
)
from windlass_reproductions.sim_vs_live.on_slurm import SimVsSlurm
from windlass_reproductions.sim_vs_live.verdicts import close, same_ranks

_CLOSE = 0.10
#: Two runs of one policy on Ray can differ by as much; smaller differences of means are ignored.
_SAME = 0.02
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Compared:
    """Response times of all jobs under one policy, s: on Ray, simulated without calibration, and with it."""

    policy: str
    live: _Floats
    plain: _Floats
    calibrated: _Floats


class SimVsLive:
    """Each workload runs on a private Ray cluster of four sites with emulated links, and in the simulator.

    The simulator is calibrated with four measurements of a separate run: the overhead of a task, the factor by which a
    task computes longer than stated, the time of a read that crosses no link, and the share of a link's rate that a
    single read gets. It is not fitted to the runs with which it is compared.
    """

    name = "sim-vs-live"
    title = "The simulator compared with real runs on Ray"

    def __init__(self) -> None:
        self.engines: dict[str, Paper] = {"ray": self, "slurm": SimVsSlurm()}

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run three seeds and all policies of each case; ``quick`` runs one seed and two policies of each."""
        on = executors(Target("ray"))
        seeds = (1,) if quick else (1, 2, 3)
        chosen = [case.quick for case in cases()] if quick else list(cases())
        total = 1 + len(seeds) * sum(len(case.policies) for case in chosen)
        done = 0

        def step(what: str) -> None:
            nonlocal done
            notify(what, done / total)
            done += 1

        try:
            step("calibration")
            fleet, jobs = calibration_case()
            run_placed(FleetCase(fleet, jobs), Remote())  # compile now, as real jobs would wait for it
            found = calibrate(run_live(fleet, jobs, Remote(), on))
            compared = [
                (case, [self._compare(case, policy, seeds, found, on, step) for policy in case.policies])
                for case in chosen
            ]
        finally:
            on.close()
        rows = [*_calibration_rows(found)]
        for case, results in compared:
            rows += _rows(case, results)
        return Reproduction(tuple(rows), tuple(_picture(case, results) for case, results in compared))

    def _compare(
        self,
        case: Case,
        policy: Contender,
        seeds: tuple[int, ...],
        found: Calibration,
        on: Executors,
        step: Callable[[str], None],
    ) -> _Compared:
        live, plain, calibrated = [], [], []
        for seed in seeds:
            step(f"{case.name}, {policy.name}, seed {seed}")
            jobs: FleetJobs = case.draw(np.random.default_rng([seed, 6]))
            plain.append(policy.simulate(FleetCase(case.fleet, jobs)).response)
            as_measured = FleetCase(found.fleet(case.fleet), found.jobs(jobs))
            calibrated.append(policy.simulate(as_measured).response)
            live.append(run_live(case.fleet, jobs, policy.live, on).response)
        return _Compared(policy.name, *(np.concatenate(part) for part in (live, plain, calibrated)))


def _calibration_rows(found: Calibration) -> list[Row]:
    return [
        Row("calibration: overhead of a task, s", None, round(found.task_s, 4), None),
        Row("calibration: seconds computed per nominal second", None, round(found.compute, 4), None),
        Row("calibration: time of a read that crosses no link, s", None, round(found.read_s, 4), None),
        Row("calibration: share of a link's rate that a single read gets", None, round(found.link, 4), None),
    ]


def _rows(case: Case, results: list[_Compared]) -> list[Row]:
    rows = []
    for one in results:
        for what, measure in (
            ("mean", np.mean),
            ("95th percentile", lambda values: np.percentile(values, 95)),
        ):
            live, plain, calibrated = (
                float(measure(values)) for values in (one.live, one.plain, one.calibrated)
            )
            error = calibrated / live - 1.0
            each = np.abs(one.calibrated / one.live - 1.0)
            rows.append(
                Row.by(
                    f"{case.name}, {one.policy}: {what} response, s (simulated; on Ray)",
                    round(calibrated, 3),
                    round(live, 3),
                    close(live, calibrated, _CLOSE),
                    f"the simulation is off by {error:+.1%} ({plain / live - 1.0:+.1%} without calibration); single"
                    f" jobs by {np.median(each):.1%} (median) and at most {each.max():.1%}",
                )
            )
    ranks = [sorted(results, key=lambda one: values(one).mean()) for values in (_live, _calibrated)]
    names = [" < ".join(one.policy for one in rank) for rank in ranks]
    real, simulated = (
        {one.policy: float(values(one).mean()) for one in results} for values in (_live, _calibrated)
    )
    rows.append(
        Row.by(
            f"{case.name}: policies by mean response",
            names[1],
            names[0],
            same_ranks(real, simulated, _SAME),
            _similar_pairs(real),
        )
    )
    base, best = results[0].policy, results[-1].policy
    ends = [{one: each[one] for one in (base, best)} for each in (real, simulated)]
    won = same_ranks(ends[0], ends[1], _SAME)
    rows.append(
        Row.by(
            f"{case.name}: mean response of {best} as a ratio of that of {base}",
            round(simulated[best] / simulated[base], 3),
            round(real[best] / real[base], 3),
            won,
            {True: "the same winner in both", False: "a different winner", None: "no winner on Ray"}[
                won.holds
            ],
        )
    )
    return rows


def _similar_pairs(live: Mapping[str, float]) -> str:
    """List the pairs of policies whose means do not differ on Ray; empty if there is none."""
    ratios = {(one, other): live[one] / live[other] for one, other in itertools.combinations(live, 2)}
    alike = [
        f"{one} and {other} ({abs(ratio - 1.0):.1%})"
        for (one, other), ratio in ratios.items()
        if abs(np.log(ratio)) < _SAME
    ]
    return f"no clear difference on Ray: {', '.join(alike)}" if alike else ""


def _live(one: _Compared) -> _Floats:
    return one.live


def _calibrated(one: _Compared) -> _Floats:
    return one.calibrated


def _picture(case: Case, results: list[_Compared]) -> Picture:
    names = tuple(one.policy for one in results)
    places = list(range(len(names)))
    lines = tuple(
        Line(label, places, [float(values(one).mean()) for one in results])
        for label, values in (("on Ray", _live), ("simulated", _calibrated))
    )
    return Picture(
        case.name,
        f"Mean response, {case.name}",
        "policy",
        "s",
        lines,
        "The simulator is calibrated with a separate run.",
        categories=names,
    )
