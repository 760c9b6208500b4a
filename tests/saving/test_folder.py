"""A folder of results: one command at a time, and all of it or what was there."""

import ctypes
import errno
import os
import subprocess
import sys

import pytest

from windlass.io import claim_folder
from windlass.io import folder as saving_folder
from windlass.model import InputError

OURS = frozenset({"a", "b"})


def put(text):
    def write(folder):
        (folder / "a").write_text(text)

    return write


def fill(place, text, **options):
    with claim_folder(place, "--out", OURS, **options) as claim:
        claim.fill(put(text))


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_folder_is_filled_and_nothing_is_left_beside_it(tmp_path):
    fill(tmp_path / "deep" / "out", "one")
    assert names(tmp_path / "deep") == ["out"]
    assert (tmp_path / "deep" / "out" / "a").read_text() == "one"


def test_results_are_replaced_only_when_asked(tmp_path):
    fill(tmp_path / "out", "one")
    with pytest.raises(InputError, match="out has results already; force=True replaces them"):
        fill(tmp_path / "out", "two")
    assert (tmp_path / "out" / "a").read_text() == "one"
    fill(tmp_path / "out", "two", replace=True)
    assert (tmp_path / "out" / "a").read_text() == "two"
    assert names(tmp_path) == ["out"]


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    fill(tmp_path / "out", "one")
    assert names(tmp_path / "out") == ["a"]


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "there")
    fill(tmp_path / "out", "one")
    assert (tmp_path / "out").is_symlink()
    assert names(tmp_path / "there") == ["a"]


@pytest.mark.parametrize("replace", [False, True])
def test_a_folder_with_anything_of_somebody_else_stays(tmp_path, replace):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("ours")
    (tmp_path / "out" / "thesis.tex").write_text("theirs")
    with pytest.raises(InputError, match=r"has 'thesis.tex', which is not a result"):
        fill(tmp_path / "out", "two", replace=replace)
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a", "thesis.tex"]


def test_the_folder_one_is_in_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is the current folder"):
        fill(type(tmp_path)("."), "one")
    with pytest.raises(InputError, match="--out: / "):
        fill(type(tmp_path)("/"), "one")


def test_where_writing_fails_what_was_there_stays(tmp_path):
    fill(tmp_path / "out", "one")

    def broken(folder):
        (folder / "a").write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with (
        pytest.raises(InputError, match="out cannot be written: No space left on device"),
        claim_folder(tmp_path / "out", "--out", OURS, replace=True) as claim,
    ):
        claim.fill(broken)
    assert (tmp_path / "out" / "a").read_text() == "one"
    assert names(tmp_path) == ["out"]


def test_what_a_command_left_that_was_killed_goes(tmp_path):
    (tmp_path / ".out.new").mkdir()
    (tmp_path / ".out.new" / "half").touch()
    (tmp_path / ".out.lock").touch()
    fill(tmp_path / "out", "one")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a"]


def test_two_commands_do_not_write_into_one_folder(tmp_path):
    with claim_folder(tmp_path / "out", "--out", OURS) as claim:
        with (
            pytest.raises(InputError, match="another command is writing to"),
            claim_folder(tmp_path / "out", "--out", OURS),
        ):
            pass
        claim.fill(put("one"))
    assert names(tmp_path) == ["out"]


def test_a_killed_owner_lets_go(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from windlass.io import claim_folder\n"
        "with claim_folder(Path(sys.argv[1]), '--out', frozenset()): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "out")], check=False)
    assert names(tmp_path) == [".out.lock"]
    fill(tmp_path / "out", "one")
    assert names(tmp_path) == ["out"]


class _NoExchange:
    """A C library on a file system that cannot exchange."""

    def renameat2(self, *_):
        ctypes.set_errno(errno.EINVAL)
        return -1


def test_where_a_file_system_cannot_exchange_two_renames_do_and_a_kill_between_them_is_mended(
    tmp_path, monkeypatch
):
    fill(tmp_path / "out", "one")
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: _NoExchange())
    fill(tmp_path / "out", "two", replace=True)
    assert (tmp_path / "out" / "a").read_text() == "two"
    assert names(tmp_path) == ["out"]
    os.rename(tmp_path / "out", saving_folder._old(tmp_path / "out"))
    with pytest.raises(InputError, match="force=True replaces them"):
        fill(tmp_path / "out", "three")
    assert (tmp_path / "out" / "a").read_text() == "two"
