"""States sent while an aggregator starts, or between two saves, are saved even without later ones."""

import re
import threading
import time

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")

from tests.engines.linux.agent.conftest import SECRET, ask, seen
from tests.engines.linux.agent.test_kills import METRICS, PATIENCE, children
from windlass.agent.agent import run_aggregator
from windlass.agent.envelope import digest
from windlass.agent.node import as_message
from windlass.agent.options import Address, AggregatorOptions
from windlass.agent.stop import Stop
from windlass.engines.slurm.daemons import wait_until


def sent(line):
    """Send a learned state to the address in the aggregator's line."""
    port = int(re.findall(r"http://127\.0\.0\.1:(\d+), ", line)[0])
    learned = seen("pronto", steps=100, dim=len(METRICS)).learned()
    message = as_message(learned, "pronto", digest(METRICS)).seal()
    assert ask(Address("127.0.0.1", port), "/nodes/early", "PUT", message, SECRET).status == 204


@pytest.mark.slow
@pytest.mark.parametrize("due", [True, False], ids=["at once", "later"])
def test_a_state_sent_as_soon_as_it_listens_is_saved(tmp_path, token, due):
    options = AggregatorOptions(Address("127.0.0.1", 0), state=tmp_path / "state", save_every=1.0)
    stop, now = Stop(), [0.0]

    def notify(line):
        sent(line)
        now[0] += due

    def clock():
        return now[0]

    at_work = threading.Thread(
        target=run_aggregator, args=(options, token, np.random.default_rng(1), stop, notify, clock)
    )
    at_work.start()
    try:
        if not due:
            # It polls each second; the state is not due to be saved yet.
            time.sleep(3.0)
            assert children(options.state) == set()
            now[0] += 1.0
        assert wait_until(lambda: children(options.state) == {"early"}, PATIENCE)
    finally:
        stop.notify()
        at_work.join()
