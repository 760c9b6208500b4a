"""Published tables and figures again, theirs beside ours.

A folder is a paper, and its ``paper.py`` puts the parts together. Each yields rows (what, the paper's value, ours,
whether it holds, and a note where it does not or where the setting had to be guessed) and plots. ``windlass reproduce
NAME`` runs one.

- :mod:`~windlass.papers.rosella`: which worker gets this task?
- :mod:`~windlass.papers.swag`: which job goes first, over all sites?
- :mod:`~windlass.papers.tetrium`: at which site does each task run?
- :mod:`~windlass.papers.cascade`: with which configuration should each streaming query run, and where?
- :mod:`~windlass.papers.asax`: who may share an allocation with whom, at what quota?
- :mod:`~windlass.papers.pronto`: may this node take one more task now?
- :mod:`~windlass.papers.autoscaler`: how many machines of which type, before they are needed?
- :mod:`~windlass.papers.sim_vs_live`: how true is the simulator?
- :mod:`~windlass.papers.reproduction`: what a reproduction is; :mod:`~windlass.papers.plots`,
  :mod:`~windlass.papers.page`: how one is shown.
- :mod:`~windlass.papers.verdicts`: whether a claim holds over seeds: yes, no, or cannot be told.
- :mod:`~windlass.papers.judged`: what a row is judged by: what is known of it, and the limits of the claim.
- :mod:`~windlass.papers.public`: where public traces lie.
"""

from windlass.papers.reproduction import (
    Paper,
    Reproduction,
    Row,
    Tell,
    by_crews,
    find_paper,
    on_engine,
    papers,
)

__all__ = ["Paper", "Reproduction", "Row", "Tell", "by_crews", "find_paper", "on_engine", "papers"]
