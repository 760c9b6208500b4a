"""Placement as plain Python: no policy reads or writes beyond its arrays, and all decide the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.oracles.interpreted import interpreted
from tests.place.test_plain import drawn_view
from tests.place.test_plain_tetrium import later, mixed
from tests.place.test_scarce import scarce_view
from windlass.jit import Kernel
from windlass.place import POLICIES


class AsWritten:
    """A kernel that runs as plain Python."""

    def __init__(self, kernel):
        self.function = interpreted(kernel.python)

    def ready(self):
        return self.function


def as_written(policy):
    """The same policy with its compiled functions as plain Python."""
    found = type(f"{type(policy).__name__}AsWritten", (type(policy),), {})
    for name in dir(found):
        if isinstance(getattr(found, name), Kernel):
            setattr(found, name, AsWritten(getattr(found, name)))
    twin = found.__new__(found)
    vars(twin).update(vars(policy))
    return twin


def contents(answer):
    """Return all fields of an answer."""
    return {
        field.name: str(np.asarray(getattr(answer, field.name)).tolist())
        for field in dataclasses.fields(answer)
    }


@pytest.mark.matrix
@pytest.mark.parametrize("drawn", [drawn_view, scarce_view])
@pytest.mark.parametrize("name", POLICIES.names())
def test_no_placement_reads_or_writes_beyond_its_arrays(name, drawn):
    policy = POLICIES.make(name, np.random.default_rng(0))
    plain, started = as_written(policy), 0
    for seed in range(4):
        view = mixed(drawn(seed), seed)
        for turn in range(2):
            # Machine code that writes where it must not ends the process, so it comes second.
            with np.errstate(all="ignore"):
                written = contents(plain.decide(view))
            answer = policy.decide(view)
            assert contents(answer) == written, (seed, turn)
            started += len(answer.starts)
            view = later(view, answer, seed)
    assert started
