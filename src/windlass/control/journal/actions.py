"""Queries of actions: what people requested of engines, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from windlass.control.journal.records import ActionRecord, JobKey

#: The first word of the outcome of an action that has changed nothing.
FAILED = "failed"
#: Actions that decide whether an engine runs.
PAUSE, RESUME = "pause", "resume"
_SELECT = (
    "select key, time, engine, site, job, action, by, reason, undoes, outcome, id, "
    "exists (select 1 from actions as later where later.undoes = actions.id "
    f"and ifnull(later.outcome, '') not like '{FAILED}%') from actions"
)


class ActionQueries:
    """Reads the actions of a journal.

    Parameters
    ----------
    rows
        Returns the rows of a query with its values.
    """

    def __init__(self, rows: Callable[[str, Sequence[object]], list[tuple[Any, ...]]]) -> None:
        self._rows = rows

    def latest(self, *, before: int | None = None, limit: int = 50) -> tuple[ActionRecord, ...]:
        """Return actions, the latest first.

        Parameters
        ----------
        before
            Only actions with smaller numbers; None for all.
        limit
            The most actions.
        """
        first = 2**63 - 1 if before is None else before
        return self._read("where id < ? order by id desc limit ?", first, limit)

    def open(self) -> tuple[ActionRecord, ...]:
        """Return the actions without an outcome, in their order."""
        return self._read("where outcome is null order by id")

    def numbered(self, number: int) -> ActionRecord | None:
        """Return the action of a number; None if there is none."""
        return next(iter(self._read("where id = ?", number)), None)

    def with_key(self, key: str) -> ActionRecord | None:
        """Return the action of a key; None if there is none."""
        return next(iter(self._read("where key = ?", key)), None)

    def paused(self, engine: str) -> bool:
        """Return whether the latest pause of an engine that did not fail has not been followed by a resume."""

        def last(action: str) -> int:
            found = self._rows(
                "select ifnull(max(id), 0) from actions where engine = ? and action = ? "
                f"and ifnull(outcome, '') not like '{FAILED}%'",
                (engine, action),
            )
            return int(found[0][0])

        return last(PAUSE) > last(RESUME)

    def _read(self, where: str, *values: object) -> tuple[ActionRecord, ...]:
        return tuple(map(_action, self._rows(f"{_SELECT} {where}", values)))


def _action(row: tuple[Any, ...]) -> ActionRecord:
    key, time, engine, site, job, action, by, reason, undoes, outcome, number, undone = row
    return ActionRecord(
        key, time, JobKey(engine, site, job), action, by, reason, undoes, outcome, number, bool(undone)
    )
