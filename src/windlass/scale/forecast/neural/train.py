"""Teaching a network: random windows of the rows that it may learn from, and the best weights on those held back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

_Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Course:
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


def teach(
    network: eqx.Module,
    loss: Callable[[jax.Array, jax.Array], jax.Array],
    optimizer: optax.GradientTransformation,
    rows: _Floats,
    held: _Floats,
    course: Course,
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

    @eqx.filter_jit
    def move(network, state, spans, firsts, key):  # type: ignore[no-untyped-def]
        def cost(network):  # type: ignore[no-untyped-def]
            keys = jax.random.split(key, len(spans))
            window, after = spans[:, : course.window], spans[:, course.window :]
            found = jax.vmap(network.taught)(window, firsts, after, keys)
            return jnp.mean(loss(found, after))

        value, slopes = eqx.filter_value_and_grad(cost)(network)
        moves, state = optimizer.update(slopes, state, eqx.filter(network, eqx.is_inexact_array))
        return eqx.apply_updates(network, moves), state, value

    @eqx.filter_jit
    def tried(network, spans, firsts):  # type: ignore[no-untyped-def]
        found = jax.vmap(lambda w, f: network.ahead(w, f, course.horizon))(spans[:, : course.window], firsts)
        return jnp.mean(loss(found, spans[:, course.window :]))

    views = np.lib.stride_tricks.sliding_window_view(rows, span, axis=0).swapaxes(1, 2)
    whole = np.concatenate([rows[-course.window :], held])
    trials = np.lib.stride_tricks.sliding_window_view(whole, span, axis=0).swapaxes(1, 2)
    picked = np.linspace(0, len(trials) - 1, min(len(trials), 128)).astype(np.int64)
    trial_firsts = jnp.asarray(picked + len(rows) - course.window)
    trial_spans = jnp.asarray(trials[picked])
    best, least = network, np.inf
    begun = clock()
    for step in range(1, course.steps + 1):
        firsts = rng.integers(0, len(views), course.batch)
        key = jax.random.key(int(rng.integers(2**31)))
        network, state, _ = move(network, state, jnp.asarray(views[firsts]), jnp.asarray(firsts), key)
        late = clock() - begun > course.seconds
        if step % course.look == 0 or step == course.steps or late:
            found = float(tried(network, trial_spans, trial_firsts))
            if found < least:
                best, least = network, found
        if late:
            break
    return best
