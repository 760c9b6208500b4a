"""Published tables and figures again, theirs beside ours.

One file a paper. Each yields rows (what, the paper's value, ours, whether it holds, and a note where it does not
or where the setting had to be guessed) and plots. ``windlass reproduce NAME`` runs one.
"""

from windlass.papers.reproduction import Paper, Reproduction, Row, Tell, find_paper, papers

__all__ = ["Paper", "Reproduction", "Row", "Tell", "find_paper", "papers"]
