"""How many machines of which type, before they are needed?

Jobs ask for resources, and machines take minutes to start. An autoscaler sees how many instances of each type jobs
needed so far, and says how many there should be, those that hold jobs included. It reads a :class:`ScaleView` and
answers with :class:`Totals`; it never touches an engine.

:mod:`~windlass.scale.view` says what policies see and answer.
"""

from __future__ import annotations

from windlass.scale.view import Demands, ScaleView, Totals

__all__ = ["Demands", "ScaleView", "Totals"]
