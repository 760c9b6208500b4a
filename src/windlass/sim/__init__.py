"""The simulated cluster: deterministic, compiled event loops, one for each part, coupled in time.

- :mod:`~windlass.sim.part`: what a part is; :mod:`~windlass.sim.coupled`: parts coupled in time.
- :mod:`~windlass.sim.nodes`: the ledger of who holds which cores; :mod:`~windlass.sim.cores`: how compiled code takes
  and returns them; :mod:`~windlass.sim.outages`: cores that come and go.
- :mod:`~windlass.sim.handle`: how a part's state crosses into compiled code.

- :mod:`~windlass.sim.site`: rigid parallel jobs on one site.
- :mod:`~windlass.sim.shares`: two jobs on one allocation of that site.
- :mod:`~windlass.sim.instances`: instances that come and go, and jobs that are packed on them.
- :mod:`~windlass.sim.workers`: small tasks on many workers.
- :mod:`~windlass.sim.telemetry`: nodes that measure themselves, and say whether they take tasks.
- :mod:`~windlass.sim.queries`: streaming queries on clusters in tiers.
- :mod:`~windlass.sim.fleet`: jobs over the sites of a fleet.
- :mod:`~windlass.sim.events`: what happens next; :mod:`~windlass.sim.links`: links that concurrent reads share.
- :mod:`~windlass.sim.status`: how a loop tells why it returned.

A loop goes on to the next instant at which something changed, asks the policy once, and carries out what it
answered. A policy that is compiled is asked from within the loop where the part allows it; any other is asked from
Python.
"""

from windlass.sim.site.replay import replay
from windlass.sim.site.result import Replay

__all__ = ["Replay", "replay"]
