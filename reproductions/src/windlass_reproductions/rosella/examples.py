"""Examples 1 to 3, and a cluster of 1,000 workers with known rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.dispatching import simulate
from windlass.report.pictures import Line, Picture
from windlass.sim.workers.result import Dispatched
from windlass_reproductions.criteria import Judged, above, below, over, printed
from windlass_reproductions.reproduction import Reproduction, Row

_SEEDS = (1, 2, 3)
_TEN = np.array([1.0] * 9 + [6.0])
_TEN_LOAD = 14 / 15
_LARGE = np.array([1.0] * 900 + [6.0] * 100)
_LARGE_LOAD = 0.9
_SIGNIFICANTLY = "significantly (95 % interval over seeds)"


def growth(done: Dispatched) -> float:
    """Return the growth of the number of tasks in the system over the second half of a run, tasks/s."""
    half = len(done.waiting) // 2
    return float((done.waiting[-1] - done.waiting[half]) / (done.sample_time[-1] - done.sample_time[half]))


def surplus(speeds: NDArray[np.float64], rate: float, choices: int) -> float:
    """Return by how much the slow workers' arrival rate exceeds their service rate, tasks/s, as in Examples 1 and 2.

    Parameters
    ----------
    speeds
        (n,) rates of workers, tasks/s; the lowest are the slow ones.
    rate
        The arrival rate, tasks/s.
    choices
        Workers drawn uniformly per task, of which the one with the shortest queue gets it; a slow worker gets the task
        if all drawn workers are slow.

    Examples
    --------
    >>> round(surplus(_TEN, 14.0, 1), 2), round(surplus(_TEN, 14.0, 2), 2)
    (3.6, 2.34)
    """
    slow = speeds == speeds.min()
    return float(rate * slow.mean() ** choices - speeds[slow].sum())


def is_stable(growths: NDArray[np.float64], slowest: float) -> Judged:
    """Claim that queues do not grow.

    ``growths`` are (s,) tasks/s by seed, ``slowest`` is the slowest growth of an unstable policy in the paper, tasks/s.

    >>> is_stable(np.array([0.01, -0.01]), 2.34).holds, is_stable(np.array([2.3, 2.4]), 2.34).holds
    (True, False)
    """
    return below(
        [over(growths)],
        slowest / 2,
        rule=f"holds if growth is {_SIGNIFICANTLY} nearer to 0 than to {slowest:.3g} tasks/s, the slowest growth of an "
        "unstable policy",
    )


def is_unstable(growths: NDArray[np.float64], derived: float) -> Judged:
    """Claim that queues grow.

    ``growths`` are (s,) tasks/s by seed, ``derived`` is the growth that the paper derives, tasks/s.

    >>> is_unstable(np.array([2.3, 2.4]), 2.34).holds, is_unstable(np.array([0.01, -0.01]), 2.34).holds
    (True, False)
    """
    return above(
        [over(growths)],
        derived / 2,
        rule=f"holds if growth is {_SIGNIFICANTLY} nearer to {derived:.3g} tasks/s, the excess load of the slow "
        "workers, than to 0",
    )


def examples(quick: bool) -> Reproduction:
    """Reproduce Examples 1 and 2: nine workers of rate 1 and one of rate 6, tasks at rate 14."""
    tasks = 200_000 if quick else 2_000_000
    one, two = surplus(_TEN, 14.0, 1), surplus(_TEN, 14.0, 2)
    rows, lines = [], []
    for policy, derived in (("uniform", one), ("pot", two), ("pss", None), ("ppot", None)):
        runs = [simulate(policy, _TEN, _TEN_LOAD, tasks, seed=seed, samples=200) for seed in _SEEDS]
        growths = np.array([growth(done) for done in runs])
        judged = is_stable(growths, two) if derived is None else is_unstable(growths, derived)
        rows.append(
            Row.by(
                f"Examples 1, 2: {policy}, 9 workers of rate 1 and one of 6, λ = 14",
                "stable" if derived is None else "unstable",
                f"waiting tasks grow by {growths.mean():.3f}/s, {runs[0].waiting[-1]:,} at the end",
                judged,
            )
        )
        lines.append(Line(policy, runs[0].sample_time.tolist(), (runs[0].waiting + 1).tolist()))
    picture = Picture(
        "examples",
        "Examples 1 and 2: tasks in the system",
        "time, s",
        "1 + tasks waiting or running",
        tuple(lines),
        "Uniform choice and power of two choices leave the fast worker idle while the slow ones are overloaded.",
        log_y=True,
    )
    return Reproduction(tuple(rows), (picture,))


@dataclass(frozen=True, slots=True)
class Fast:
    """Example 3 under one policy, each (s,) by seed.

    ``there`` is the mean response at the fast worker, s, ``of_all`` that of all tasks, s, and ``longest`` the longest
    queue, tasks.
    """

    there: NDArray[np.float64]
    of_all: NDArray[np.float64]
    longest: NDArray[np.float64]


def _fast(policy: str, mu: int, tasks: int) -> Fast:
    speeds = np.array([float(mu)] + [1.0] * mu)
    late = np.arange(tasks) > tasks // 5
    found = []
    for seed in _SEEDS:
        done = simulate(policy, speeds, 0.75, tasks, seed=seed, record=True)
        found.append((done.response[(done.worker == 0) & late].mean(), done.mean, done.longest_queue))
    return Fast(*np.array(found, dtype=np.float64).T)


def fast_worker(quick: bool) -> Reproduction:
    """Reproduce Example 3: one worker of rate μ and μ of rate 1, tasks at rate 1.5 μ, LL against SQ."""
    mu = 100
    tasks = 300_000 if quick else 3_000_000
    return Reproduction(fast_rows(_fast("ppot", mu, tasks), _fast("ppot-ll", mu, tasks), mu))


def fast_rows(sq: Fast, ll: Fast, mu: int) -> tuple[Row, ...]:
    """Return the rows of Example 3, on the fast worker under SQ and under LL."""
    return (
        Row.by(
            f"Example 3: LL, response at the worker of rate μ = {mu}, s",
            1.0,
            float(ll.there.mean()),
            printed(over(ll.there), 1.0, 1.0),
            "the same as at the slow workers, whose service takes 1 s; the paper has 1 as μ tends to infinity",
        ),
        Row(
            f"Example 3: LL, longest queue, about μ − 1 = {mu - 1}",
            float(mu - 1),
            float(ll.longest.mean()),
            None,
            "the paper means the usual length of the queue; this is its maximum over the run",
        ),
        Row.by(
            "Example 3: SQ over LL, response at the fast worker",
            "less congested",
            float((sq.there / ll.there).mean()),
            below([over(sq.there - ll.there)], rule=f"holds if SQ's is {_SIGNIFICANTLY} lower"),
            "the paper does not state by how much",
        ),
        Row(
            "Example 3: mean response of all tasks, s",
            None,
            f"SQ {sq.of_all.mean():.3f}, LL {ll.of_all.mean():.3f}",
            None,
            "The fast worker is quicker under SQ, but SQ sends more tasks to slow workers, each of which costs 1 s: "
            "the mean over all tasks can rise or fall, and Example 3 is about the fast worker only.",
        ),
    )


def large_cluster(_quick: bool) -> Reproduction:
    """Simulate 900 workers of rate 1 and 100 of rate 6 at load 0.9 with known rates."""
    tasks = 5_000_000
    rate = _LARGE_LOAD * float(_LARGE.sum())
    one, two = surplus(_LARGE, rate, 1), surplus(_LARGE, rate, 2)
    rows = []
    for policy, derived in (("ppot", None), ("pss", None), ("uniform", one), ("pot", two)):
        runs = [simulate(policy, _LARGE, _LARGE_LOAD, tasks, seed=seed, samples=200) for seed in _SEEDS]
        growths = np.array([growth(done) for done in runs])
        means = np.array([done.mean for done in runs])
        late = np.array([done.response[tasks // 10 :].mean() for done in runs])
        rows.append(
            Row.by(
                f"900 workers of rate 1, 100 of 6, load 0.9, {tasks:,} tasks: {policy}, mean response, s",
                "stable" if derived is None else "unstable",
                f"{means.mean():.4g}, without the first tenth {late.mean():.4g}; waiting tasks grow by "
                f"{growths.mean():.3g}/s",
                is_stable(growths, two) if derived is None else is_unstable(growths, derived),
                "the claim of Examples 1 and 2 for ten workers, applied to a thousand workers",
            )
        )
        if policy == "pss":
            rows.append(exact_row(late))
        if derived is None:
            rows.append(
                Row(
                    f"the same: {policy}, longest queue",
                    None,
                    float(np.mean([done.longest_queue for done in runs])),
                    None,
                    "no number is published for this cluster; the rows 'longest queue against n' show how it grows",
                )
            )
    return Reproduction(tuple(rows))


def exact_row(late: NDArray[np.float64]) -> Row:
    """Return the row on PSS's mean response, (s,) s by seed, over that of independent M/M/1 queues."""
    exact = len(_LARGE) / ((1.0 - _LARGE_LOAD) * float(_LARGE.sum()))
    return Row.by(
        "the same: pss, mean response without the first tenth over that of 1,000 independent queues, n / ((1 − ρ) Σμ)",
        None,
        float(late.mean() / exact),
        printed(over(late), round(exact, 1), 0.1, "exact"),
        f"from theory, not from the paper: {exact:.3f} s",
    )
