"""The simulated engine: deterministic, compiled event loops over a few physical parts.

- :mod:`~windlass.sim.events`: what happens next.
- :mod:`~windlass.sim.status`: how a loop tells why it returned.
- :mod:`~windlass.sim.site`: rigid parallel jobs on one site.
- :mod:`~windlass.sim.workers`: small tasks on many workers.
- :mod:`~windlass.sim.fleet`, :mod:`~windlass.sim.orders`, :mod:`~windlass.sim.links`: jobs over many sites, and the
  links between them.

A loop advances to the next instant at which something changed, asks the policy once, and carries out what it
answered. A policy that is compiled is asked from within the loop; any other is asked from Python.
"""

from windlass.sim.site.replay import Replay, replay

__all__ = ["Replay", "replay"]
