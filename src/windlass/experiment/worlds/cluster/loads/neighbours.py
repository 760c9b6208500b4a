"""Other software on the nodes of one site, which holds cores in bursts and which no scheduler controls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windlass.experiment.worlds.admission.spec import Bursts
from windlass.experiment.worlds.cluster.sites import NodeGroup
from windlass.sim.telemetry.neighbours import CoreChanges, draw_bursts


class NeighboursSpec(Bursts):
    """Bursts on each node, as in the admission world. They take idle cores only, and start while other loads arrive."""

    def mean_rate(self, groups: Sequence[NodeGroup]) -> float:
        """Return the mean rate of all nodes for short tasks on the cores that bursts leave, work/s.

        >>> NeighboursSpec(every=70, last=30, ramp=0).mean_rate([NodeGroup(count=10, cores=4)])
        32.5
        """
        return sum(group.count * group.node_rate * (1.0 - self.held(group.cores)) for group in groups)

    def changes(self, groups: Sequence[NodeGroup], until: float, rng: np.random.Generator) -> CoreChanges:
        """Draw the bursts of all nodes.

        Parameters
        ----------
        groups
            The nodes.
        until
            All bursts start before this time, s.
        rng
            The random generator.
        """
        drawn, first = [], 0
        for group in groups:
            own = draw_bursts(group.count, group.cores, self.every, self.last, self.ramp, until, rng)
            drawn.append((own.time, own.node + first, own.cores))
            first += group.count
        time, node, cores = (np.concatenate(column) for column in zip(*drawn, strict=True))
        order = np.lexsort((node, time))
        return CoreChanges(time[order], node[order], cores[order])
