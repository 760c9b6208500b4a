"""When a busy worker requests its next task ahead, so that it does not wait for the task to arrive.

A task that is bound ahead waits for one worker, of speed μ, instead of all, of total speed M. The fetch takes f
seconds, which is φ = f μ of a mean task. If w tasks wait and new ones arrive at rate λ, all of them have started after
w / (M − λ) seconds. Let y = w μ / (M − λ), and let tasks be exponential.

- A worker with h tasks that requests the next one now, and not once it has h − 1, is idle for less time. The difference
  is P(N ≥ h) / μ, where N is the Poisson number of tasks that it would complete during the fetch. This is saved for the
  task itself, and μ / M of it for each of the w M / (M − λ) tasks that start until no task waits: P(N ≥ h) (1 + y) / μ.
- If no task waits any longer before the worker has completed its h tasks, another worker is idle while this task waits.
  The expected time is E(G − y)⁺ / μ, where G is the sum of h exponential numbers of mean 1.

So a request ahead pays if P(N ≥ h) (1 + y) ≥ E(G − y)⁺. For h = 1 and small φ this is φ (1 + y) ≥ e⁻ʸ.

Source: Windlass.
"""

from __future__ import annotations

import math

from windlass.jit import helper

#: The least saving, as a share of a task: less is not worth that a task waits for one worker.
_LEAST = 0.01
#: Newton's method: the most steps, and the step that is small enough.
_STEPS, _CLOSE = 20, 1e-9


@helper
def pays(held, drain, share):
    """Return whether a worker with ``held`` tasks, h, should request one ahead; ``drain`` is y, ``share`` is φ."""
    fewer, chance = 0.0, math.exp(-share)
    for done in range(held):
        fewer += chance
        chance *= share / (done + 1)
    saved = 1.0 - fewer
    if saved < _LEAST or drain == math.inf:
        return saved >= _LEAST
    # E(G − y)⁺ is the sum of (h − k) P(K = k) over k < h, where K is the Poisson number of mean y.
    rest, chance = 0.0, math.exp(-drain)
    for done in range(held):
        rest += (held - done) * chance
        chance *= drain / (done + 1)
    return saved * (1.0 + drain) >= rest


@helper
def least_drain(share):
    """Return the least y from which on a worker with one task should request another; infinity for a small φ."""
    saved = -math.expm1(-share)
    if saved < _LEAST:
        return math.inf
    y = max(0.0, -math.log(saved))
    for _ in range(_STEPS):
        step = (math.log(saved * (1.0 + y)) + y) / (1.0 / (1.0 + y) + 1.0)
        y = max(0.0, y - step)
        if abs(step) < _CLOSE:
            break
    return y
