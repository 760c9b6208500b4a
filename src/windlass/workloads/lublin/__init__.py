"""Rigid jobs drawn from the model of Lublin and Feitelson (2003): sizes, run times, and a day's arrivals."""

from windlass.workloads.lublin.model import lublin

__all__ = ["lublin"]
