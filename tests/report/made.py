"""Small and unusual results to report on."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from windlass.results import RECORDED, Choice, Outcome, Results, VariantResult
from windlass.results.metrics.site import batch_metrics


def outcome(
    submit: Sequence[float],
    wait: Sequence[float],
    run: Sequence[float],
    *,
    seed: int = 0,
    procs: Sequence[int] | None = None,
    why: Sequence[str] | None = None,
    notes: tuple[str, ...] = (),
) -> Outcome:
    """A batch outcome on 8 processors, from the times and widths of its jobs."""
    submits = np.array(submit, float)
    start = submits + np.array(wait, float)
    end = start + np.array(run, float)
    widths = np.array(procs if procs is not None else [1] * len(submits), np.int64)
    table = pl.DataFrame(
        {
            "job": np.arange(1, len(submits) + 1),
            "submit_s": submits,
            "start_s": start,
            "end_s": end,
            "procs": widths,
            "request_s": end - start,
            "why": list(why) if why is not None else ["head of the queue"] * len(submits),
        }
    )
    return Outcome(seed, batch_metrics(submits, start, end, widths, 8), table, 8, notes)


def results(
    *variants: tuple[str, Sequence[Outcome]], scenario: str = "a scenario", as_run: str = ""
) -> Results:
    """Results of variants by name."""
    return Results(
        scenario,
        as_run,
        tuple(
            VariantResult(
                name, (Choice("order", name),), tuple(runs), own=name == RECORDED, recorded=name == RECORDED
            )
            for name, runs in variants
        ),
    )


def random_outcome(jobs: int, seed: int, mean_wait: float = 1000.0) -> Outcome:
    """Jobs of a day and more, a third of which do not wait."""
    rng = np.random.default_rng(seed)
    wait = np.where(rng.random(jobs) < 1 / 3, 0.0, rng.exponential(mean_wait, jobs))
    return outcome(
        np.sort(rng.uniform(0, 100.0 * jobs, jobs)).tolist(),
        wait.tolist(),
        rng.exponential(600.0, jobs).tolist(),
        seed=seed,
        procs=rng.integers(1, 9, jobs).tolist(),
    )
