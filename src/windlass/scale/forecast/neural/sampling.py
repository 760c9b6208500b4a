"""Autoregressive decoding of the Transformer with cached keys and values; the numbers equal those of whole sequences.

In training, the decoder gets all rows at once and a mask hides later ones. To decode its own forecasts that
way, each step would recompute every earlier row and the attention to the window. Here each layer caches the
keys and values of the window and of the rows decoded so far; a step passes one row through all layers.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp


def decode_rows(network: Any, window: jax.Array, first: jax.Array, steps: int) -> jax.Array:
    """Return forecasts (steps, columns) of a Transformer, each made from the forecasts before it.

    Parameters
    ----------
    network
        A :class:`~windlass.scale.forecast.neural.transformer.TransformerNetwork`.
    window
        (w, columns) input rows; the first one has number ``first``.
    steps
        Number of rows to forecast.
    """
    arrays, rest = eqx.partition(network.decoder, eqx.is_array)
    memory = network.encode(window, first)
    encoded = jax.vmap(lambda each: eqx.combine(each, rest).other.known(memory))(arrays)
    places = network.positions(first + len(window) - 1, steps)
    # Caches (layers, steps, heads, size), filled row by row.
    empty = jnp.zeros((encoded[0].shape[0], steps, *encoded[0].shape[2:]))

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
        inner, (keys, values) = jax.lax.scan(through, inner, (arrays, encoded, (keys, values)))
        left = network.leave(inner[0])
        row = left + window[-1] if network.anchored else left
        return (row, keys, values), row

    return jax.lax.scan(step, (window[-1], empty, empty), jnp.arange(steps))[1]
