"""The machines of a site and the cores that loads hold, read from the ledger of the simulation."""

from __future__ import annotations

from collections.abc import Mapping

from windlass.control.site_status import MOST, HeldCores, MachineState
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec
from windlass.sim.ledger import Ledger


class SiteMachines:
    """Reads the machines of one site.

    Parameters
    ----------
    spec
        The site in the scenario.
    ledger, site
        The ledger, and the site's number in it.
    holders
        The load of each number in the ledger.
    """

    def __init__(self, spec: ClusterSiteSpec, ledger: Ledger, site: int, holders: Mapping[int, str]) -> None:
        self._nodes, self._rows, self._holders = ledger.nodes, ledger.rows(site), holders
        self._named: list[tuple[str, float]] = [(f"node {place + 1}", 0.0) for place in range(spec.count)]
        self._fixed = spec.count
        if spec.instances is not None:
            for kind in spec.instances.kinds():
                self._named += [(f"{kind.name} {place + 1}", kind.price) for place in range(kind.most)]

    def machines(self) -> tuple[MachineState, ...]:
        """Return the nodes, and the instances that are up."""
        first, found = self._rows.start, list[MachineState]()
        for place, (name, price) in enumerate(self._named):
            row = first + place
            cores, whole = int(self._nodes.capacity[row]), int(self._nodes.whole[row])
            if cores > 0:
                idle = max(int(self._nodes.idle[row]), 0)
                found.append(MachineState(name, "up", cores, idle, price))
            elif place < self._fixed:
                found.append(MachineState(name, "down", whole, 0, price))
        return tuple(found[:MOST])

    def cores(self) -> tuple[int, int]:
        """Return the cores that are up, and those of them that no load holds."""
        rows = slice(self._rows.start, self._rows.stop)
        return int(self._nodes.capacity[rows].sum()), int(self._nodes.idle[rows].clip(min=0).sum())

    def held(self) -> tuple[HeldCores, ...]:
        """Return the cores that each load holds, the largest first."""
        rows = slice(self._rows.start, self._rows.stop)
        by_load: dict[str, int] = {}
        for part, cores in enumerate(self._nodes.held[rows].sum(axis=0).tolist()):
            if cores:
                name = self._holders.get(part, "").partition("@")[0] or "instances"
                by_load[name] = by_load.get(name, 0) + cores
        return tuple(
            HeldCores(name, cores) for name, cores in sorted(by_load.items(), key=lambda each: -each[1])
        )
