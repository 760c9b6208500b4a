"""Environments for reinforcement learning, with the interface of Gymnasium (extra ``gym``).

- :mod:`~windlass.experiment.gym.window`: what an agent sees of a queue, and the actions that it may take.
- :mod:`~windlass.experiment.gym.order`: the environment: one episode is one replay of some jobs.
- :mod:`~windlass.experiment.gym.dispatch`: the environment of an agent that sends small tasks to workers.
- :mod:`~windlass.experiment.gym.agent`: a trained agent as an ordering policy, for ``windlass run`` and live engines.

``docs/train-a-policy.md`` trains and judges an agent.
"""

from __future__ import annotations

from windlass.experiment.gym.agent import AgentOrder
from windlass.experiment.gym.dispatch import DispatchEnv
from windlass.experiment.gym.order import OrderEnv
from windlass.experiment.gym.window import OrderWindow

__all__ = ["AgentOrder", "DispatchEnv", "OrderEnv", "OrderWindow"]
