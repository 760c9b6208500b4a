"""Cells of a sweep on real raylets: equal bytes despite lost nodes; listening ports and rejected requests."""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
import grpc
import psutil
import ray
import yaml

from tests.engines.engines import cluster_folders
from tests.engines.test_ray_run import INTERRUPTS, LONG_S, OTHERS, command, running, wait_for
from windlass.engines.ray import worker_pool as ray_crew
from windlass.engines.ray.cluster import PrivateCluster
from windlass.engines.ray.join import connect
from windlass.engines.ray.worker_pool import Carried, RayCrew, call
from windlass.experiment.runner import run
from windlass.experiment.scenario import load_scenario
from windlass.experiment.worlds.batch.spec import BatchSetting
from windlass.model import InputError
from windlass.model.fleet import Fleet

EXAMPLE = Path(__file__).parents[2] / "examples" / "one-cluster.yaml"
SWEEP = """
name: sweep
workload: {lublin: {jobs: 300, load: [0.7, 0.9]}}
cluster: {processors: [64, 128]}
policies: {order: [fcfs, easy, sjf, conservative, ./mine.py]}
seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
"""
MINE = """
import numpy as np
from windlass.order.site.view import Start


class Mine:
    name = "mine"

    def decide(self, view):
        fit = view.waiting.job[np.cumsum(view.waiting.procs) <= view.free]
        return Start(np.array(fit, dtype=np.int64))
"""


@pytest.fixture
def sweep(tmp_path):
    """Two hundred cells, some under a user's policy file."""
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path / "sweep.yaml"


def contents(folder):
    return {each.name: each.read_bytes() for each in sorted(folder.iterdir())}


def ended(arguments, **more):
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=LONG_S, check=False, **more
    )


def same_after_a_killed_node(file, tmp_path, at):
    """Run a scenario alone, and on three nodes of which one is killed once `at` cells are done.

    Both must be equal. Returns the number of cells, and of those that ended after the kill.
    """
    scenario = load_scenario(file)
    run(scenario).save(tmp_path / "alone")
    killed, after = [], []

    @contextmanager
    def three_nodes():
        cluster = PrivateCluster(Fleet.of([3], [1.0], [1.0], names=("cells",)), nodes=3)

        def kill_one(progress):
            if progress.done >= at and not killed:
                killed.append(progress.done)
                cluster.nodes["cells"][0].kill_raylet()
            elif killed:
                after.append(progress.done)

        hooks.append(kill_one)
        try:
            yield RayCrew()
            # Cells may end before Ray notices a dead node.
            wait_for(lambda: not cluster.whole())
        finally:
            cluster.close()

    hooks = []
    run(scenario, report=lambda progress: hooks[-1](progress), crews=three_nodes).save(tmp_path / "spread")
    assert killed
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")
    return len(scenario.variants) * len(scenario.seeds), len(after)


@pytest.mark.slow
def test_two_hundred_cells_are_equal_after_a_killed_node(sweep, tmp_path):
    cells, after = same_after_a_killed_node(sweep, tmp_path, 40)
    assert cells == 200
    assert after > 100


@pytest.mark.nightly
def test_cells_of_one_cluster_are_equal_after_a_killed_node(tmp_path):
    """Four hours of the example with five sites, with less work, in three of its variants."""
    tree = yaml.safe_load(EXAMPLE.read_text())
    tree |= {"begin": 208800, "seconds": 14400, "seeds": [1, 2, 3, 4, 5, 6]}
    loads = tree["loads"]
    loads["batch"] = {"rigid": {"lublin": {"jobs": 200, "load": 0.07}}}
    loads["web"] = {"tasks": {"tasks": 4000, "load": 0.002}}
    loads["etl"] = {"staged": {"drawn": {"jobs": 20}}}
    loads["cameras"] = {"queries": {"per_hour": 4}}
    kept = ("all decisions", "operators", "no decision")
    tree["variants"] = {name: tree["variants"][name] for name in kept}
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump(tree, sort_keys=False))
    cells, after = same_after_a_killed_node(tmp_path / "cluster.yaml", tmp_path, 4)
    assert cells == 18
    assert after > 8


