"""Priorities of waiting jobs, one file each; this folder is the registry.

A priority is a class with a ``name`` and a ``score``: one plain function of a
:class:`~windlass.order.site.compiled.CompiledView` and a job's row in its columns. It is compiled with the policy
``queue``. The job with the lowest score goes first. Equal scores keep the order of submission, or under conservative
backfilling the order of reservations.

- ``fcfs``: earliest submission.
- ``sjf``: shortest requested time.
- ``saf``: smallest area.
- ``wfp3``, ``unicep``: handcrafted formulas of the wait.
- ``f1``: a formula found by regression.
- ``multifactor``: Slurm's formula of age, decayed fair share, size and QOS.

A priority with parameters has an ``__init__`` and is :class:`~windlass.order.site.compiled.Parametric`: its ``score``
reads its numbers from ``view.given``. A priority that depends on what users have consumed is
:class:`~windlass.order.site.ownership.Decaying`, and one that depends on other properties of owners is an
:class:`~windlass.order.site.ownership.OwnedPriority`.
"""
