"""Training of a network on random windows of the training rows; the best weights on held-back rows are kept."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

_Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TrainingSchedule:
    """Parameters of the training of a network.

    Parameters
    ----------
    steps, batch
        Number of training steps, and of windows in each.
    window, horizon
        Number of input rows and of forecast rows.
    look
        Number of steps between two evaluations on held-back rows.
    seconds
        Maximum training time, s.
    """

    steps: int
    batch: int
    window: int
    horizon: int
    look: int = 100
    seconds: float = float("inf")


def noam(width: int, warmup: int) -> Callable[[jax.Array], jax.Array]:
    """Return the paper's learning rate, width^-0.5 · min(step^-0.5, step · warmup^-1.5).

    The signs of the exponents are missing in the paper.

    Parameters
    ----------
    width
        Width of the model, d_model.
    warmup
        Number of steps in which the rate rises.
    """

    def rate(count: jax.Array) -> jax.Array:
        step = jnp.asarray(count, jnp.float32) + 1.0
        return width**-0.5 * jnp.minimum(step**-0.5, step * warmup**-1.5)

    return rate


@functools.cache
def adam(rate: float) -> optax.GradientTransformation:
    """Return Adam at a constant rate; the same object each time, so that compiled functions are reused."""
    return optax.adam(rate)


@functools.cache
def adam_by_noam(width: int, warmup: int) -> optax.GradientTransformation:
    """Return the paper's Adam at the rate of :func:`noam`; the same object each time."""
    return optax.adam(noam(width, warmup), b1=0.9, b2=0.98, eps=1e-9)


def teach(
    network: eqx.Module,
    loss: Callable[[jax.Array, jax.Array], jax.Array],
    optimizer: optax.GradientTransformation,
    rows: _Floats,
    held: _Floats,
    course: TrainingSchedule,
    seed: int,
    clock: Callable[[], float] = time.monotonic,
) -> eqx.Module:
    """Train a network and return it with the weights that were best on ``held``.

    Parameters
    ----------
    network
        Has ``taught(window, first, after, key)`` and ``ahead(window, first, steps)``.
    loss
        Loss of forecasts and truths, elementwise.
    optimizer
        Updates the weights.
    rows
        (t, k) scaled training rows.
    held
        (h, k) the rows that follow, which select the weights; their windows begin in ``rows``.
    course
        Training parameters.
    seed
        Seed of windows and dropout.
    clock
        Returns the time, s; for the time limit.
    """
    rng = np.random.default_rng(seed)
    span = course.window + course.horizon
    state = optimizer.init(eqx.filter(network, eqx.is_inexact_array))

    views = np.lib.stride_tricks.sliding_window_view(rows, span, axis=0).swapaxes(1, 2)
    whole = np.concatenate([rows[-course.window :], held])
    trials = np.lib.stride_tricks.sliding_window_view(whole, span, axis=0).swapaxes(1, 2)
    # A fixed number, so that a longer series is not compiled again.
    picked = np.linspace(0, len(trials) - 1, 128).astype(np.int64)
    trial_firsts = jnp.asarray(picked + len(rows) - course.window)
    trial_spans = jnp.asarray(trials[picked])
    best, least = network, np.inf
    start = clock()
    for step in range(1, course.steps + 1):
        firsts = rng.integers(0, len(views), course.batch)
        key = jax.random.key(int(rng.integers(2**31)))
        spans = jnp.asarray(views[firsts])
        network, state = _moved(
            network, state, spans, jnp.asarray(firsts), key, loss, optimizer, course.window
        )
        late = clock() - start > course.seconds
        if step % course.look == 0 or step == course.steps or late:
            found = float(_tried(network, trial_spans, trial_firsts, loss, course.window))
            if found < least:
                best, least = network, found
        if late:
            break
    return best


# Compiled once for networks of one shape, because a policy trains a new one every day.
@eqx.filter_jit
def _moved(
    network: Any,
    state: Any,
    spans: jax.Array,
    firsts: jax.Array,
    key: jax.Array,
    loss: Callable[[jax.Array, jax.Array], jax.Array],
    optimizer: optax.GradientTransformation,
    window: int,
) -> tuple[Any, Any]:
    """Return the weights and the optimizer state after one step."""

    def cost(network: Any) -> jax.Array:
        keys = jax.random.split(key, len(spans))
        after = spans[:, window:]
        found = jax.vmap(network.taught)(spans[:, :window], firsts, after, keys)
        return jnp.mean(loss(found, after))

    slopes = eqx.filter_grad(cost)(network)
    moves, state = optimizer.update(slopes, state, eqx.filter(network, eqx.is_inexact_array))
    return eqx.apply_updates(network, moves), state


@eqx.filter_jit
def _tried(
    network: Any,
    spans: jax.Array,
    firsts: jax.Array,
    loss: Callable[[jax.Array, jax.Array], jax.Array],
    window: int,
) -> jax.Array:
    """Return the mean loss on held-back spans."""
    steps = spans.shape[1] - window
    found = jax.vmap(lambda each, first: network.ahead(each, first, steps))(spans[:, :window], firsts)
    return jnp.mean(loss(found, spans[:, window:]))
