"""The sites of a run, and what moved between them: data that loads sent, and tasks that ran elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SiteUse:
    """A site: its name, its number of cores on average, and the share of them that loads held, 0 to 1."""

    name: str
    cores: float
    used_share: float


@dataclass(frozen=True, slots=True)
class SiteFlow:
    """What moved from one site to another for one load.

    Parameters
    ----------
    load
        The load.
    source, target
        Names of the two sites.
    sent_bytes
        Data that was sent, bytes.
    tasks
        Tasks that arrived at ``source`` and ran at ``target``.
    """

    load: str
    source: str
    target: str
    sent_bytes: float = 0.0
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class SiteMap:
    """The sites of a run, and what moved between them.

    Parameters
    ----------
    sites
        The sites.
    flows
        At most one for each load and pair of different sites, in this order; pairs without a flow are left out.
    """

    sites: tuple[SiteUse, ...]
    flows: tuple[SiteFlow, ...]

    @classmethod
    def of(cls, tree: dict[str, Sequence[Sequence[object]]]) -> SiteMap:
        """Return the map of which :meth:`plain` is this tree.

        >>> found = SiteMap((SiteUse("a", 8.0, 0.5),), (SiteFlow("etl", "a", "b", 9.0),))
        >>> SiteMap.of(found.plain()) == found
        True
        """
        sites = tuple(SiteUse(*each) for each in tree["sites"])  # type: ignore[arg-type]
        return cls(sites, tuple(SiteFlow(*each) for each in tree["flows"]))  # type: ignore[arg-type]

    def plain(self) -> dict[str, list[list[object]]]:
        """Return lists of the fields, for a JSON file."""
        return {
            "sites": [[each.name, each.cores, each.used_share] for each in self.sites],
            "flows": [
                [each.load, each.source, each.target, each.sent_bytes, each.tasks] for each in self.flows
            ],
        }
