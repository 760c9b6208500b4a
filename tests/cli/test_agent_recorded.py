"""``windlass agent record`` and the scaling loops: what is started, for how long, and the messages."""

import contextlib
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from windlass.cli import agent_process, progress, scaling
from windlass.control.scaling import engine as scaling_engine
from windlass.drive import EngineStoppedError
from windlass.engines.elastic.system import ClusterError
from windlass.engines.linux.telemetry import observer as observing
from windlass.engines.linux.telemetry import recorder, recording
from windlass.engines.linux.telemetry.recorder import Pace
from windlass.engines.linux.telemetry.source import Roots
from windlass.model import InputError


@pytest.fixture
def recorded(windlass, monkeypatch):
    """Run ``agent record`` with a stub recorder of two steps; return its output and arguments."""
    kept = {}

    def observer(clock, wall, roots, groups):
        kept.update(roots=roots, groups=groups)
        return SimpleNamespace(names=("busy", "cpu_ready"), missing=lambda seen: ["GPUs"])

    def record(seen, rows, pace, clock, sleep, notify):
        kept.update(pace=pace)
        for count in (1, 2):
            rows.rows = count
            notify(SimpleNamespace(busy=0.25, ready=0.125))

    monkeypatch.setattr(observing, "Observer", observer)
    monkeypatch.setattr(
        recording,
        "Recording",
        lambda out, names, clock: kept.update(out=out, names=names) or SimpleNamespace(rows=0),
    )
    monkeypatch.setattr(recorder, "record", record)
    monkeypatch.setattr(agent_process, "check_kernel", lambda roots: None)

    def call(*arguments):
        kept.clear()
        return windlass("agent", "record", *arguments), dict(kept)

    return call


def test_a_machine_is_recorded_until_it_is_interrupted(recorded):
    (status, out, err), kept = recorded("--out", "o.parquet")
    assert status == 0
    assert kept == {
        "roots": Roots(Path("/proc"), Path("/sys/fs/cgroup")),
        "groups": (),
        "out": Path("o.parquet"),
        "names": ("busy", "cpu_ready"),
        "pace": Pace(math.inf, 1.0),
    }
    assert out == "o.parquet: 2 steps of 2 metrics\n"
    # A missing metric is reported once.
    assert err == "windlass: not available on this machine: GPUs\n"


def test_recording_follows_the_options(recorded):
    more = (
        "--seconds",
        "5",
        "--every",
        "0.5",
        "--group",
        "a",
        "--group",
        "b",
        "--proc",
        "/p",
        "--cgroup",
        "/c",
    )
    _, kept = recorded("--out", "o.parquet", *more)
    assert kept["pace"] == Pace(5.0, 0.5)
    assert (kept["groups"], kept["roots"]) == (("a", "b"), Roots(Path("/p"), Path("/c")))


def test_an_existing_recording_is_never_overwritten(recorded):
    Path("o.parquet").write_text("mine")
    (status, _, err), kept = recorded("--out", "o.parquet")
    assert (status, kept) == (2, {})
    assert "--out: o.parquet exists already" in err


def test_progress_is_drawn_only_on_a_terminal(monkeypatch, capsys):
    for seen in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda seen=seen: seen, raising=False)
        progress.status_line("half")
        assert capsys.readouterr().err == ("\r\x1b[Khalf" if seen else "")


def test_a_kernel_without_statistics_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"--proc: .*stat: no such file"):
        agent_process.check_kernel(Roots(tmp_path, tmp_path))
    (tmp_path / "stat").touch()
    agent_process.check_kernel(Roots(tmp_path, tmp_path))


def test_a_missing_extra_is_named(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(f"no {missing}", name=missing)

    monkeypatch.setattr("importlib.import_module", absent)
    missing = "aiohttp"
    with pytest.raises(InputError, match="aiohttp is not installed"):
        agent_process.agent_module()
    # A missing module of Windlass is a bug, so the error propagates.
    missing = "windlass.agent.agent"
    with pytest.raises(ModuleNotFoundError):
        agent_process.agent_module()


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_cluster_is_scaled_by_a_policy(monkeypatch, capsys, dry_run):
    kept = {}

    @contextlib.contextmanager
    def monitor(file, names, period, writes):
        kept.update(file=file, names=names, period=period, writes=writes)
        yield "monitor"

    def live(system, watched, clock, period, notify, status):
        kept.update(engine=(watched, period, notify))
        return SimpleNamespace(plan=lambda policy: [f"would ask {policy.name}", "and wait"])

    def driven(given, policies, stop):
        kept.update(policies=policies)
        raise EngineStoppedError("stopped on request")

    monkeypatch.setattr(scaling_engine, "Monitor", monitor)
    monkeypatch.setattr(scaling_engine, "LiveScale", live)
    monkeypatch.setattr(scaling_engine, "drive", driven)
    monkeypatch.setattr("windlass.scale.monitor.default_history", lambda name: f"of {name}")
    system = SimpleNamespace(types=[SimpleNamespace(name="small"), SimpleNamespace(name="large")])
    cluster = (lambda sleep: contextlib.nullcontext(system), "Kubernetes", "cluster")

    def scale(policy, history, *more):
        scaling._scale(*cluster, policy, history, "k8s-n", 60.0, dry_run, *more)

    scale("{reactive: {unneeded: 9}}", None)
    assert (kept["file"], kept["names"], kept["period"]) == ("of k8s-n", ["small", "large"], 60.0)
    assert kept["writes"] is not dry_run
    assert kept["engine"] == ("monitor", 60.0, scaling.log_line)
    out = capsys.readouterr().out
    if dry_run:
        assert out == "would ask reactive\nand wait\nNothing was changed.\n"
        assert "policies" not in kept
        return
    assert out == ""
    ((key, policy),) = kept["policies"].items()
    assert (key, policy.name) == ("scale", "reactive")
    served = []

    @contextlib.contextmanager
    def server(source, host, port):
        served.append((source.prefix, host, port))
        yield

    monkeypatch.setattr("windlass.engines.prometheus.MetricsServer", server)
    scale("static", Path("own.db"))
    assert (kept["file"], served) == (Path("own.db"), [])
    scale("static", None, "9097")
    assert served == [("windlass_scale_", "127.0.0.1", 9097)]


def test_cluster_and_policy_errors_become_input_errors():
    with pytest.raises(InputError, match="gone"), scaling._one_line():
        raise ClusterError("gone")
    with pytest.raises(InputError, match=r"--policy: .* is not a policy"):
        scaling._policy("[1, 2]")


def test_k8s_remove_lists_the_deleted_objects(windlass, monkeypatch):
    calls = []
    gone = [["pod a", "pod b"], []]
    monkeypatch.setattr("windlass.engines.kubernetes.server.ApiServer", lambda *given: given)
    monkeypatch.setattr(
        "windlass.engines.kubernetes.headroom.SpareNodes",
        lambda *given: calls.append(given) or SimpleNamespace(remove=lambda: gone.pop(0)),
    )
    assert windlass("k8s", "remove")[1] == "deleted pod a\ndeleted pod b\n"
    more = ("--kubeconfig", "k", "--context", "c", "--namespace", "n")
    assert windlass("k8s", "remove", *more)[1] == "no objects of Windlass found\n"
    assert calls == [((None, None), "windlass", ""), (("k", "c"), "n", "")]
