"""The command on real raylets: results, interrupts, and other processes that must be unaffected."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
import psutil

from tests.engines.engines import cluster_folders

pytestmark = pytest.mark.slow

SCENARIO = """
world: fleet
cluster:
  sites:
    - {name: a, slots: 2, up: 1.0e+7, down: 1.0e+7}
    - {name: b, slots: 1, up: 1.0e+7, down: 1.0e+7}
workload:
  jobs:
    - stages:
        - {task_s: SECONDS, input: {a: 2, b: 2}, task_bytes: 1.0e+5}
policies: {place: tetrium}
decide_every: 0
"""

OTHERS = """
import json, sys
from windlass.engines.ray.cluster import PrivateCluster
from windlass.model.fleet import Fleet
fleet = Fleet.of([2, 1], [1e7, 1e7], [1e7, 1e7], names=("a", "b"))
cluster = PrivateCluster(fleet)
print(json.dumps([cluster.address, cluster.admits]), flush=True)
sys.stdin.read()
cluster.close()
"""
#: Timeout (s): a busy machine may start Ray slowly, and with retries.
LONG_S = 300

#: Both signals are handled alike.
INTERRUPTS = [
    pytest.param(signal.SIGTERM, id="terminated"),
    pytest.param(signal.SIGINT, id="ctrl-c", marks=pytest.mark.nightly),
]


def command(*arguments):
    return [sys.executable, "-c", "from windlass.cli import main; main()", *map(str, arguments)]


def scenario(folder, seconds):
    file = folder / "scenario.yaml"
    file.write_text(SCENARIO.replace("SECONDS", str(seconds)))
    return file


def running(process, what):
    """True if a descendant process has this in its command line."""
    try:
        return any(what in " ".join(child.cmdline()) for child in process.children(recursive=True))
    except psutil.NoSuchProcess:
        return False


def wait_for(found, seconds=LONG_S):
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def other_cluster():
    """Another user's cluster: its address, its processes, and the environment for joining."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    address, admits = json.loads(process.stdout.readline())
    yield address, psutil.Process(process.pid), {**os.environ, **admits}
    process.stdin.close()
    try:
        process.wait(LONG_S)
    finally:
        process.kill()


def test_results_are_real_and_another_user_s_cluster_survives(tmp_path, other_cluster):
    address, owner, admitted = other_cluster
    before = {child.pid for child in owner.children(recursive=True)}
    done = subprocess.run(
        command("run", scenario(tmp_path, 0.2), "--engine", "ray", "--address", address, "--json"),
        env=admitted,
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["variants"][0]["metrics"]
    assert metrics["jobs"] == 1
    assert metrics["tasks"] == 4
    alive = {child.pid for child in owner.children(recursive=True)}
    infrastructure = {pid for pid in before if psutil.pid_exists(pid)}
    assert infrastructure <= alive
    assert [child for child in owner.children(recursive=True) if child.name() == "raylet"]


@pytest.mark.parametrize("number", INTERRUPTS)
@pytest.mark.parametrize("when", ["raylet/raylet", "ray::run_task"], ids=["starting", "running"])
def test_an_interrupted_run_leaves_no_process_and_affects_no_other(tmp_path, other_cluster, when, number):
    _, owner, _ = other_cluster
    before = cluster_folders()
    raylets = {child.pid for child in owner.children(recursive=True) if child.name() == "raylet"}
    process = subprocess.Popen(
        command("run", scenario(tmp_path, 60), "--engine", "ray"),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    own = psutil.Process(process.pid)
    wait_for(lambda: running(own, when))
    time.sleep(0.5)
    started = own.children(recursive=True)
    assert started
    # Like a terminal: the whole process group receives the signal.
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    _, stderr = process.communicate(timeout=LONG_S)
    assert process.returncode == 130, stderr
    assert stderr.strip().splitlines()[-1] == "windlass: interrupted; what was started is stopped"
    _, left = psutil.wait_procs(started, timeout=LONG_S)
    assert left == []
    assert cluster_folders() <= before
    assert raylets <= {child.pid for child in owner.children(recursive=True)}


def test_a_private_cluster_does_not_affect_other_processes_and_sessions():
    script = """
import subprocess, sys
from windlass.engines.ray.cluster import PrivateCluster
from windlass.model import InputError
from windlass.model.fleet import Fleet
fleet = Fleet.of([1], [1e6], [1e6])
cluster = PrivateCluster(fleet)
try:
    PrivateCluster(fleet)
except InputError as error:
    print(error)
assert cluster.whole()
other = subprocess.Popen(["sleep", "60"])
cluster.close()
assert other.poll() is None
other.kill()
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=LONG_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "engine: this process is already connected to a Ray cluster; call ray.shutdown() first",
        "fine",
    ]


def test_the_error_of_a_cluster_without_the_sites_is_one_line(tmp_path, other_cluster):
    file = scenario(tmp_path, 0.2)
    file.write_text(file.read_text().replace("name: b", "name: elsewhere").replace("b: 2", "elsewhere: 2"))
    done = subprocess.run(
        command("run", file, "--engine", "ray", "--address", other_cluster[0]),
        env=other_cluster[2],
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == (
        "windlass: cluster: no living node has the label site=elsewhere; sites of this Ray cluster: a, b"
    )


def test_words_are_counted_by_real_functions_over_sites(tmp_path):
    (tmp_path / "words.py").write_text(
        "def split(inputs, parts):\n"
        "    words = b' '.join(inputs).split()\n"
        "    return [b''.join(w + b'\\n' for w in words if len(w) % parts == p) for p in range(parts)]\n"
    )
    for name, text in (("one", "a bb a"), ("two", "bb c")):
        (tmp_path / name).write_text(text)
    file = tmp_path / "count.yaml"
    file.write_text(f"""
world: fleet
cluster:
  sites:
    - {{name: a, slots: 2, up: 1.0e+7, down: 1.0e+7}}
    - {{name: b, slots: 1, up: 1.0e+7, down: 1.0e+7}}
workload:
  jobs:
    - name: words
      stages:
        - {{task_s: 0.1, input: {{a: 1, b: 1}}, task_bytes: 6, call: "{tmp_path}/words.py:split",
           files: {{a: ["{tmp_path}/one"], b: ["{tmp_path}/two"]}}}}
        - {{task_s: 0.1, tasks: 2, parents: [0], command: "sort"}}
policies: {{order: swag}}
decide_every: 0
""")
    out = tmp_path / "out"
    done = subprocess.run(
        command("run", file, "--engine", "ray", "--out", out),
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = sorted(out.rglob("part-*"))
    assert [part.read_text() for part in written] == ["bb\nbb\n", "a\na\nc\n"]
