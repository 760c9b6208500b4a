"""The simulated cluster: deterministic, compiled event loops, one for each part, coupled in time.

- :mod:`~windlass.sim.part`: the protocol of a part; :mod:`~windlass.sim.coupled`: parts coupled in time;
  :mod:`~windlass.sim.instants`: their compiled coordination.
- :mod:`~windlass.sim.ledger`: the cores that each part holds; :mod:`~windlass.sim.nodes`: its arrays;
  :mod:`~windlass.sim.cores`: compiled operations on them; :mod:`~windlass.sim.outages`: changes of capacity;
  :mod:`~windlass.sim.demand`: the cores that a load lacks.
- :mod:`~windlass.sim.handle`: passing a part's state to compiled code.

- :mod:`~windlass.sim.site`: rigid parallel jobs on one site.
- :mod:`~windlass.sim.shares`: two jobs on one allocation of that site.
- :mod:`~windlass.sim.instances`: elastic instances, and jobs that are packed on them.
- :mod:`~windlass.sim.workers`: small tasks on many workers.
- :mod:`~windlass.sim.telemetry`: nodes that measure themselves and admit or reject tasks.
- :mod:`~windlass.sim.queries`: streaming queries on clusters in tiers.
- :mod:`~windlass.sim.fleet`: jobs over the sites of a fleet.
- :mod:`~windlass.sim.events`: queues of events; :mod:`~windlass.sim.links`: links that concurrent reads share.
- :mod:`~windlass.sim.status`: why a loop returned.

A loop advances to the next instant with a change, calls the policy once, and carries out its answer. If the part allows
it, a compiled policy is called within the loop; any other policy is called from Python.
"""

from windlass.sim.site.replay import replay
from windlass.sim.site.result import Replay

__all__ = ["Replay", "replay"]
