"""Signals that end `windlass serve`: the first stops, the second ends patience, the third ends the process."""

from __future__ import annotations

import signal

import pytest

from tests.control.test_slurm_engine import Bench, _own_locks  # noqa: F401 - a fixture
from windlass.agent.stop import Stop
from windlass.cli.agent_process import stopping
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JournalWriter
from windlass.model import BatchError


def test_the_first_signal_stops_the_second_hurries_and_the_third_interrupts():
    noted = []
    with stopping(on_second=lambda: noted.append("hurry")) as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.wait(20.0)
        assert not stop.hurried
        signal.raise_signal(signal.SIGINT)
        assert stop.wait_patiently(20.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert noted == ["hurry"]


def test_without_a_second_stage_the_second_signal_interrupts():
    with stopping() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.wait(20.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("away", [False, True])
def test_a_hurried_stop_gives_the_queue_back_unless_slurm_does_not_answer(tmp_path, away):
    bench, stop = Bench(tmp_path), Stop()
    bench.slurm.submit(7, 4, looks=10**6)
    bench.slurm.submit(8, 4)

    def slurm(command, timeout):
        if command[:2] == ("scontrol", "release") and stop.requested:
            # The second signal comes while the queue is given back.
            stop.hurry()
            if away:
                return 1, "", "Unable to contact slurm controller"
        return bench.slurm(command, timeout)

    bench.slurm.at[6] = stop.notify
    with (
        JournalWriter(tmp_path / "journal.db") as journal,
        pytest.raises(BatchError if away else EngineStoppedError) as error,
    ):
        bench.engine(runner=slurm).run(journal, stop)
    left = [act for act in bench.acts() if act[1] == "give back"]
    if away:
        assert "windlass slurm give-back" in str(error.value)
        # The intent stays open, so the next process compares it with Slurm's state.
        assert left == [("8", "give back", None)]
        bench.slurm.at.clear()
        bench.run(4)
        left = [act for act in bench.acts() if act[1] == "give back"]
        assert "as found after a restart" in left[0][2]
    else:
        assert left == [("8", "give back", "released")]
