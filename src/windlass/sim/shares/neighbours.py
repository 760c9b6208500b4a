"""How fast two jobs of a table are on the same cores: a model, and what each pair has of its own."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model.use import JobUse
from windlass.share.interference import Interference, Speeds


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourSpeeds:
    """Speeds as the model says, times a factor of each pair of classes that stays the same.

    Such factors were measured where both jobs had all that they wanted. Of a neighbour that has a part of that, a part
    of the factor is taken, in logarithms: an assumption, as no quota was ever measured. Nobody is faster than alone.

    Parameters
    ----------
    model
        For all pairs.
    use
        Of the jobs of the table.
    factors
        (k,) to draw from: measured speeds over those that the model says. Empty for none.
    seed
        Of what is drawn.

    Examples
    --------
    >>> from windlass.model.use import UseStage
    >>> use = JobUse.of(["a", "b"], [0.0, 0.0], [[UseStage(60.0, 50.0)], [UseStage(60.0, 50.0)]])
    >>> NeighbourSpeeds(Interference(0.0, 0.0, 0.0), use)(0, 1, 75.0, 50.0, 50)
    Speeds(host=0.6666666666666666, guest=1.0)
    """

    model: Interference
    use: JobUse
    factors: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    seed: int = 0

    def __call__(self, host: int, guest: int, host_cpu: float, guest_cpu: float, quota: int) -> Speeds:
        """Of the jobs in these rows, which want so many percent of their cores' time now, at the guest's quota."""
        clean = self.model.speeds(host_cpu, guest_cpu, quota)
        if not len(self.factors):
            return clean
        classes = self.use.job_class[host], self.use.job_class[guest]
        # Of names, not of their places: another table of the same classes has the same factors.
        keys = [zlib.crc32(name.encode()) for name in classes]
        own, other = np.random.default_rng([self.seed, *keys]).choice(self.factors, 2)
        of_guest, of_host = _part(quota, guest_cpu), _part(100 - quota, host_cpu)
        return Speeds(min(1.0, clean.host * own**of_guest), min(1.0, clean.guest * other**of_host))


def _part(given: float, wanted: float) -> float:
    return 1.0 if wanted <= given else given / wanted
