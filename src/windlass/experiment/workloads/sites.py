"""Random sites with different slots and links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import Fleet

_MBIT = 1e6 / 8


@dataclass(frozen=True, slots=True)
class SiteModel:
    """Sites drawn between bounds, log-uniformly, or by Zipf's law if an exponent is given.

    Parameters
    ----------
    sites
        Number of sites.
    slots
        Bounds of a site's slots.
    mbit
        Bounds of an up- or downlink, Mbit/s.
    slot_zipf, link_zipf
        With an exponent e, the site of rank r has capacity in proportion to r^−e. Ranks are random, and the total is
        the mean total of log-uniform values between the bounds. None for log-uniform values; 0 for identical sites.
    """

    sites: int = 50
    slots: tuple[int, int] = (25, 5000)
    mbit: tuple[float, float] = (100.0, 2000.0)
    slot_zipf: float | None = None
    link_zipf: float | None = None


def draw_sites(model: SiteModel, rng: np.random.Generator) -> Fleet:
    """Draw sites from a model.

    >>> draw_sites(SiteModel(sites=3), np.random.default_rng(1)).slots.tolist()
    [376, 3846, 54]
    """
    n = model.sites

    def drawn(bounds: tuple[float, float], zipf: float | None) -> NDArray[np.float64]:
        low, high = bounds
        if zipf is None:
            return np.asarray(low * (high / low) ** rng.random(n))
        mean = (high - low) / np.log(high / low) if high > low else low
        part = (1.0 + rng.permutation(n)) ** -zipf
        return np.asarray(n * mean * part / part.sum())

    slots = np.maximum(1, np.round(drawn(model.slots, model.slot_zipf)))
    up, down = (drawn(model.mbit, model.link_zipf) * _MBIT for _ in range(2))
    return Fleet.of(slots, up, down)
