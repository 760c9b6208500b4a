"""The commands of agents and of scaling pass their options on, with the documented defaults."""

import contextlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from windlass.agent.options import Above, Address, AgentOptions, AggregatorOptions
from windlass.cli import agent, scaling, slurm
from windlass.engines.linux.telemetry.source import Roots
from windlass.scale.monitor import default_history


@pytest.fixture
def agents(windlass, monkeypatch):
    """Run a command of the agent; return the arguments that it passes on. The kernel check is skipped."""
    kept = []
    parts = SimpleNamespace(
        run_agent=lambda *given: kept.append(given), run_aggregator=lambda *given: kept.append(given)
    )
    monkeypatch.setattr(agent, "agent_module", lambda: parts)
    monkeypatch.setattr(agent, "check_kernel", lambda roots: None)
    monkeypatch.setattr(agent, "stopping", lambda: contextlib.nullcontext("stop"))
    monkeypatch.setenv("WINDLASS_TOKEN", "0123456789abcdef" * 4)
    monkeypatch.delenv("NODE_NAME", raising=False)
    monkeypatch.setattr("socket.gethostname", lambda: "here")

    def call(*arguments):
        kept.clear()
        status, _, err = windlass("agent", *arguments)
        assert status == 0, err
        ((options, token, rng, stop, say),) = kept
        assert isinstance(rng, np.random.Generator)
        assert (stop, say) == ("stop", agent.log_line)
        return options, token

    return call


KERNEL = Roots(Path("/proc"), Path("/sys/fs/cgroup"))


def agent_options(**changed):
    base = {
        "listen": Address("127.0.0.1", 9090),
        "check": Address("127.0.0.1", 9091),
        "policy": agent.POLICY,
        "downtime": None,
        "guard": 0.5,
        "every": 1.0,
        "state": None,
        "save_every": 60.0,
        "drain": "state",
        "above": None,
        "mark": "off",
        "node": "",
        "roots": KERNEL,
    }
    return AgentOptions(**(base | changed))


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (
            ["--listen", "0.0.0.0:7000"],
            {"listen": Address("0.0.0.0", 7000), "check": Address("0.0.0.0", 7001)},
        ),
        (["--listen", "0.0.0.0:0"], {"listen": Address("0.0.0.0", 0), "check": Address("0.0.0.0", 0)}),
        (["--check", "0.0.0.0:5"], {"check": Address("0.0.0.0", 5)}),
        (["--policy", "ready", "--downtime", "0.1"], {"policy": "ready", "downtime": 0.1}),
        (["--guard", "0.25", "--every", "2"], {"guard": 0.25, "every": 2.0}),
        (["--state", "s", "--save-every", "5"], {"state": Path("s"), "save_every": 5.0}),
        (["--haproxy-by", "weight"], {"drain": "weight"}),
        (["--kubernetes", "label", "--node", "n"], {"mark": "label", "node": "n"}),
        (["--proc", "/p", "--cgroup", "/c"], {"roots": Roots(Path("/p"), Path("/c"))}),
    ],
)
def test_agent_run_passes_its_options_on(agents, arguments, changed):
    assert agents("run", *arguments) == (agent_options(**changed), None)


def test_an_agent_that_joins_an_aggregator_has_a_token(agents, monkeypatch):
    options, token = agents("run", "--join", "http://127.0.0.1:9092")
    assert options == agent_options(above=Above("http://127.0.0.1:9092", "here", 30.0))
    assert token is not None
    options, _ = agents("run", "--join", "http://127.0.0.1:9092", "--name", "me", "--join-every", "7")
    assert options.above == Above("http://127.0.0.1:9092", "me", 7.0)
    monkeypatch.setenv("NODE_NAME", "own")
    assert agents("run", "--kubernetes", "taint") == (agent_options(mark="taint", node="own"), None)


def test_agent_aggregate_passes_its_options_on(agents):
    options, token = agents("aggregate")
    assert options == AggregatorOptions(Address("127.0.0.1", 9092), 4, 3600.0, None, 10.0, above=None)
    assert token is not None
    more = (
        "--listen",
        "0.0.0.0:1",
        "--rank",
        "2",
        "--forget-after",
        "60",
        "--state",
        "s",
        "--save-every",
        "3",
    )
    options, _ = agents("aggregate", *more, "--join", "http://127.0.0.1:1")
    above = Above("http://127.0.0.1:1", "here", 30.0)
    assert options == AggregatorOptions(Address("0.0.0.0", 1), 2, 60.0, Path("s"), 3.0, above=above)


@pytest.fixture
def scaled(windlass, monkeypatch):
    kept = []
    monkeypatch.setattr("windlass.engines.elastic.types.read_types", lambda path: path)
    monkeypatch.setattr(
        "windlass.control.scaling.clusters.kubernetes", lambda *given, report: (*given, report)
    )
    monkeypatch.setattr(scaling, "_scale", lambda *given: kept.append(given))

    def call(*arguments):
        kept.clear()
        status, _, err = windlass(*arguments)
        assert status == 0, err
        return kept[0]

    return call


def test_k8s_autoscale_passes_its_options_on(scaled):
    given = ("k8s", "autoscale", "--types", "t.yaml")
    label = "node.kubernetes.io/instance-type"
    cluster = (Path("t.yaml"), None, None, "windlass", label, 0.0, scaling.log_line)
    kind = "Kubernetes"
    assert scaled(*given) == (
        cluster,
        kind,
        "cluster",
        "thrifty",
        None,
        "k8s-windlass",
        300.0,
        False,
        None,
    )
    assert scaled(*given, "--metrics", "9")[-1] == "9"
    assert scaled(*given, "--lease", "15")[0][5] == 15.0
    more = ("--policy", "reactive", "--dry-run", "--period", "60", "--history", "h.db", "--kubeconfig", "k")
    more += ("--context", "c", "--namespace", "n", "--label", "l")
    cluster = (Path("t.yaml"), "k", "c", "n", "l", 0.0, scaling.log_line)
    history = Path("h.db")
    assert scaled(*given, *more) == (cluster, kind, "c", "reactive", history, "k8s-n", 60.0, True, None)


def test_default_folders_follow_the_xdg_variables(monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert default_history("ray-127.0.0.1:6379") == Path("/state/windlass/scale-ray-127-0-0-1-6379.db")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    assert default_history("k8s") == Path("/home/me/.local/state/windlass/scale-k8s.db")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert slurm._folder(None) == Path("/cache/windlass/slurm")
    assert slurm._folder(Path("/own")) == Path("/own")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert slurm._folder(None) == Path("/home/me/.cache/windlass/slurm")
