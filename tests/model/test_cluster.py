"""Sites and clusters: what is refused, and how it is said."""

from __future__ import annotations

import re

import pytest

from windlass.model import Cluster, InputError, Site


@pytest.mark.parametrize("processors", [0, -3])
def test_a_site_without_processors(processors: int) -> None:
    said = f"site 'a': processors is {processors}, expected a whole number of at least 1"
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        Site("a", processors)


def test_a_cluster_without_sites() -> None:
    with pytest.raises(InputError, match=r"^cluster: no sites, expected at least one$"):
        Cluster(())


def test_sites_of_one_name() -> None:
    with pytest.raises(InputError, match=r"^cluster: site name 'b' appears 2 times$"):
        Cluster((Site("a", 1), Site("b", 2), Site("b", 3)))


def test_processors_are_those_of_all_sites() -> None:
    assert Cluster((Site("a", 1), Site("b", 2))).processors == 3
