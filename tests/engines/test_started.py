"""Detection of listening processes started by tests, also in the background, and of no others."""

import os
import subprocess
import sys

import pytest

from tests.started import MARK, polling_for_listeners, reachable, running

pytest.importorskip("psutil")

#: Listens at an address, prints its port and process id, and ends with its standard input.
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
    """A listening process with a mark in its environment."""

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
        line = self.process.stdout.readline().split()
        if not line:
            pytest.skip(f"cannot listen at {address}: {self.process.stderr.read().splitlines()[-1]}")
        self.pid, self.port = map(int, line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        # The end of its output is the end of the process, which may be orphaned.
        self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
@pytest.mark.parametrize("words", [(), ("background",)])
def test_a_process_that_listens_on_all_addresses_is_found(address, words):
    with Listener(address, "a-mark", *words) as one:
        (found,) = reachable("a-mark")
        assert f"(process {one.pid}) at {address}, port {one.port}" in found
        assert running("a-mark") == [one.pid]
    assert reachable("a-mark") == set()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1"])
def test_a_process_that_listens_on_loopback_is_not_reported(address):
    with Listener(address, "a-mark"):
        assert reachable("a-mark") == set()


def test_processes_with_another_mark_are_not_reported():
    with Listener("0.0.0.0", "another-mark"):
        assert reachable("a-mark") == set()


def test_children_of_this_process_are_found_without_a_mark():
    with Listener("0.0.0.0", "no-mark") as one:
        assert any(f"(process {one.pid})" in each for each in reachable(str(os.getpid())))


def test_a_process_that_listens_at_the_end_is_found():
    found = set()
    with polling_for_listeners("a-mark", found):
        one = Listener("0.0.0.0", "a-mark")
    with one:
        assert len(found) == 1
