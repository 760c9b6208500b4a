"""Priorities of waiting jobs, one file each; this folder is the list.

A priority is a class with a ``name`` and a ``score``: one plain function of a
:class:`~windlass.order.site.compiled.CompiledView` and a job's row in its columns. It is compiled with the policy
``queue``. The job of the least score goes first; those of one score in order of submission, and under conservative
backfilling in the order of their reservations.

- ``fcfs``: who came first.
- ``sjf``: the shortest request.
- ``saf``: the smallest area.
- ``wfp3``, ``unicep``: formulas of the wait, made by hand.
- ``f1``: a formula that was found by regression.
- ``multifactor``: Slurm's, of age, decayed fair share, size and QOS.

One that takes parameters has an ``__init__``, and is :class:`~windlass.order.site.compiled.Parametric`: its ``score``
finds its numbers as ``view.given``. One that goes by what users have had is
:class:`~windlass.order.site.ownership.Decaying`, and one that goes by more than that of whose the jobs are is an
:class:`~windlass.order.site.ownership.OwnedPriority`.
"""
