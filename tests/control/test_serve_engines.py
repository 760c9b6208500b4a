"""What ends `serve`: a stop, and failures of engines before it and at it."""

from __future__ import annotations

import pytest

from windlass.agent.stop import Stop
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JournalReader
from windlass.control.serve import ServeOptions, serve
from windlass.model import BatchError, PolicyError


class Engine:
    """An engine that raises an error, at once or when it is stopped."""

    about, scope, now = "an engine of a test", "test", 0.0

    def __init__(self, name, error, *, at_once=False, then=lambda: None):
        self.name, self.error, self.at_once, self.then = name, error, at_once, then

    def prepare(self, compiling=None):
        pass

    def run(self, journal, stop):
        if not self.at_once:
            self.then()
            stop.wait(60.0)
        raise self.error


def states(folder):
    with JournalReader(folder / "journal.db") as reader:
        return {each.status.engine: each.status.state for each in reader.engines()}


def test_an_engine_that_fails_does_not_end_the_others_nor_the_status(tmp_path):
    stop, lines = Stop(), []
    fails = Engine("fails", PolicyError("policy 'x' raised"), at_once=True)
    runs = Engine("runs", EngineStoppedError("stopped on request"))

    def report(line):
        lines.append(line)
        if line.startswith("fails: failed"):
            stop.notify()

    serve([fails, runs], ServeOptions(tmp_path / "journal.db"), stop, report)
    assert states(tmp_path) == {"fails": "failed", "runs": "stopped"}


def test_a_failure_at_the_stop_is_raised_once_all_engines_have_ended(tmp_path):
    stop = Stop()
    fails = Engine("fails", BatchError("jobs may still be held"), then=stop.notify)
    runs = Engine("runs", EngineStoppedError("stopped on request"))
    with pytest.raises(BatchError, match="still be held"):
        serve([fails, runs], ServeOptions(tmp_path / "journal.db"), stop, lambda line: None)
    assert states(tmp_path) == {"fails": "failed", "runs": "stopped"}
