"""Gathering compared with a plain version: several stages, links in use, and held slots."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.place.plain_gather import ELSEWHERE, TooCloseError, gather
from tests.place.test_plain import drawn_view
from tests.place.test_plain_tetrium import mixed
from tests.place.test_scarce import scarce_view
from windlass.place.policies.gather import Gather


def crowded(view, seed):
    """For two of three views: sites are full or idle, and input is little enough to be read elsewhere."""
    if seed % 3 == 0:
        return view
    rng, sites, ready = np.random.default_rng([8, seed]), view.sites, view.ready
    slots = sites.slots * 3
    free = np.where(rng.random(len(slots)) < 0.5, 0, slots)
    data = ready.data * rng.choice([0.005, 0.05, 0.5], (len(ready.job), 1))
    return dataclasses.replace(
        view, sites=sites._replace(slots=slots, free=free), ready=ready._replace(data=data)
    )


@pytest.mark.matrix
@pytest.mark.parametrize("drawn", [drawn_view, scarce_view])
@pytest.mark.parametrize(
    ("ahead", "slots_back", "links_left", "patience"),
    [(True, 0.3, 0.2, 0.0), (False, 0.0, 0.7, 0.3), (True, 1.0, 0.0, 2.0), (False, 0.9, 1.0, 1.0)],
)
def test_starts_and_reasons_equal_the_plain_version(drawn, ahead, slots_back, links_left, patience):
    compared = elsewhere = 0
    for seed in range(60):
        view = crowded(mixed(drawn(seed), seed), seed)
        try:
            starts, why = gather(view, ahead, slots_back, links_left, patience)
        except TooCloseError:
            continue
        answer = Gather(ahead, slots_back, links_left, patience).decide(view)
        assert answer.starts.tolist() == starts, seed
        assert answer.why.tolist() == why, seed
        compared += 1
        elsewhere += ELSEWHERE in why
    assert compared > 30
    assert patience == 0.0 or elsewhere > 3
