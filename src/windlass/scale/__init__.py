"""How many machines of which type, before they are needed?

Jobs ask for resources, and machines take minutes to start. An autoscaler sees how many instances of each type jobs
needed so far, and says how many there should be, those that hold jobs included. It reads a :class:`ScaleView` and
answers with :class:`Totals`; it never touches an engine.

:mod:`~windlass.scale.view` says what policies see and answer. :mod:`~windlass.scale.embedding` turns what jobs ask for
into numbers of instances; :func:`embed` is its short form.
"""

from __future__ import annotations

from windlass.scale.embedding import Base, Embedding, Virtual, balance, base_instance, embed
from windlass.scale.view import Demands, ScaleView, Totals

__all__ = [
    "Base",
    "Demands",
    "Embedding",
    "ScaleView",
    "Totals",
    "Virtual",
    "balance",
    "base_instance",
    "embed",
]