@pytest.mark.slow
@pytest.mark.parametrize("number", INTERRUPTS)
def test_an_interrupted_sweep_leaves_no_process_and_can_be_resumed(sweep, tmp_path, number):
    before, partial = cluster_folders(), tmp_path / ".out.partial"
    arguments = ["run", sweep, "--on", "ray", "--nodes", "2", "--out", tmp_path / "out"]
    process = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for(lambda: len(list(partial.glob("*-*"))) >= 3 or process.poll() is not None)
    assert process.poll() is None, process.stderr.read()
    started = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    message = process.communicate(timeout=LONG_S)[1].splitlines()
    assert process.returncode == 130, message
    assert message[-2] == "windlass: interrupted; what was started is stopped"
    assert message[-1].endswith(" of 200 runs are saved; the same command with --resume continues")
    assert psutil.wait_procs(started, timeout=LONG_S)[1] == []
    assert cluster_folders() <= before
    kept = len(list(partial.glob("*-*")))
    done = ended([*arguments, "--resume"])
    assert done.returncode == 0, done.stderr
    assert 3 <= kept < 200
    assert ended(["run", sweep, "--out", tmp_path / "alone"]).returncode == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "status", "message"),
    [
        ("os._exit(3)", 2, "windlass: policy 'mine' ({file}, line {line}) "),
        (
            "os.kill(os.getpid(), 9)",
            1,
            "windlass: worker process died (killed or out of memory) while running 'mine, seed 1': ",
        ),
    ],
)
def test_a_policy_that_ends_its_worker_is_a_one_line_error(tmp_path, deed, status, message):
    file = tmp_path / "ends.py"
    file.write_text(MINE.replace("        fit", f"        import os; {deed}\n        fit"))
    (tmp_path / "s.yaml").write_text(
        "workload: {lublin: {jobs: 5}}\npolicies: {order: ./ends.py}\nseeds: [1]\n"
    )
    done = ended(["run", tmp_path / "s.yaml", "--on", "ray"])
    assert done.returncode == status
    line = file.read_text()[: file.read_text().index(deed)].count("\n") + 1
    assert done.stderr.strip().splitlines()[-1].startswith(message.format(file=file, line=line))


