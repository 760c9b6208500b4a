"""Reproductions of published tables and figures, each compared with the paper's values.

Each folder is a paper, and its ``paper.py`` assembles the parts. A paper yields plots and rows: the quantity, the
paper's value, ours, whether the claim holds, and a note if it does not or if the setting had to be guessed. ``windlass
reproduce NAME`` runs one paper.

- :mod:`~windlass_reproductions.rosella`: which worker gets this task?
- :mod:`~windlass_reproductions.swag`: in which order do jobs run over all sites?
- :mod:`~windlass_reproductions.tetrium`: at which site does each task run?
- :mod:`~windlass_reproductions.cascade`: with which configuration should each streaming query run, and where?
- :mod:`~windlass_reproductions.plan_families`: how near is a planner to the optimum?
- :mod:`~windlass_reproductions.asax`: which jobs may share an allocation, at what quota?
- :mod:`~windlass_reproductions.pronto`: may this node take one more task now?
- :mod:`~windlass_reproductions.autoscaler`: how many machines of which type will be needed?
- :mod:`~windlass_reproductions.sim_vs_live`: how accurate is the simulator?
- :mod:`~windlass_reproductions.reproduction`: rows, papers and how to find them;
  :mod:`~windlass.report.pictures`, :mod:`~windlass_reproductions.page`: how a reproduction is displayed.
- :mod:`~windlass_reproductions.verdicts`: whether a claim holds over seeds: yes, no, or undecided.
- :mod:`~windlass_reproductions.criteria`: the criteria of a verdict: measured quantities and the limits of a claim.
- :mod:`~windlass_reproductions.public`: the folder of the public traces.
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
