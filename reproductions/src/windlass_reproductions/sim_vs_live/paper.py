"""How true is the simulator? The same workloads and policies simulated, and run for real on Ray."""

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
#: Means on Ray that differ by less are as two runs of one policy are.
_SAME = 0.02
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Compared:
    """Responses of all jobs under one policy, s: for real, simulated as the workload says, and calibrated."""

    policy: str
    live: _Floats
    plain: _Floats
    calibrated: _Floats


class SimVsLive:
    """Each workload runs on a private Ray cluster of four sites with emulated links, and in the simulator.

    The simulator is given what one separate calibration run measured: the overhead of a task, how much longer a
    task computes than it should, what reads take without a link, and the share of a link's rate that a lone read
    gets. It is not fitted to the runs that it is compared with.
    """

    name = "sim-vs-live"
    title = "The simulator beside real runs on Ray"

    def __init__(self) -> None:
        self.engines: dict[str, Paper] = {"ray": self, "slurm": SimVsSlurm()}

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run it: one seed and two policies a case, or three seeds and all."""
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
            run_placed(FleetCase(fleet, jobs), Remote())  # compiles it; for real, jobs would wait for that
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
        Row("calibration: seconds computed per second said", None, round(found.compute, 4), None),
        Row("calibration: a read without a link, s", None, round(found.read_s, 4), None),
        Row("calibration: share of a link's rate that a lone read gets", None, round(found.link, 4), None),
    ]


def _rows(case: Case, results: list[_Compared]) -> list[Row]:
    rows = []
    for one in results:
        for what, measure in (
            ("mean", np.mean),
            ("95th percentile", lambda values: np.percentile(values, 95)),
        ):
            live, plain, told = (float(measure(values)) for values in (one.live, one.plain, one.calibrated))
            error = told / live - 1.0
            each = np.abs(one.calibrated / one.live - 1.0)
            rows.append(
                Row.by(
                    f"{case.name}, {one.policy}: {what} response, s (simulated; on Ray)",
                    round(told, 3),
                    round(live, 3),
                    close(live, told, _CLOSE),
                    f"simulated is off by {error:+.1%} ({plain / live - 1.0:+.1%} without calibration); of single"
                    f" jobs by {np.median(each):.1%} in the median, {each.max():.1%} at most",
                )
            )
    ranks = [sorted(results, key=lambda one: values(one).mean()) for values in (_live, _told)]
    names = [" < ".join(one.policy for one in rank) for rank in ranks]
    real, simulated = (
        {one.policy: float(values(one).mean()) for one in results} for values in (_live, _told)
    )
    rows.append(
        Row.by(
            f"{case.name}: policies by mean response",
            names[1],
            names[0],
            same_ranks(real, simulated, _SAME),
            _not_apart(real),
        )
    )
    base, best = results[0].policy, results[-1].policy
    ends = [{one: each[one] for one in (base, best)} for each in (real, simulated)]
    won = same_ranks(ends[0], ends[1], _SAME)
    rows.append(
        Row.by(
            f"{case.name}: mean response of {best} over that of {base}",
            round(simulated[best] / simulated[base], 3),
            round(real[best] / real[base], 3),
            won,
            {True: "the same winner in both", False: "another winner", None: "nobody wins on Ray"}[won.holds],
        )
    )
    return rows


def _not_apart(live: Mapping[str, float]) -> str:
    """Which pairs of policies do not differ on Ray."""
    ratios = {(one, other): live[one] / live[other] for one, other in itertools.combinations(live, 2)}
    alike = [
        f"{one} and {other} ({abs(ratio - 1.0):.1%})"
        for (one, other), ratio in ratios.items()
        if abs(np.log(ratio)) < _SAME
    ]
    return f"not told apart: {', '.join(alike)}" if alike else ""


def _live(one: _Compared) -> _Floats:
    return one.live


def _told(one: _Compared) -> _Floats:
    return one.calibrated


def _picture(case: Case, results: list[_Compared]) -> Picture:
    names = tuple(one.policy for one in results)
    places = list(range(len(names)))
    lines = tuple(
        Line(label, places, [float(values(one).mean()) for one in results])
        for label, values in (("on Ray", _live), ("simulated", _told))
    )
    return Picture(
        case.name,
        f"Mean response, {case.name}",
        "policy",
        "s",
        lines,
        "The simulator knows the overhead that a separate run measured, and nothing of these.",
        categories=names,
    )
