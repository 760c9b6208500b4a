"""EASY at one instant compared with its definition: starting heads, and owed or claimed processors."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tests.order.test_owed import NOW, drawn
from windlass.order.site.policies.easy import Easy
from windlass.order.site.view import Running, Waiting

HEAD, BEFORE, WITH_HEAD = Easy.reasons


def plain_easy(view):
    """The jobs to start and the reason of each."""
    waiting, running = view.waiting, view.running
    asks = np.vstack((waiting.procs, waiting.needs)).T
    holds = np.vstack((running.procs, running.needs)).T
    free = np.array([view.free, *view.pools])
    held = [(end, own[0], own) for end, own in zip(running.expected_end.tolist(), holds, strict=True)]
    found, head = [], 0
    while head < len(asks) and view.refused == 0 and (asks[head] <= free).all():
        free = free - asks[head]
        held.append((NOW + waiting.request[head], asks[head][0], asks[head]))
        found.append((head, HEAD))
        head += 1
    if head == len(asks):
        return found
    # Owed and claimed processors are subtracted; of jobs that end together the narrowest count first.
    spare, at = free.copy(), math.inf
    spare[0] -= view.owed + view.claimed
    for end, _, own in sorted(held, key=lambda each: each[:2]):
        spare = spare + own
        if (asks[head] <= spare).all():
            at = end
            break
    spare = spare - asks[head]
    for row in range(head + 1, len(asks)):
        if (asks[row] > free).any():
            continue
        before = NOW + waiting.request[row] <= at
        if not before:
            if (asks[row] > spare).any():
                continue
            spare = spare - asks[row]
        free = free - asks[row]
        found.append((row, BEFORE if before else WITH_HEAD))
    return found


def view_with_owed_processors(seed, pools):
    """Narrow jobs among wide ones wait for jobs that give much back, while some processors are idle."""
    rng, view = np.random.default_rng([12, seed, pools]), drawn(seed, pools)
    waits, runs = int(rng.integers(4, 10)), len(view.running.job)
    waiting = Waiting.of(
        np.arange(waits),
        np.zeros(waits),
        rng.choice([1, 1, 2, 3, 8], waits),
        rng.choice([0.0, 1.0, 2.5, 7.0, 30.0], waits),
        needs=rng.integers(0, 3, (pools, waits)),
    )
    holds = dict(zip(view.running.job.tolist(), rng.integers(0, 9, runs).tolist(), strict=True))
    kept = view.running
    running = Running.of(
        kept.job, [holds[job] for job in kept.job.tolist()], kept.expected_end, needs=kept.needs
    )
    found = dataclasses.replace(
        view, free=int(rng.integers(0, 6)), owed=int(rng.integers(0, 5)), waiting=waiting, running=running
    )
    heads = [why for _, why in plain_easy(found)].count(HEAD)
    return dataclasses.replace(found, refused=int(heads == 0 and seed % 2))


@pytest.mark.parametrize("pools", [0, 1, 2])
def test_easy_equals_its_definition_with_owed_processors(pools):
    behind = {BEFORE: 0, WITH_HEAD: 0}
    for seed in range(300):
        view = view_with_owed_processors(seed, pools)
        expected, answer = plain_easy(view), Easy().decide(view)
        assert list(zip(answer.jobs, answer.why, strict=True)) == expected, seed
        if view.owed and expected and expected[0][1] == HEAD:
            for _, why in expected:
                behind[why] = behind.get(why, 0) + 1
    assert min(behind.values()) > 1


@pytest.mark.parametrize("pools", [0, 1, 2])
def test_easy_equals_its_definition_with_processors_that_others_claim(pools):
    differ = {True: 0, False: 0}
    for seed in range(300):
        drawn_view = view_with_owed_processors(seed, pools)
        claims = int(np.random.default_rng([13, seed, pools]).integers(1, 5))
        view = dataclasses.replace(drawn_view, claimed=claims)
        expected, answer = plain_easy(view), Easy().decide(view)
        assert list(zip(answer.jobs, answer.why, strict=True)) == expected, seed
        # Claims matter both behind jobs that start at once and behind a head that waits.
        behind = bool(expected) and expected[0][1] == HEAD
        differ[behind] += expected != plain_easy(drawn_view)
    assert min(differ.values()) > 1
