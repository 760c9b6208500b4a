"""Writes of a results folder are exclusive and atomic."""

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


def test_a_folder_is_filled_without_leftovers(tmp_path):
    fill(tmp_path / "deep" / "out", "one")
    assert names(tmp_path / "deep") == ["out"]
    assert (tmp_path / "deep" / "out" / "a").read_text() == "one"


def test_results_are_replaced_only_with_replace(tmp_path):
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
def test_a_folder_with_foreign_files_is_kept(tmp_path, replace):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("ours")
    (tmp_path / "out" / "thesis.tex").write_text("theirs")
    with pytest.raises(InputError, match=r"has 'thesis.tex', which is not a result"):
        fill(tmp_path / "out", "two", replace=replace)
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a", "thesis.tex"]


def test_the_current_folder_is_rejected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is the current folder"):
        fill(type(tmp_path)("."), "one")
    with pytest.raises(InputError, match="--out: / "):
        fill(type(tmp_path)("/"), "one")


def test_a_failed_write_keeps_the_old_results(tmp_path):
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


def test_leftovers_of_a_killed_command_are_removed(tmp_path):
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


def test_the_claim_of_a_killed_owner_is_released(tmp_path):
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


def test_without_exchange_two_renames_are_used_and_repaired_after_a_kill(tmp_path, monkeypatch):
    fill(tmp_path / "out", "one")
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: _NoExchange())
    fill(tmp_path / "out", "two", replace=True)
    assert (tmp_path / "out" / "a").read_text() == "two"
    assert names(tmp_path) == ["out"]
    os.rename(tmp_path / "out", saving_folder._old(tmp_path / "out"))
    with pytest.raises(InputError, match="force=True replaces them"):
        fill(tmp_path / "out", "three")
    assert (tmp_path / "out" / "a").read_text() == "two"
