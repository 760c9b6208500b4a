"""The simulated engine: a deterministic, compiled event loop over a few physical parts.

- :mod:`~windlass.sim.events.heap`: what happens next; ties by time, then sequence number.
- :mod:`~windlass.sim.site.state`: a site's processors, its queue and its running jobs.
- :mod:`~windlass.sim.site.replay`: the world of rigid parallel jobs on one site, composed of the two.

A world advances to the next instant at which something changed, asks the policy once, and carries out what it
answered. A policy that is compiled is asked from within the loop; any other is asked from Python.
"""

from windlass.sim.site.replay import Replay, replay

__all__ = ["Replay", "replay"]
