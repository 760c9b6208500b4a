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
"""