@pytest.mark.slow
def test_another_user_s_cluster_runs_the_cells_and_survives(sweep, tmp_path):
    owner = subprocess.Popen(
        [sys.executable, "-c", OTHERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    address, admits = json.loads(owner.stdout.readline())
    own = psutil.Process(owner.pid)
    try:
        on = ["run", sweep, "--seeds", "1,2", "--on", f"ray:{address}", "--out"]
        refused = ended([*on, tmp_path / "out"])
        assert refused.returncode == 2
        assert refused.stderr == (
            f"windlass: --on: no Ray cluster at '{address}': it requires a token;"
            " set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH\n"
        )
        done = ended([*on, tmp_path / "out"], env={**os.environ, **admits})
        assert done.returncode == 0, done.stderr
        assert ended(["run", sweep, "--seeds", "1,2", "--out", tmp_path / "alone"]).returncode == 0
        assert contents(tmp_path / "out") == contents(tmp_path / "alone")
        assert running(own, "raylet/raylet")
    finally:
        owner.stdin.close()
        owner.wait(LONG_S)


@pytest.fixture
def private():
    """A private cluster that has run a task on each of its nodes."""
    cluster = PrivateCluster(Fleet.of([2], [1.0], [1.0], names=("cells",)), nodes=2)
    try:
        ray.get([ray.remote(lambda: time.sleep(1)).options(num_cpus=1).remote() for _ in range(2)])
        yield cluster
    finally:
        cluster.close()


def listening(processes):
    """Return address, port and name of listening processes that still exist."""
    where = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            where += [
                (found.laddr.ip.removeprefix("::ffff:"), found.laddr.port, process.name())
                for found in process.net_connections("all")
                if found.status == psutil.CONN_LISTEN
            ]
    return where


#: Calls of each of Ray's listening services, by process.
CALLS = {
    "gcs_server": ("NodeInfoGcsService/GetAllNodeInfo", "InternalKVGcsService/InternalKVGet"),
    "raylet": ("NodeManagerService/GetNodeStats", "ObjectManagerService/Pull"),
    "ray::DashboardAgent": ("ReporterService/GetTraceback",),
    "ray::": ("CoreWorkerService/PushTask",),
}


@pytest.mark.slow
def test_only_loopback_listens_and_requests_without_the_token_are_rejected(private):
    started = psutil.Process().children(recursive=True)
    found = listening([*started, psutil.Process()])
    assert len(found) > 10
    assert {place for place, _, _ in found} == {"127.0.0.1"}
    refused = set()
    for _, port, name in found:
        for process_name, calls in CALLS.items():
            for each in calls if name.startswith(process_name) else ():
                with (
                    grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
                    pytest.raises(grpc.RpcError) as error,
                ):
                    channel.unary_unary(f"/ray.rpc.{each}")(b"", timeout=LONG_S)
                if error.value.code() == grpc.StatusCode.UNAUTHENTICATED:
                    refused.add(each)
    assert refused == {each for calls in CALLS.values() for each in calls}


@pytest.mark.slow
def test_the_token_is_private_and_removed_with_the_cluster(private):
    place = private.admits["RAY_AUTH_TOKEN_PATH"]
    assert os.stat(place).st_mode & 0o077 == 0
    private.close()
    assert not os.path.exists(place)
    assert os.environ.get("RAY_AUTH_MODE") != "token"


@pytest.mark.parametrize("option", ["--on", "--address"])
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:9", "Connection refused"),
        ("nowhere.invalid:6379", ""),
        ("127.0.0.1", "expected a host and a port, as in 127.0.0.1:6379"),
        ("127.0.0.1:x", "expected a host and a port, as in 127.0.0.1:6379"),
        ("silent", "the server there does not answer as Ray does (deadline_exceeded)"),
    ],
)
def test_the_error_of_a_wrong_address_is_one_line(address, message, option):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        where = f"127.0.0.1:{silent.getsockname()[1]}" if address == "silent" else address
        with pytest.raises(InputError) as refused:
            connect(where, option)
    (line,) = str(refused.value).splitlines()
    assert line.startswith(f"{option}: ")
    assert where in line
    assert line.endswith(message)


def named(setting):
    """Return the files and the policy of a setting, as a worker reads them."""
    spec = setting.policies.order.name
    return setting.workload.trace.read_text(), open(spec.partition(":")[0]).read(), spec.partition(":")[2]


def test_missing_files_are_sent_along(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_crew.ray, "get", lambda content: content)
    log, mine = tmp_path / "log.swf", tmp_path / "mine.py"
    log.write_text("; a log")
    mine.write_text(MINE)
    setting = BatchSetting.model_validate(
        {"workload": {"trace": str(log)}, "policies": {"order": {f"{mine}:Mine": {}}}}
    )
    files = {
        str(each): Carried(hashlib.sha256(each.read_bytes()).hexdigest(), each.read_bytes())
        for each in (log, mine)
    }
    there = named(setting)
    assert call(files, named, setting) == there
    # On another machine one file is missing, and the other differs.
    log.unlink()
    mine.write_text("other")
    ray_crew._digest.cache_clear()
    try:
        assert call(files, named, setting) == there
        assert call(files, max, 3, 7) == 7
    finally:
        shutil.rmtree(ray_crew._folder())
        ray_crew._folder.cache_clear()
        ray_crew._digest.cache_clear()


@pytest.mark.slow
def test_a_cluster_with_another_version_is_an_error(private, monkeypatch):
    monkeypatch.setattr(ray_crew, "own_version", lambda: "99")
    with pytest.raises(InputError, match=r"^on: node 127\.0\.0\.1 has Windlass .*, expected 99 as here"):
        ray_crew._check_versions()
