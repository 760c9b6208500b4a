"""The page Now in a terminal: it fits the screen, follows the journal, and cannot be controlled by names."""

from __future__ import annotations

import io

import pytest
from rich.live import Live

from windlass.cli.terminal import terminal
from windlass.control.journal import EngineStatus, JournalReader, JournalWriter, ViewRecord
from windlass.control.site_status import JobState, SiteStatus, status_text
from windlass.control.top import now_tables, watch


def view(time: float, waiting: int, running: int, name: str = "batch") -> ViewRecord:
    waits = tuple(
        JobState(f"{name}/{n}", "batch job", float(n), 4, f"{n} jobs ahead") for n in range(waiting)
    )
    runs = tuple(JobState(f"run/{n}", "batch job", float(n), 4, "head of the queue") for n in range(running))
    return ViewRecord(time, "demo", "iowa", status_text(SiteStatus(runs, waits, running, waiting, 100, 60)))


@pytest.fixture
def journal(tmp_path):
    with JournalWriter(tmp_path / "journal.db") as writer, JournalReader(tmp_path / "journal.db") as reader:
        yield writer, reader


def printed(reader: JournalReader, lines: int, width: int = 100) -> str:
    console = terminal(width=width)
    console.file = io.StringIO()
    console.print(now_tables(reader, lines))
    return console.file.getvalue()


@pytest.mark.parametrize("lines", [24, 40, 80])
@pytest.mark.parametrize(("waiting", "running"), [(200, 200), (200, 1), (1, 200), (0, 200), (200, 0)])
def test_the_tables_fit_the_terminal_and_show_waiting_jobs_first(journal, lines, waiting, running):
    writer, reader = journal
    writer.append(EngineStatus("demo", "running", 500.0), view(500.0, waiting, running))
    writer.flush()
    text = printed(reader, lines)
    assert len(text.splitlines()) <= lines
    assert text.startswith(
        f"demo: running, day 1 00:08:20; {running} running, {waiting} waiting, 40 of 100 cores held"
    )
    assert ("batch/0" in text) == (waiting > 0)
    assert (f"run/{running - 1} " in text) == (running > 0)


def test_an_empty_journal_is_a_sentence(journal):
    assert printed(journal[1], 24) == "No engine has written to this journal yet.\n"


def test_names_cannot_control_the_terminal(journal):
    writer, reader = journal
    writer.append(
        EngineStatus("demo", "failed", 5.0, "", "\x1b]0;title\x07"), view(5.0, 2, 0, "\x1b[2J[bold]")
    )
    writer.flush()
    console = terminal(width=100)
    console.file = io.StringIO()
    console._force_terminal = True
    with Live(console=console, auto_refresh=False) as live:
        live.update(now_tables(reader, 40), refresh=True)
    text = console.file.getvalue()
    assert "\x1b[2J" not in text
    assert "\x1b]0;" not in text
    assert "\\x1b[2J[bold]/0" in text


class Scripted:
    """A stop request that appends to the journal at each wait, and is made after the last."""

    def __init__(self, *steps) -> None:
        self._steps = list(steps)

    @property
    def requested(self) -> bool:
        return not self._steps

    def wait(self, seconds: float) -> bool:
        self._steps.pop(0)()
        return self.requested


def test_the_tables_are_shown_again_at_each_change_only(journal):
    writer, reader = journal
    shown = []

    def change() -> None:
        writer.append(EngineStatus("demo", "running", 5.0), view(5.0, 1, 1))
        writer.flush()

    watch(
        reader, lambda: 40, shown.append, Scripted(change, lambda: None, lambda: None, change, lambda: None)
    )
    assert len(shown) == 3
