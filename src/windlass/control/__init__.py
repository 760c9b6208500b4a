"""The control plane: engines that run for months, the journal of what they decide, and pages that show it.

- :mod:`~windlass.control.journal`: one SQLite file of views, decisions, acts and events.
"""
