"""Policies of sharing over pairs of measured jobs: what hosts lose, and what guests get done.

``python -m tests.share.bandit [HOSTS [POLICY …]]`` prints the table of docs/results-share.md. There is no queue and
no cluster here: hosts come one after another, each with one job that waits, and the fitted model of interference gives
how fast both are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.share.cases import TRACES
from windlass.io.traces import read_swf
from windlass.io.traces.interference import MeasuredPairs, read_interference
from windlass.share import (
    POLICIES,
    Allocation,
    Candidate,
    Checkpoint,
    Guest,
    Interference,
    ShareView,
    fit_interference,
    observe,
)
from windlass.share.interference import PairSpeeds, Speeds

CHECKPOINTS, TASKS, ALONE_S = 8, 200.0, 3600.0


@dataclass(frozen=True)
class World:
    """Jobs that were measured alone, the model of pairs, its errors, and how far walltimes are above runtimes."""

    jobs: list[str]
    use: NDArray[np.float64]
    model: Interference
    errors: NDArray[np.float64]
    overestimates: NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """Results of a policy over all hosts.

    ``slower`` is how much longer hosts took, on average; ``over`` the part that took over 10 % longer; ``won`` the work
    of guests, in hours alone per hour of a host alone; ``net`` that less what hosts took longer.
    """

    slower: float
    over: float
    won: float

    @property
    def net(self) -> float:
        return self.won - self.slower


def world_of(traces: Path = TRACES) -> World:
    """From real measurements: pairs on a GPU, and the requests of KTH-SP2's users."""
    pairs: MeasuredPairs = read_interference(traces / "interference")
    model = fit_interference(pairs.use, pairs.speed)
    jobs, first = np.unique(pairs.jobs, return_index=True)
    predicted = [model.unlimited(*row) for row in pairs.use]
    errors = pairs.speed / np.array([[each.host, each.guest] for each in predicted])
    log = read_swf(traces / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz").records
    known = log.filter((log["run"] > 60) & (log["request"] >= log["run"]))
    ratios = (known["request"] / known["run"]).to_numpy()
    return World(jobs.tolist(), pairs.use.reshape(-1)[first], model, errors.reshape(-1), ratios)


def play(
    world: World, policy_of: Callable[[], object], hosts: int, seed: int, use: str = "measured"
) -> Score:
    """Run one policy over `hosts` hosts; draws of one seed are the same for every policy.

    ``use`` is "measured", or "busy": only jobs that keep over half of the device busy.
    """
    rng = np.random.default_rng(seed)
    policy, truth = policy_of(), truth_of(world, seed)
    pool = np.flatnonzero(world.use > (50.0 if use == "busy" else 0.0))
    slower, won = np.empty(hosts), np.empty(hosts)
    for number in range(hosts):
        one, other = rng.choice(pool, 2)
        noise = rng.normal(1.0, 0.02, (CHECKPOINTS * 40, 2))
        over, rate = float(rng.choice(world.overestimates)), TASKS / ALONE_S
        host = Allocation(
            2 * number, world.jobs[one].split()[0], 8, 64e9, ALONE_S * over, 0.0, float(world.use[one]), 10.0,
            parallel=True, tasks_done=0.0, tasks_left=TASKS, rate=rate, rate_alone=rate,
        )  # fmt: skip
        guest = Candidate(
            2 * number + 1, world.jobs[other].split()[0], 8, 1e9, 1e9, cpu=float(world.use[other])
        )
        slower[number], won[number] = _host(truth, policy, host, guest, noise)
    return Score(float(slower.mean()), float((slower > 0.10001).mean()), float(won.mean()))


def truth_of(world: World, seed: int) -> PairSpeeds:
    """Return the speeds of a pair: the model's, times one of its errors, drawn once for the pair.

    Errors were measured where both jobs had all that they wanted. If a neighbour has a part of that, a part of the
    error is taken (in logarithms): this is an assumption, as no quota was ever measured.
    """

    def truth(host: Allocation, candidate: Candidate, quota: int) -> Speeds:
        off = np.random.default_rng([seed, host.job]).choice(world.errors, 2)
        clean = world.model.of_jobs(host, candidate, quota)
        of_guest = min(1.0, quota / candidate.cpu)
        of_host = min(1.0, world.model.host_time(candidate.cpu, quota) / host.cpu)
        return Speeds(min(clean.host * off[0] ** of_guest, 1.0), min(clean.guest * off[1] ** of_host, 1.0))

    return truth


def _host(
    truth: PairSpeeds, policy: object, host: Allocation, candidate: Candidate, noise: NDArray[np.float64]
) -> tuple[float, float]:
    """One host to its end: how much longer it took, and the guest's work in hours alone an hour of the host alone."""
    step, work = ALONE_S / CHECKPOINTS, 0.0
    for check in range(CHECKPOINTS * 40):
        waiting = () if host.guest is not None else (candidate,)
        answer = policy.decide(ShareView(host.elapsed, (host,), waiting))  # type: ignore[attr-defined]
        for share in answer.shares:
            host = replace(host, guest=Guest(candidate, share.quota, note=share.note))
        speeds = Speeds(1.0, 0.0)
        if host.guest is not None and host.guest.quota > 0:
            speeds = truth(host, candidate, host.guest.quota)
        rate = TASKS / ALONE_S * speeds.host
        seconds = min(step, host.tasks_left / rate)
        done = rate * seconds
        ended = done >= host.tasks_left - 1e-9
        work += speeds.guest * seconds
        after = replace(
            host,
            elapsed=host.elapsed + seconds,
            tasks_done=TASKS - host.tasks_left + done,
            tasks_left=0.0 if ended else host.tasks_left - done,
            rate=rate * noise[check, 0],
        )
        if host.guest is not None:
            measured = replace(host.guest, progress=100.0 * speeds.guest * max(noise[check, 1], 0.0))
            after = replace(after, guest=measured)
            observe(policy, Checkpoint(host, after, measured, ended=ended))  # type: ignore[arg-type]
        host = after
        if ended:
            break
    return host.elapsed / ALONE_S - 1.0, work / ALONE_S


def policies(world: World, seed: int) -> dict[str, Callable[[], object]]:
    """Return a factory of each policy, by its name in the table."""

    def asax(**parameters: object) -> Callable[[], object]:
        return lambda: POLICIES.make("asax", np.random.default_rng(seed), **parameters)

    return {
        "none": lambda: POLICIES.make("none", np.random.default_rng(seed)),
        "static": lambda: POLICIES.make("static", np.random.default_rng(seed)),
        "always 30 %": lambda: POLICIES.make("always", np.random.default_rng(seed)),
        "asax, printed, by walltime": asax(),
        "asax, printed, by progress": asax(loss="progress"),
        "asax, anchored, by progress": asax(loss="progress", update="anchored"),
        "asax, exp4-ix, by progress": asax(loss="progress", update="exp4-ix"),
        "pairs": lambda: POLICIES.make("pairs", np.random.default_rng(seed)),
        "oracle, told of time alone": lambda: POLICIES.make("oracle", np.random.default_rng(seed)),
        "oracle": lambda: POLICIES.make("oracle", np.random.default_rng(seed), speeds=truth_of(world, seed)),
    }


def main() -> None:
    """Print the table: means over seeds, and the standard deviation between them of what counts."""
    world, hosts, seeds = world_of(), int(sys.argv[1]) if len(sys.argv) > 1 else 2000, (1, 2, 3, 4, 5)
    wanted = sys.argv[2:] or list(policies(world, 0))
    print(world.model)
    for use in ("measured", "busy"):
        print(f"\n| {use} | host slower % | hosts over 10 % | guest's work | net |\n|---|---|---|---|---|")
        for name in wanted:
            found = [play(world, policies(world, seed)[name], hosts, seed, use) for seed in seeds]
            slower, over, won, net = (
                np.array([getattr(each, field) for each in found])
                for field in ("slower", "over", "won", "net")
            )
            print(
                f"| {name} | {100 * slower.mean():.1f} | {100 * over.mean():.0f} % | "
                f"{won.mean():.3f} ± {won.std(ddof=1):.3f} | {net.mean():.3f} |"
            )


if __name__ == "__main__":
    main()
