"""Each of 2,300 inputs is accepted, or rejected with an error of one line, within 2 GB and 30 s of CPU time."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.fuzz import bases
from tests.fuzz.addresses import HOSTS, LOCAL_HOSTS, PORTS
from tests.fuzz.case import Case
from tests.fuzz.child import LONGEST, naming_error, verdict_of
from tests.fuzz.contacts import is_local
from tests.fuzz.nasty import dumped, numbers, put
from tests.fuzz.readers import OTHERS, TABLES
from tests.fuzz.targets import ADDRESSES_FROM, case_of
from windlass.agent.options import Address
from windlass.engines.address import host_and_port, is_host, is_url
from windlass.experiment.scenario import make_scenario
from windlass.io.traces import read_trace
from windlass.model import InputError

ROOT = Path(__file__).parents[2]
SEED, CASES, PER_PROCESS = 20, ADDRESSES_FROM + 300, 500


def run_cases(folder: Path, first: int, last: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Count the outcomes by target, and list the failures; cases that crash the process are skipped."""
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    while first < last:
        command = [sys.executable, "-m", "tests.fuzz.child", str(SEED), str(first), str(last), str(folder)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=3600
        )
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith("end "):
                _, number, target, found = line.split(" ", 3)
                outcome = ast.literal_eval(found)
                counts[target, outcome if outcome in ("taken", "refused") else "wrong"] += 1
                if outcome not in ("taken", "refused"):
                    failures.append(f"case {number} ({target}): {outcome}")
        if done.returncode == 0:
            break
        last_line = lines[-1] if lines else "nothing was begun"
        failures.append(f"{last_line}: ended with {done.returncode}: {done.stderr[-300:]}")
        if not last_line.startswith("begin "):
            break
        first = int(last_line.split()[1]) + 1
    return counts, failures


@pytest.mark.slow
def test_bad_input_is_accepted_or_rejected_with_one_line(tmp_path, capsys):
    pytest.importorskip("cv2", reason="pipelines of video are among what is read")
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    for first in range(0, CASES, PER_PROCESS):
        new_counts, new_failures = run_cases(tmp_path, first, min(first + PER_PROCESS, CASES))
        counts += new_counts
        failures += new_failures
    with capsys.disabled():
        print(f"\n{counts.total()} cases, seed {SEED}")
        for target in sorted({name for name, _ in counts}):
            print(
                f"  {target}:",
                ", ".join(f"{counts[target, kind]} {kind}" for kind in ("refused", "taken", "wrong")),
            )
    assert not failures, f"{len(failures)} cases, the first:\n" + "\n".join(failures[:40])
    assert counts.total() == CASES
    # The fuzzer works only if some inputs are rejected and some accepted.
    for target in ("log", "table", "read_scenario", "other_yaml"):
        assert counts[target, "refused"] > 20
        assert counts[target, "taken"] > 5
    assert counts["address", "refused"] == CASES - ADDRESSES_FROM


def test_a_case_is_reproducible(tmp_path):
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        case_of(SEED, 3, tmp_path / name)
        files.append({each.name: each.read_bytes() for each in (tmp_path / name).iterdir()})
    assert files[0] == files[1]


@pytest.mark.parametrize("name", sorted(bases.LOGS))
def test_the_base_logs_are_valid(tmp_path, name):
    (tmp_path / "log").write_text(bases.LOGS[name], encoding="utf-8")
    assert len(read_trace(tmp_path / "log", name)) > 0


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_base_tables_are_valid(tmp_path, name):
    (tmp_path / "a.csv").write_text(bases.TABLES[name], encoding="utf-8")
    assert TABLES[name](tmp_path / "a.csv") is not None


@pytest.mark.parametrize(("text", "read"), OTHERS)
def test_the_other_base_files_are_valid(tmp_path, text, read):
    if text == bases.PIPELINE:
        pytest.importorskip("cv2", reason="a pipeline of video needs it")
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    assert read(tmp_path / "a.yaml") is not None


@pytest.mark.parametrize("world", sorted(bases.SCENARIOS))
def test_the_base_scenarios_are_valid(world):
    tree = yaml.safe_load(dumped(bases.SCENARIOS[world]))
    scenario = make_scenario(tree, "s")
    for variant in scenario.variants:
        scenario.world.workload(variant.setting, 1)
    way = numbers(tree)[0]
    assert put(tree, way, True) != tree


@pytest.mark.parametrize(
    ("status", "out", "err", "verdict"),
    [
        (0, "{}", "", "taken"),
        (2, "", "windlass: no\n", "refused"),
        (2, "", "note: x\nwindlass: no\n", "refused"),
        (2, "", "Usage: windlass\n", "refused"),
        (2, "", "windlass: no\nwindlass: no\n", "2 lines instead of one"),
        (2, "x", "windlass: no\n", "results beside an error"),
        (3, "", "windlass: ours\n", "status 3"),
        (2, "", "Traceback (most recent call last):\nwindlass: x\n", "a traceback"),
        (0, "\x1b[31m", "", "a sign that steers"),
    ],
)
def test_the_end_of_a_command_has_a_verdict(status, out, err, verdict):
    assert verdict_of(status, out, err).startswith(verdict)


def test_an_error_that_is_too_long_or_names_no_option_is_a_failure():
    case = Case(command=("run",), names=("--address",))
    assert naming_error(case, "note\nwindlass: --address: no\n") == ""
    assert naming_error(case, "windlass: no\n").startswith("names none of --address")
    assert naming_error(case, f"windlass: --address: {'a' * LONGEST}\n").startswith("a line of ")
    assert naming_error(Case(command=("run",)), "windlass: no\n") == ""


@pytest.mark.parametrize("port", PORTS, ids=range(len(PORTS)))
@pytest.mark.parametrize("host", LOCAL_HOSTS)
def test_invalid_ports_are_rejected(host, port):
    with pytest.raises(InputError, match=r"^--x: "):
        host_and_port("--x", f"{host}:{port}")


@pytest.mark.parametrize("host", HOSTS, ids=range(len(HOSTS)))
def test_invalid_hosts_are_rejected(host):
    assert not is_host(host)
    for text in (f"{host}:1", host):
        with pytest.raises(InputError, match=r"^--x: ") as refused:
            host_and_port("--x", text)
        assert len(str(refused.value)) < LONGEST
    assert not is_url(f"http://{host}:1")
    with pytest.raises(InputError, match=r"^--listen is '"):
        Address.of("--listen", f"{host}:1")


@pytest.mark.parametrize(
    "host", [*LOCAL_HOSTS, "head.cluster", "10-0-0-1", "my_host", "a.b.c.", "[fe80::1%eth0]", "10.0.0.1"]
)
def test_valid_hosts_and_ports_are_accepted(host):
    assert host_and_port("--x", f"{host}:65535") == (host.strip("[]"), 65535)
    assert is_url(f"http://{host}")
    assert is_url(f"https://{host}:9092/tree")


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("", True),
        ("10.0.0.1", False),
        ("a.b", False),
    ],
)
def test_local_hosts_are_recognised(host, here):
    assert is_local(host) is here
