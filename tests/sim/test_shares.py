"""Runs in which jobs share are possible, by a validator that knows nothing of the simulator, under every policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.test_chopping import Chop
from tests.oracles.shares import read, spent, violations
from tests.oracles.workloads import CHECK
from tests.sim.sharing import ORDER_NAMES, SHARERS, Case, Done, Nasty, busy, cases, order_of, run
from windlass.share import ShareView
from windlass.sim import replay
from windlass.sim.nodes import Ledger
from windlass.sim.part import Part


def capacity(case: Case) -> Callable[[float], int]:
    """How many processors the site has at an instant."""

    def at(time: float) -> int:
        changes = np.flatnonzero(case.outages.time <= time)
        return int(case.outages.cores[changes[-1]]) if len(changes) else case.processors

    return at


def wrong(case: Case, done: Done, *, kill: bool = True) -> list[str]:
    """What the validator says, and whether the ledger is whole again."""
    found = violations(
        case.jobs,
        case.use,
        capacity(case),
        done.replay,
        done.shared,
        case.physics,
        memory_per_core=case.memory_per_core,
        every=case.every,
        kill=kill,
    )
    nodes = done.ledger.nodes
    if nodes.held.any() or nodes.idle.tolist() != nodes.capacity.tolist():
        found.append(f"{nodes.held.sum()} processors are still held")
    return found


def elapsed_off(case: Case, done: Done, views: Sequence[ShareView]) -> list[str]:
    """Of hosts and of guests that are shown, where what they used of their walltimes is not so."""
    made, found = read(case.jobs, case.use, done.replay, done.shared, case.physics), []
    row_of = {job: row for row, job in enumerate(case.jobs.job.tolist())}
    for view in views:
        for host in view.running:
            mine = [each for each in made.attempts if each.row == row_of[host.job]]
            of = max((each for each in mine if each.start <= view.now), key=lambda each: each.start)
            if host.elapsed != pytest.approx(spent(of, view.now), abs=1e-6):
                found.append(f"at {view.now} s, job {host.job} has {host.elapsed} s")
    return found


_SHARER, _ORDER = st.sampled_from(list(SHARERS)), st.sampled_from(ORDER_NAMES)


@settings(CHECK, max_examples=250)
@given(case=cases(), sharer=_SHARER, order=_ORDER, kill=st.booleans(), seed=st.integers(0, 3))
def test_drawn_runs_are_possible(case: Case, sharer: str, order: str, kill: bool, seed: int) -> None:
    done = run(case, SHARERS[sharer](seed), order, kill=kill, seed=seed)
    assert wrong(case, done, kill=kill) == []


@settings(CHECK, max_examples=250)
@given(
    case=cases(outages=True), order=_ORDER, kill=st.booleans(), vacate=st.booleans(), seed=st.integers(0, 30)
)
def test_drawn_runs_are_possible_under_any_answers_while_processors_come_and_go(
    case: Case, order: str, kill: bool, vacate: bool, seed: int
) -> None:
    views: list[ShareView] = []

    def log(decision: str, view: Any, answer: Any) -> None:
        if decision == "share":
            views.append(view)

    sharer = Nasty(np.random.default_rng(seed))
    done = run(case, sharer, order, kill=kill, seed=seed, vacate=vacate, log=log)
    assert wrong(case, done, kill=kill) == []
    assert elapsed_off(case, done, views) == []


@pytest.mark.parametrize("order", ORDER_NAMES)
@pytest.mark.parametrize("sharer", SHARERS)
def test_longer_runs_are_possible(sharer: str, order: str) -> None:
    case = busy(len(sharer) + len(order))
    done = run(case, SHARERS[sharer](1), order)
    assert wrong(case, done) == []
    # And they shared, where anybody would.
    assert (len(done.shared.host) > 0) == (sharer != "none")


def bits(result: Any) -> list[Any]:
    """All that a result holds, comparable to the bit."""
    values = [getattr(result, each.name) for each in fields(result)]
    return [value.tobytes() if isinstance(value, np.ndarray) else value for value in values]


@settings(CHECK, max_examples=100)
@given(case=cases(), order=_ORDER, kill=st.booleans())
def test_where_nobody_shares_it_is_the_replay_to_the_bit(case: Case, order: str, kill: bool) -> None:
    alone = replay(case.jobs, case.processors, order_of(order), kill=kill)
    done = run(case, SHARERS["none"](0), order, kill=kill)
    assert bits(done.replay)[1:] == bits(alone)[1:]
    assert len(done.shared.host) == done.shared.evicted == 0


@pytest.mark.parametrize("order", ORDER_NAMES)
def test_longer_runs_where_nobody_shares_are_the_replay_to_the_bit(order: str) -> None:
    case = busy(5, jobs=200)
    alone = replay(case.jobs, case.processors, order_of(order))
    assert bits(run(case, SHARERS["none"](0), order).replay)[1:] == bits(alone)[1:]


@pytest.mark.parametrize("sharer", SHARERS)
def test_the_same_seed_gives_the_same_bytes(sharer: str) -> None:
    found = []
    for _ in range(2):
        done = run(busy(7), SHARERS[sharer](2), "easy", seed=4)
        found.append([*bits(done.replay)[1:], *bits(done.shared)])
    assert found[0] == found[1]


def chopped(case: Case, sharer: str, order: str, instants: Sequence[float]) -> Done:
    """The same run, stopped at instants at which nothing has to happen."""

    def also(ledger: Ledger) -> list[Part]:
        return [Chop(instants)]

    return run(case, SHARERS[sharer](3), order, also=also)


@settings(CHECK, max_examples=80)
@given(case=cases(), sharer=_SHARER, order=_ORDER, seed=st.integers(0, 99))
def test_drawn_runs_do_not_notice_where_time_stops(case: Case, sharer: str, order: str, seed: int) -> None:
    whole = run(case, SHARERS[sharer](3), order)
    own = np.concatenate((whole.replay.start, whole.replay.end, whole.shared.start))
    until = np.random.default_rng(seed).uniform(case.jobs.submit[0], own.max() + 1.0, 20)
    done = chopped(case, sharer, order, [*own, *np.nextafter(own, np.inf), *until])
    # Speeds are set only where a stage, a quota or a partner changes: so nothing is rounded in another way.
    assert bits(done.replay)[1:] == bits(whole.replay)[1:]
    assert bits(done.shared) == bits(whole.shared)


@pytest.mark.parametrize("sharer", ["always", "asax, printed", "pairs", "nasty"])
def test_longer_runs_do_not_notice_where_time_stops(sharer: str) -> None:
    case = busy(9)
    whole = run(case, SHARERS[sharer](3), "easy")
    instants = np.random.default_rng(1).uniform(0.0, whole.replay.end.max(), 300)
    done = chopped(case, sharer, "easy", instants.tolist())
    assert bits(done.replay)[1:] == bits(whole.replay)[1:]
    assert bits(done.shared) == bits(whole.shared)
