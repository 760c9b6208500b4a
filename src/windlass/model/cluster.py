"""Where jobs run: sites with processors, and clusters of sites."""

from dataclasses import dataclass

from windlass.model.errors import InputError


@dataclass(frozen=True, slots=True)
class Site:
    """One place with a pool of identical processors.

    Parameters
    ----------
    name
        How tables and plots call it.
    processors
        How many it has, at least one.

    Examples
    --------
    >>> Site("kth", processors=100)
    Site(name='kth', processors=100)
    """

    name: str
    processors: int

    def __post_init__(self) -> None:
        if not (self.processors >= 1 and self.processors % 1 == 0):
            raise InputError(
                f"site {self.name!r}: processors is {self.processors}, expected a whole number of at least 1"
            )


@dataclass(frozen=True, slots=True)
class Cluster:
    """A set of sites with distinct names.

    Examples
    --------
    >>> Cluster((Site("a", 4), Site("b", 8))).processors
    12
    """

    sites: tuple[Site, ...]

    def __post_init__(self) -> None:
        names = [site.name for site in self.sites]
        if not names:
            raise InputError("cluster: no sites, expected at least one")
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"cluster: site name {name!r} appears {names.count(name)} times")

    @property
    def processors(self) -> int:
        """Processors of all sites together."""
        return sum(site.processors for site in self.sites)
