"""The journal: one SQLite file of the views, decisions, acts, actions and events of all engines.

One process writes it (:mod:`~windlass.control.journal.writer`), any number of processes read it
(:mod:`~windlass.control.journal.reader`), also while it is written.

- :mod:`~windlass.control.journal.records`: the rows, as values.
- :mod:`~windlass.control.journal.schema`: the tables, and the checks of a file that is opened.
- :mod:`~windlass.control.journal.writer`: the one thread that writes, fed by a bounded queue.
- :mod:`~windlass.control.journal.batch`: what the thread writes in one transaction.
- :mod:`~windlass.control.journal.retention`: the age and the number of rows that are kept.
- :mod:`~windlass.control.journal.reader`: queries by page, for other processes.
- :mod:`~windlass.control.journal.predictions`: queries of predicted starts and of how good they were.
- :mod:`~windlass.control.journal.actions`: queries of what people requested.
- :mod:`~windlass.control.journal.totals`: numbers of rows.
- :mod:`~windlass.control.journal.export`: a table of the journal as a Parquet file.
"""

from windlass.control.journal.reader import JournalReader, RowFilter, RowPage
from windlass.control.journal.records import (
    ActionRecord,
    ActOutcome,
    ActRecord,
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    PredictionRecord,
    PredictionsVoided,
    StartRecord,
    ViewRecord,
)
from windlass.control.journal.retention import Retention
from windlass.control.journal.schema import is_journal
from windlass.control.journal.writer import JournalWriter

__all__ = [
    "ActOutcome",
    "ActRecord",
    "ActionRecord",
    "DecisionRecord",
    "EngineStatus",
    "EventRecord",
    "JobKey",
    "JournalReader",
    "JournalWriter",
    "PredictionRecord",
    "PredictionsVoided",
    "Retention",
    "RowFilter",
    "RowPage",
    "StartRecord",
    "ViewRecord",
    "is_journal",
]
