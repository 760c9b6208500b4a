"""The part of jobs over a fleet: slots, links, tasks that read before they compute; standing orders and placements.

- :mod:`~windlass.sim.fleet.run`: :func:`run_ordered`, :func:`run_placed`; :mod:`~windlass.sim.fleet.part`: the
  parts that they drive, and :mod:`~windlass.sim.fleet.shared`: what both have.
- :mod:`~windlass.sim.fleet.loop`: the compiled loop; :mod:`~windlass.sim.fleet.state` and
  :mod:`~windlass.sim.fleet.records`: what it works on.
- :mod:`~windlass.sim.fleet.stages`: jobs arrive, stages can begin, tasks end, slots and links change.
- :mod:`~windlass.sim.fleet.reads`: flows between sites, and the sharing of links.
- :mod:`~windlass.sim.fleet.priority_order`: slots served by an order; :mod:`~windlass.sim.fleet.answer`: the
  execution of a placement.
- :mod:`~windlass.sim.fleet.view`: what policies see; :mod:`~windlass.sim.fleet.durations`: how long tasks are thought
  to compute; :mod:`~windlass.sim.fleet.result`: what happened.
"""

from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.run import run_ordered, run_placed

__all__ = ["FleetRun", "run_ordered", "run_placed"]
