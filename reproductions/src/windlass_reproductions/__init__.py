"""Published tables and figures again, theirs beside ours.

A folder is a paper, and its ``paper.py`` puts the parts together. Each yields rows (what, the paper's value, ours,
whether it holds, and a note where it does not or where the setting had to be guessed) and plots. ``windlass reproduce
NAME`` runs one.

- :mod:`~windlass_reproductions.rosella`: which worker gets this task?
- :mod:`~windlass_reproductions.swag`: which job goes first, over all sites?
- :mod:`~windlass_reproductions.tetrium`: at which site does each task run?
- :mod:`~windlass_reproductions.cascade`: with which configuration should each streaming query run, and where?
- :mod:`~windlass_reproductions.asax`: who may share an allocation with whom, at what quota?
- :mod:`~windlass_reproductions.pronto`: may this node take one more task now?
- :mod:`~windlass_reproductions.autoscaler`: how many machines of which type, before they are needed?
- :mod:`~windlass_reproductions.sim_vs_live`: how true is the simulator?
- :mod:`~windlass_reproductions.reproduction`: what a reproduction is; :mod:`~windlass.report.pictures`,
  :mod:`~windlass_reproductions.page`: how one is shown.
- :mod:`~windlass_reproductions.verdicts`: whether a claim holds over seeds: yes, no, or cannot be told.
- :mod:`~windlass_reproductions.criteria`: what a row is judged by: what is known of it, and the limits of the claim.
- :mod:`~windlass_reproductions.public`: where public traces lie.
"""

from windlass_reproductions.page import rows_json, rows_table, save
from windlass_reproductions.reproduction import (
    Notify,
    Paper,
    Reproduction,
    Row,
    by_crews,
    find_paper,
    on_engine,
    papers,
)

__all__ = [
    "Notify",
    "Paper",
    "Reproduction",
    "Row",
    "by_crews",
    "find_paper",
    "on_engine",
    "papers",
    "rows_json",
    "rows_table",
    "save",
]
