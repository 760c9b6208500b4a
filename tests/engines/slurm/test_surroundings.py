"""What surrounds a driver: signals while it gives back, a journal's size, programs and ports of the machine."""

import os
import signal
import threading

import pytest

from windlass.engines.slurm import host
from windlass.engines.slurm.driver import _undisturbed
from windlass.engines.slurm.entries import Over
from windlass.engines.slurm.journal import Journal

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def test_signals_are_passed_over_until_the_queue_is_given_back_and_not_after():
    before = [signal.getsignal(number) for number in SIGNALS]

    def gives_back():
        with _undisturbed():
            assert [signal.getsignal(number) for number in SIGNALS] == [signal.SIG_IGN] * 2
            raise ValueError("fails")

    with pytest.raises(ValueError, match="fails"):
        gives_back()
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_signals_are_left_to_the_main_thread():
    seen = []

    def gives_back():
        with _undisturbed():
            seen.extend(signal.getsignal(number) for number in SIGNALS)

    before = [signal.getsignal(number) for number in SIGNALS]
    thread = threading.Thread(target=gives_back)
    thread.start()
    thread.join()
    assert seen == before


def test_a_journal_begins_anew_beyond_eight_mebibytes(tmp_path):
    path, before = tmp_path / "journal", tmp_path / "journal.1"
    with Journal(path) as journal:
        journal.append(Over(1.0, 1, "x" * ((8 << 20) - 200)))
        assert not before.exists()
        journal.append(Over(1.0, 2, "x" * 200))
        assert path.read_bytes() == b""
    assert before.stat().st_size > 8 << 20


def test_programs_are_looked_for_on_the_path_and_then_among_daemons(monkeypatch, tmp_path):
    places = {None: {"squeue": "/bin/squeue"}, "/usr/sbin:/sbin": {"squeue": "/no", "munged": "/sbin/munged"}}
    monkeypatch.setattr(host.shutil, "which", lambda name, path=None: places[path].get(name))
    found = [host.program(name) for name in ("squeue", "munged", "none")]
    assert found == ["/bin/squeue", "/sbin/munged", None]
    monkeypatch.setenv("SLURM_CONF", "another")
    monkeypatch.setenv("KEPT", "yes")
    given = host.environment(tmp_path)
    assert (given["SLURM_CONF"], given["KEPT"]) == (str(tmp_path / "slurm.conf"), "yes")
    assert os.environ["SLURM_CONF"] == "another"


@pytest.mark.parametrize("count", [0, 1, 5])
def test_free_ports_are_as_many_as_wanted_and_all_different(count):
    found = host.free_ports(count)
    assert len(set(found)) == len(found) == count
    assert all(port > 0 for port in found)
