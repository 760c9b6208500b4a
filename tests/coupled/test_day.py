"""The cluster of ``python -m benchmarks.day``: all seven decisions in three regions, and each left out."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.day import VARIANTS, Day, build, build_compiled

from tests.coupled.test_concerns import content
from windlass.drive import drive
from windlass.experiment.workloads.streams import stream
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.result import Dispatched

_SHORT = Day(300.0, 600, (60.0, 60.0, 24.0, 120.0))


@pytest.mark.parametrize(
    "without",
    [
        pytest.param(names, id=", ".join(names) or "all", marks=pytest.mark.slow if names else ())
        for names in VARIANTS
    ],
)
def test_each_variant_runs_to_its_end_and_holds_nothing_then(without: tuple[str, ...]) -> None:
    counts: dict[str, int] = {}
    built = build(_SHORT, without, counts)
    results = drive(built.engine, built.policies)
    assert not built.ledger.nodes.held.any()
    assert not set(counts) & set(without)
    assert {"place", "plan", "scale"} - set(without) <= set(counts)
    # The policy of admission is called in the loop.
    observed = [each for each in results if isinstance(each, Observed)]
    assert [len(each.rejects) > 250 for each in observed] == [True] * (0 if "admit" in without else 3)
    dispatched = [each for each in results if isinstance(each, Dispatched)]
    assert len(dispatched) == 3
    assert sum(len(each.response) for each in dispatched) == 600
    assert all(np.isfinite(each.response).all() for each in dispatched)
    again = build(_SHORT, without, {})
    assert content(drive(again.engine, again.policies)) == content(results)


def test_parts_under_compiled_policies_run_to_their_end() -> None:
    built = build_compiled(_SHORT)
    results = drive(built.engine, built.policies)
    assert not built.ledger.nodes.held.any()
    done = [each for each in results if isinstance(each, Dispatched)]
    assert sum(int(np.isfinite(each.response).sum()) for each in done) == 600
    assert built.arrivals > 2 * 600


def test_streams_have_numbers_of_their_own() -> None:
    names = [f"{part}@{site}" for part in ("tasks", "jobs", "share") for site in ("iowa", "sydney")]
    drawn = {name: stream(1, name).random(4).tolist() for name in names}
    assert len({tuple(each) for each in drawn.values()}) == len(names)
    assert drawn["tasks@iowa"] == stream(1, "tasks@iowa").random(4).tolist()
    assert drawn["tasks@iowa"] != stream(2, "tasks@iowa").random(4).tolist()
    # Worlds number their streams; no name has their numbers.
    numbered = [np.random.default_rng([1, number]).random(4).tolist() for number in range(6)]
    assert not any(each in numbered for each in drawn.values())
