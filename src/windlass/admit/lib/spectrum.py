"""Weights of directions of trackers that estimate no singular values."""

from __future__ import annotations

import numpy as np

from windlass.admit.lib.subspace import Floats
from windlass.model import InputError

#: 1/i for direction i = 1 … r, the reading of the paper's "exponential decay spectrum, σ_r = 1/r" in which weights
#: decay; or 1/r for each, the other reading.
DECAY, FLAT = "decay", "flat"
SPECTRA = (DECAY, FLAT)


def spectrum_of(name: str, rank: int) -> Floats:
    """Return (rank,) weights of directions, descending.

    Source: Grammenos et al., Pronto, section 6 ("namely σ_r = 1/r").

    Parameters
    ----------
    name
        One of :data:`SPECTRA`.
    rank
        Number of directions.

    Raises
    ------
    InputError
        The name is unknown.

    Examples
    --------
    >>> spectrum_of("decay", 4).round(2).tolist(), spectrum_of("flat", 4).tolist()
    ([1.0, 0.5, 0.33, 0.25], [0.25, 0.25, 0.25, 0.25])
    """
    if name not in SPECTRA:
        raise InputError(f"spectrum is {name!r}, expected one of {', '.join(SPECTRA)}")
    return 1.0 / np.arange(1.0, rank + 1.0) if name == DECAY else np.full(rank, 1.0 / rank)
