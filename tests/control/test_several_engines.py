"""Pages of several engines: those that list no jobs have sentences that are true, and decisions name their engine."""

from __future__ import annotations

import re

import pytest
from rich.console import Console

from tests.control.test_web import app_of, ask
from windlass.control.agents.observer import agents_status
from windlass.control.agents.reading import AgentReading
from windlass.control.journal import (
    DecisionRecord,
    EngineStatus,
    JobKey,
    JournalReader,
    JournalWriter,
    ViewRecord,
)
from windlass.control.site_status import MachineState, SiteStatus, status_text
from windlass.control.top import now_tables
from windlass.control.web.metrics import journal_metrics

READINGS = {
    "n1:9090": AgentReading(True, "calm", "rising", 4, 0.5),
    "n2:9090": AgentReading(False, "CPU Ready is 1.5", "rising", 4, 1.0),
    "n3:9090": "does not answer",
}
RAY = SiteStatus(
    (),
    (),
    3,
    2,
    8,
    4,
    machines=(MachineState("i-1", "drained", 8, 4, note="type small"),),
    note="3 requests of running jobs",
    lists_jobs=False,
)
SLURM = SiteStatus((), (), 0, 0, 4, 4, machines=(MachineState("w1", "up", 4, 4),))


def state_of(journal, name, site, state):
    journal.append(
        ViewRecord(1.0, name, site, status_text(state)), EngineStatus(name, "running", 1.0, f"about {name}")
    )


@pytest.fixture
def reader(tmp_path):
    with JournalWriter(tmp_path / "journal.db") as journal:
        state_of(journal, "agents", "", agents_status(READINGS))
        state_of(journal, "ray", "head", RAY)
        state_of(journal, "slurm", "iowa", SLURM)
        journal.append(DecisionRecord(1.0, JobKey("ray", "head"), "scale", "thrifty", "2 × small", "soon"))
    with JournalReader(tmp_path / "journal.db") as found:
        yield found


def text_of(reader, target):
    return " ".join(re.sub("<[^>]*>", " ", ask(app_of(reader), target).text).split())


def section_of(text, name):
    """The text from the heading of an engine to the next one."""
    return re.split(r"(?:agents|ray|slurm) running", text.partition(f"{name} running")[2])[0]


def test_jobs_that_are_counted_only_are_not_said_to_be_missing(reader):
    found = section_of(text_of(reader, "/"), "ray")
    assert "Running 3 Waiting 2" in found
    assert "Not listed: head: 3 requests of running jobs." in found
    assert not re.search("No running jobs|No waiting jobs|shown", found)


def test_now_has_the_machines_of_agents_that_accept_tasks_in_place_of_jobs(reader):
    found = section_of(text_of(reader, "/"), "agents")
    assert "Machines that accept tasks 1 of 3 Cores held 6 of 8" in found
    assert not re.search("Running|Waiting|jobs|Not listed", found)


def test_an_empty_queue_is_still_said_to_be_empty(reader):
    assert "No waiting jobs. No running jobs." in section_of(text_of(reader, "/"), "slurm")


def test_only_an_engine_with_a_queue_has_predictions(reader):
    found = text_of(reader, "/when")
    sentence = "No starts are predicted: this engine has no queue of jobs."
    assert [sentence in section_of(found, name) for name in ("agents", "ray", "slurm")] == [True, True, False]
    assert found.count("No waiting job has a prediction.") == 1


def test_machines_have_their_states_and_notes(reader):
    found = text_of(reader, "/machines")
    assert "agents Machines up 2 of 3 Cores held 6 of 8 Cores by load: busy 6." in found
    assert "n1:9090 accepting 2 of 4 2 of 4 calm" in found
    assert "n2:9090 rejecting 4 of 4 4 of 4 CPU Ready is 1.5" in found
    assert "n3:9090 unreachable – does not answer" in found
    assert "i-1 drained 4 of 8 4 of 8 type small" in found
    # A table without notes has no column for them.
    assert "Machine State Cores held w1 up" in found


def test_decisions_name_their_engine_where_there_are_several(reader, tmp_path):
    assert "Time Job Site Decision" in text_of(reader, "/decisions")
    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.append(DecisionRecord(1.0, JobKey("slurm", "iowa", "5"), "order", "easy", "start", "head"))
    found = text_of(reader, "/decisions")
    assert "Time Engine Job Site Decision" in found
    assert re.search(r"ray – head scale thrifty", found)
    assert re.search(r"slurm 5 iowa order easy", found)


def test_machines_of_agents_count_no_jobs(reader):
    (jobs,) = [each for each in journal_metrics(reader, 1.0) if each.name == "jobs"]
    assert {labels[0] for labels, _ in jobs.values} == {"ray", "slurm"}


def test_the_terminal_has_the_same(reader):
    console = Console(width=200)
    with console.capture() as shown:
        console.print(now_tables(reader, 100))
    lines = shown.get().splitlines()
    heads = [line for line in lines if ": running" in line]
    assert [line.partition("; ")[2] for line in heads] == [
        "1 of 3 machines accept tasks, 6 of 8 cores held",
        "3 running, 2 waiting, 4 of 8 cores held",
        "0 running, 0 waiting, 0 of 4 cores held",
    ]
    assert [line for line in lines if line.startswith("No ")] == ["No waiting jobs.", "No running jobs."]
