"""The simulated fleet: slots, links, tasks that read before they compute; standing orders and placements.

- :mod:`~windlass.sim.fleet.run`: :func:`run_ordered` and :func:`run_placed`, which simulate jobs under one policy.
- :mod:`~windlass.sim.fleet.part`: the two parts of a simulation, one for each decision;
  :mod:`~windlass.sim.fleet.shared`: their base class.
- :mod:`~windlass.sim.fleet.loop`: the compiled loop; :mod:`~windlass.sim.fleet.state` and
  :mod:`~windlass.sim.fleet.records`: its state.
- :mod:`~windlass.sim.fleet.stages`: jobs arrive, stages become ready, tasks end, slots and links change.
- :mod:`~windlass.sim.fleet.reads`: flows between sites, and the sharing of links.
- :mod:`~windlass.sim.fleet.priority_order`: execution of a standing order; :mod:`~windlass.sim.fleet.answer`:
  execution of a placement.
- :mod:`~windlass.sim.fleet.binding`: :class:`~windlass.sim.fleet.binding.FleetCores`, with which the slots are cores of
  a ledger; :mod:`~windlass.sim.fleet.cores`, :mod:`~windlass.sim.fleet.lost_tasks` and
  :mod:`~windlass.sim.fleet.steps`: its cores, its tasks on vacated rows, and its further compiled steps.
- :mod:`~windlass.sim.fleet.waiting`: the stages for whose tasks a placement is requested;
  :mod:`~windlass.sim.fleet.demand`: the cores that waiting tasks lack, for an autoscaler.
- :mod:`~windlass.sim.fleet.view`: the views of policies; :mod:`~windlass.sim.fleet.durations`: estimated compute
  times; :mod:`~windlass.sim.fleet.result`: the outcome.
"""

from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.run import run_ordered, run_placed

__all__ = ["FleetRun", "run_ordered", "run_placed"]
