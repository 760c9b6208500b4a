"""The environment of a driver: signals during give-back, the journal's size, programs and ports."""

import os
import signal
import threading

import pytest

from windlass.engines.batch.undisturbed import undisturbed
from windlass.engines.slurm import host
from windlass.engines.slurm.entries import Over
from windlass.engines.slurm.journal import Journal, read_journal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def test_signals_are_ignored_only_during_give_back():
    before = [signal.getsignal(number) for number in SIGNALS]

    def gives_back():
        with undisturbed():
            assert [signal.getsignal(number) for number in SIGNALS] == [signal.SIG_IGN] * 3
            raise ValueError("fails")

    with pytest.raises(ValueError, match="fails"):
        gives_back()
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_signals_are_left_to_the_main_thread():
    seen = []

    def gives_back():
        with undisturbed():
            seen.extend(signal.getsignal(number) for number in SIGNALS)

    before = [signal.getsignal(number) for number in SIGNALS]
    thread = threading.Thread(target=gives_back)
    thread.start()
    thread.join()
    assert seen == before


def test_a_journal_is_shortened_beyond_8_mib(tmp_path):
    path = tmp_path / "journal"
    with Journal(path) as journal:
        journal.append(Over(1.0, 1, "x" * ((8 << 20) - 200)))
        assert len(read_journal(path)) == 1
        journal.append(Over(1.0, 2, "x" * 200))
        assert [entry.job for entry in read_journal(path)] == [2]


def test_programs_are_searched_on_the_path_and_then_in_sbin(monkeypatch, tmp_path):
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
def test_free_ports_are_distinct_and_of_the_given_number(count):
    found = host.free_ports(count)
    assert len(set(found)) == len(found) == count
    assert all(port > 0 for port in found)
