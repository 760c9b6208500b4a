"""Options, metrics and numbers in docs/agent.md exist."""

import re
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.engines.linux.agent.conftest import METRICS, seen
from windlass.agent.guard import Guard
from windlass.agent.options import Above
from windlass.agent.signal_board import Board
from windlass.agent.token import Token
from windlass.agent.watch import NodeWatch
from windlass.cli.app import app
from windlass.engines.backoff import Backoff
from windlass.engines.linux.telemetry.observer import Observation, Observer

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")


def test_every_documented_option_exists():
    known = set()
    for command in ("run", "record", "aggregate"):
        output = CliRunner().invoke(app, ["agent", command, "--help"], env={"COLUMNS": "200"}).output
        known |= set(re.findall(r"--[a-z][a-z-]+", output))
    own = re.findall(r"(?:^windlass agent .*|`--[a-z][^`]*`)", PAGE, flags=re.MULTILINE)
    named = set(re.findall(r"--[a-z][a-z-]+", " ".join(own)))
    assert named <= known
    assert {"--join", "--token-file", "--state", "--guard", "--kubernetes"} <= named


def test_the_documented_number_of_metrics_is_correct():
    (count,) = re.findall(r"^(\d+) metrics, the same on every Linux machine", PAGE, flags=re.MULTILINE)
    assert int(count) == len(Observer(time.monotonic, time.time).names)


def test_prometheus_shows_the_documented_numbers(clock):
    pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
    pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")
    import numpy as np

    from windlass.agent.agent import SaveCounts, of_process
    from windlass.agent.join import Joiner
    from windlass.agent.prometheus import Page, board_metrics, node_metrics
    from windlass.agent.web import Refusals

    board, refusals = Board(clock, 5.0), Refusals()
    watching = NodeWatch(seen("forewarn"), Guard(0.5), board, 1.0, clock)
    watching.take(Observation(0.0, 1.0, np.zeros(6), 0.5, 0.0))
    refusals.count("http")
    joiner = Joiner(
        Above("http://x", "me"), Token("a" * 16), "forewarn", METRICS, 6, lambda: None, lambda: False,
        lambda _: None, Backoff(1.0, 300.0, np.random.default_rng(1)), clock, lambda _: None,
    )  # fmt: skip

    def now():
        yield from board_metrics(board, tuple("abcdef"))
        yield from node_metrics("forewarn")
        yield from of_process(refusals, SaveCounts(), joiner)

    page = Page(now).answer().body.decode()
    shown = set(re.findall(r"^(windlass_[a-z_]+)", page, flags=re.MULTILINE))
    named = set(re.findall(r"`(windlass_[a-z_]+)", PAGE))
    assert named <= shown
    assert {name for name in shown if not name.endswith("_created")} <= named
