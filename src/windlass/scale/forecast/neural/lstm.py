"""Two LSTM layers followed by a linear layer.

Source: "A Predictive Autoscaler for Elastic Batch Jobs", Section 5.2.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp


class LstmNetwork(eqx.Module):
    """A network that maps a window of rows to all forecast rows at once.

    Parameters
    ----------
    columns
        Number of columns of a row.
    hidden
        Number of units of each layer.
    horizon
        Number of output rows.
    anchored
        True to add the last row of the window to the output.
    key
        Random key of the initial weights.
    """

    first: eqx.nn.LSTMCell
    second: eqx.nn.LSTMCell
    leave: eqx.nn.Linear
    horizon: int = eqx.field(static=True)
    anchored: bool = eqx.field(static=True)

    def __init__(self, columns: int, hidden: int, horizon: int, anchored: bool, key: jax.Array) -> None:
        one, two, three = jax.random.split(key, 3)
        self.first = eqx.nn.LSTMCell(columns, hidden, key=one)
        self.second = eqx.nn.LSTMCell(hidden, hidden, key=two)
        self.leave = eqx.nn.Linear(hidden, columns * horizon, key=three)
        self.horizon, self.anchored = horizon, anchored

    def taught(self, window: jax.Array, first: jax.Array, after: jax.Array, key: jax.Array) -> jax.Array:
        """Return forecasts (horizon, columns) for training; the later rows ``after`` are not used."""
        return self.ahead(window, first, self.horizon)

    def ahead(self, window: jax.Array, first: jax.Array, steps: int) -> jax.Array:
        """Return forecasts (steps, columns); beyond the horizon its own forecasts are the input."""
        found = self._once(window)
        while len(found) < steps:
            found = jnp.concatenate([found, self._once(jnp.concatenate([window, found])[-len(window) :])])
        return found[:steps]

    def _once(self, window: jax.Array) -> jax.Array:
        hidden = self.first.hidden_size
        zero = jnp.zeros(hidden)

        def step(state: tuple[tuple[jax.Array, jax.Array], ...], row: jax.Array) -> tuple[object, None]:
            one = self.first(row, state[0])
            two = self.second(one[0], state[1])
            return (one, two), None

        (_, (last, _)), _ = jax.lax.scan(step, ((zero, zero), (zero, zero)), window)
        found = self.leave(last).reshape(self.horizon, -1)
        return found + window[-1] if self.anchored else found
