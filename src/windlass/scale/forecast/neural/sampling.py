"""The rows after a window one by one, without working anything out twice; the same numbers as by whole sequences.

While it is taught, a decoder is told all rows at once and hides later ones by a mask. Where it is told its own
forecasts, that would work out every row before it again, and at each step what the window says. Here each layer keeps
the keys and values of the window, and those of the rows that were said; a step is a row through all layers.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp


def said(network: Any, window: jax.Array, first: jax.Array, steps: int) -> jax.Array:
    """(steps, columns) forecasts of a Transformer, each told the forecasts before it.

    Parameters
    ----------
    network
        A :class:`~windlass.scale.forecast.neural.transformer.TransformerNetwork`.
    window
        (w, columns) whose first row has the number ``first``.
    """
    arrays, rest = eqx.partition(network.decoder, eqx.is_array)
    memory = network.encode(window, first)
    seen = jax.vmap(lambda each: eqx.combine(each, rest).other.known(memory))(arrays)
    places = network.positions(first + len(window) - 1, steps)
    # (layers, steps, heads, size): filled row by row.
    empty = jnp.zeros((seen[0].shape[0], steps, *seen[0].shape[2:]))

    def step(state: tuple[jax.Array, ...], at: jax.Array) -> tuple[tuple[jax.Array, ...], jax.Array]:
        row, keys, values = state
        shown = (jnp.arange(steps) <= at)[None]

        def through(inner: jax.Array, given: tuple[Any, ...]) -> tuple[jax.Array, tuple[jax.Array, ...]]:
            layer = eqx.combine(given[0], rest)
            own = [
                jax.lax.dynamic_update_index_in_dim(old, new[0], at, 0)
                for old, new in zip(given[2], layer.own.known(inner), strict=True)
            ]
            inner = layer.normed(inner, layer.own.mixed(inner, *own, shown), 0)
            inner = layer.normed(inner, layer.other.mixed(inner, *given[1]), 1)
            return layer.normed(inner, layer.through(inner), -1), tuple(own)

        inner = (network.enter_decoder(row) + places[at])[None]
        inner, (keys, values) = jax.lax.scan(through, inner, (arrays, seen, (keys, values)))
        left = network.leave(inner[0])
        row = left + window[-1] if network.anchored else left
        return (row, keys, values), row

    return jax.lax.scan(step, (window[-1], empty, empty), jnp.arange(steps))[1]
