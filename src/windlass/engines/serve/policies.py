"""The dispatch policy of a router, made from its options; importing this module imports the compiler of policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from windlass.dispatch import POLICIES
from windlass.dispatch.context import DispatchContext
from windlass.dispatch.policies.pull import Pull
from windlass.dispatch.policies.rosella import Rosella
from windlass.engines.serve.calls import Learner
from windlass.engines.serve.options import RouterDispatch, RouterOptions

#: Guaranteed throughput for the learner, work/s: so low that an idle replica never counts as dead; see RouterOptions.
_NOTHING_SURE = 1e-9
_MOST_LOAD = 0.95
#: Rosella's accuracy at that load, from which its window is derived.
_ACCURACY = 0.3 * (1 - _MOST_LOAD)
_PROBES_OF_ROSELLA = 8


@dataclass(frozen=True, slots=True)
class _RouterContext(DispatchContext):
    """The constructor arguments of a policy that has none of a router's own; see :class:`RouterOptions`."""

    memory: float | None = None
    probes: int | None = None


def make(options: RouterOptions, workers: int, rng: np.random.Generator) -> Learner:
    """Return a router's dispatch policy.

    Parameters
    ----------
    options
        The options of the router.
    workers
        Number of replicas.
    rng
        The policy's only source of randomness.

    Examples
    --------
    >>> make(RouterOptions(dispatch="prequal"), 3, np.random.default_rng(1)).name
    'prequal'
    """
    return _MAKERS.get(options.dispatch, _named)(options, workers, rng)


def _named(options: RouterOptions, workers: int, rng: np.random.Generator) -> Learner:
    """Return a policy as in the simulator; it remembers as many completions as the others."""
    context = _RouterContext(rng, workers, memory=float(options.window), probes=options.probes)
    policy: Learner = POLICIES.make(options.dispatch, context)
    return policy


def _pull(options: RouterOptions, workers: int, rng: np.random.Generator) -> Learner:
    return Pull(
        workers,
        _NOTHING_SURE,
        rng=rng,
        late=False,
        gaps=2 * options.window * workers,
        probe_share=0.0,
        window_scale=_window_scale(options, workers),
        most_load=_MOST_LOAD,
    )


def _rosella(options: RouterOptions, workers: int, rng: np.random.Generator) -> Learner:
    return Rosella(
        workers,
        _NOTHING_SURE,
        rng=rng,
        gaps=2 * options.window * workers,
        probe_share=0.0,
        window_scale=_window_scale(options, workers),
        most_load=_MOST_LOAD,
        by=options.by,
        probes=options.probes or _PROBES_OF_ROSELLA,
    )


def _window_scale(options: RouterOptions, workers: int) -> float:
    """Return the scale of Rosella's window, which is window_scale · log(n) / accuracy²."""
    return options.window * _ACCURACY**2 / math.log(max(workers, 2))


_MAKERS: Mapping[str, Callable[[RouterOptions, int, np.random.Generator], Learner]] = MappingProxyType(
    {RouterDispatch.PULL: _pull, RouterDispatch.ROSELLA: _rosella}
)
