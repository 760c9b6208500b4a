"""Teaching a network: random windows of the rows that it may learn from, and the best weights on those held back."""

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
    """How a network is taught.

    Parameters
    ----------
    steps, batch
        How often weights are moved, and by how many windows each time.
    window, horizon
        Rows that it sees, and rows that it says.
    look
        After how many steps it is tried on rows that were held back.
    seconds
        It ends early after so long.
    """

    steps: int
    batch: int
    window: int
    horizon: int
    look: int = 100
    seconds: float = float("inf")


def noam(width: int, warmup: int) -> Callable[[jax.Array], jax.Array]:
    """The learning rate of the paper: width^-0.5 · min(step^-0.5, step · warmup^-1.5); its exponents lost their signs.

    Parameters
    ----------
    width
        Of the model, d_model.
    warmup
        Steps in which it rises.
    """

    def rate(count: jax.Array) -> jax.Array:
        step = jnp.asarray(count, jnp.float32) + 1.0
        return width**-0.5 * jnp.minimum(step**-0.5, step * warmup**-1.5)

    return rate


@functools.cache
def adam(rate: float) -> optax.GradientTransformation:
    """Adam at one rate; the same object each time, so that what is compiled for it is found again."""
    return optax.adam(rate)


@functools.cache
def adam_by_noam(width: int, warmup: int) -> optax.GradientTransformation:
    """The paper's Adam, at the rate of :func:`noam`; the same object each time."""
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
    """The network with the weights that were best on ``held``.

    Parameters
    ----------
    network
        Has ``taught(window, first, after, key)`` and ``ahead(window, first, steps)``.
    loss
        Of forecasts and truths, for each number.
    optimizer
        Moves weights.
    rows
        (t, k) what it learns from, scaled.
    held
        (h, k) the rows that follow, which choose the weights; their windows begin in ``rows``.
    course
        How.
    seed
        Of windows and dropout.
    clock
        Seconds, for a course that ends by time.
    """
    rng = np.random.default_rng(seed)
    span = course.window + course.horizon
    state = optimizer.init(eqx.filter(network, eqx.is_inexact_array))

    views = np.lib.stride_tricks.sliding_window_view(rows, span, axis=0).swapaxes(1, 2)
    whole = np.concatenate([rows[-course.window :], held])
    trials = np.lib.stride_tricks.sliding_window_view(whole, span, axis=0).swapaxes(1, 2)
    # Always as many, so that nothing is compiled again for a longer series.
    picked = np.linspace(0, len(trials) - 1, 128).astype(np.int64)
    trial_firsts = jnp.asarray(picked + len(rows) - course.window)
    trial_spans = jnp.asarray(trials[picked])
    best, least = network, np.inf
    begun = clock()
    for step in range(1, course.steps + 1):
        firsts = rng.integers(0, len(views), course.batch)
        key = jax.random.key(int(rng.integers(2**31)))
        spans = jnp.asarray(views[firsts])
        network, state = _moved(
            network, state, spans, jnp.asarray(firsts), key, loss, optimizer, course.window
        )
        late = clock() - begun > course.seconds
        if step % course.look == 0 or step == course.steps or late:
            found = float(_tried(network, trial_spans, trial_firsts, loss, course.window))
            if found < least:
                best, least = network, found
        if late:
            break
    return best


# Compiled once for networks of one shape, however many are taught: what decides is taught again every day.
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
    """Weights after one step, and what moves them."""

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
    """The mean loss on spans that were held back."""
    steps = spans.shape[1] - window
    found = jax.vmap(lambda each, first: network.ahead(each, first, steps))(spans[:, :window], firsts)
    return jnp.mean(loss(found, spans[:, window:]))
