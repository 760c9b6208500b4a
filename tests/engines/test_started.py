"""Who listens among what tests started: in the background too, and nobody else's."""

import os
import subprocess
import sys

import pytest

from tests.started import MARK, left, looked_at, reachable

pytest.importorskip("psutil")

#: Listens at an address, says so and its own id, and ends with its standard input.
LISTEN = """
import os, socket, sys
if "background" in sys.argv:
    if os.fork():
        os._exit(0)
    os.setsid()
one = socket.create_server((sys.argv[1], 0), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
print(os.getpid(), one.getsockname()[1], flush=True)
sys.stdin.read()
"""


class Listener:
    """A process that listens, and carries a mark."""

    def __init__(self, address, mark, *words):
        command = [sys.executable, "-c", LISTEN, address, *words]
        environment = {name: value for name, value in os.environ.items() if name != MARK} | {MARK: mark}
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        said = self.process.stdout.readline().split()
        if not said:
            pytest.skip(f"cannot listen at {address}: {self.process.stderr.read().splitlines()[-1]}")
        self.pid, self.port = map(int, said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        # The end of what it says is the end of whoever says it, who may be nobody's child.
        self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
@pytest.mark.parametrize("words", [(), ("background",)])
def test_who_listens_for_all_is_found_wherever_it_runs(address, words):
    with Listener(address, "a-mark", *words) as one:
        (found,) = reachable("a-mark")
        assert f"(process {one.pid}) at {address}, port {one.port}" in found
        assert left("a-mark") == [one.pid]
    assert reachable("a-mark") == set()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1"])
def test_who_listens_for_this_machine_is_not(address):
    with Listener(address, "a-mark"):
        assert reachable("a-mark") == set()


def test_what_others_started_is_theirs():
    with Listener("0.0.0.0", "another-mark"):
        assert reachable("a-mark") == set()


def test_what_this_process_started_is_ours_whatever_its_environment():
    with Listener("0.0.0.0", "no-mark") as one:
        assert any(f"(process {one.pid})" in each for each in reachable(str(os.getpid())))


def test_who_was_there_at_the_end_is_found():
    found = set()
    with looked_at("a-mark", found):
        one = Listener("0.0.0.0", "a-mark")
    with one:
        assert len(found) == 1
