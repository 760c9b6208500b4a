"""The head of the queue starts by its first promise on a stretch of a real log, under EASY and sharing.

The promise is exact up to 1e-5 s of rounding: :mod:`tests.oracles.promises` needs no allowance for requeues or for
interference. A requeued guest goes to the end of the queue, and its processors become free. A walltime bounds a slow
host as well as a fast one. A promise counts from the instant at which a job becomes head, and again after a lost
attempt. It presumes that no processors fail, and that jobs are killed at their walltimes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracles.promises import broken, promises
from tests.oracles.shares import read, violations
from windlass.experiment.worlds.sharing.world import SharingWorld, simulated
from windlass.share.view import ShareView
from windlass.sim.shares.part import SharesPart
from windlass_reproductions.asax import stretches
from windlass_reproductions.asax.stretches import Stretch
from windlass_reproductions.public import traces

STRETCH = Stretch("200 jobs", "swf/KTH-SP2-1996-2.1-cln.swf.gz", "job >= 13001 and job <= 13200")
PAIRS: dict[str, Any] = {"pairs": {"budget": 0.1}}
ASAX: dict[str, Any] = {"asax": {"loss": "progress"}}


@pytest.fixture
def simulate() -> Callable[..., Any]:
    """Return a function that runs the stretch under a co-scheduler, on the processors that its 1,000 jobs have."""
    if not (traces() / STRETCH.log).is_file():
        pytest.skip(f"the log is missing: no file {traces() / STRETCH.log}")

    def run(share: Any, seed: int) -> Any:
        setting = stretches._setting(STRETCH, share, processors=94)
        return simulated(setting, seed, SharingWorld().workload(setting, seed))

    return run


def run_of(case: Any, done: Any) -> Any:
    return read(case.jobs, case.use, done.jobs, done.shared, case.physics)


@pytest.mark.slow
@pytest.mark.parametrize("share", [PAIRS, ASAX], ids=["pairs", "asax"])
def test_no_head_starts_after_its_first_promise(simulate: Callable[..., Any], share: Any) -> None:
    case, done = simulate(share, 1)
    made = run_of(case, done)
    assert len(promises(made, case.processors)) >= 20
    # Guests are requeued, so that the queue and its promises include lost attempts.
    assert len(done.jobs.lost) > 0
    assert broken(made, case.processors) == []
    assert (
        violations(
            case.jobs,
            case.use,
            lambda now: case.processors,
            done.jobs,
            done.shared,
            case.physics,
            memory_per_core=case.memory_per_core,
            every=case.checkpoint,
            kill=case.kill,
        )
        == []
    )


def test_promises_break_if_guests_beyond_their_promised_ends_stay(
    simulate: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Under pairs no promise broke without this rule in 36 runs of this log: its guests end in time, or the policy
    # requeues them.
    monkeypatch.setattr(SharesPart, "_make_way", lambda part: False)
    case, done = simulate(ASAX, 1)
    assert broken(run_of(case, done), case.processors) != []


@pytest.mark.slow
def test_promises_break_if_guests_that_could_delay_the_head_are_admitted(
    simulate: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShareView, "outstays", lambda view, host, candidate, quota: 0)
    case, done = simulate(PAIRS, 1)
    assert broken(run_of(case, done), case.processors) != []
