"""Writes of one file are atomic."""

import os
import resource
import signal
import stat
import subprocess
import sys

import pytest

from windlass.io import check_file, replace_file, write_bytes, write_text
from windlass.io.files import sync_folder
from windlass.model import InputError


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_write_replaces_the_file_and_leaves_no_other(tmp_path):
    file = tmp_path / "a"
    write_text("one", file)
    write_text("two", file)
    assert file.read_text() == "two"
    assert names(tmp_path) == ["a"]


def test_permissions_are_kept(tmp_path):
    file = tmp_path / "a"
    before = os.umask(0o027)
    try:
        write_text("one", file)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    file.chmod(0o604)
    write_text("two", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o604


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a")
    write_text("one", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "a").read_text() == "one"


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    up = [".."] * (len(tmp_path.parts) - 1)
    write_text("one", tmp_path.joinpath(*up, "dev", "null"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(InputError, match="/dev/full: the file cannot be written: No space left on device"):
        write_text("one", type(tmp_path)("/dev/full"))


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a"
    write_text("one", file)
    monkeypatch.setattr(
        os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(InputError, match="a: the file cannot be written: No space left on device"):
        write_text("two", file)
    assert file.read_text() == "one"
    assert names(tmp_path) == ["a"]


def test_a_file_over_the_size_limit_keeps_the_old_file(tmp_path):
    (tmp_path / "a").write_text("one")
    program = "import sys; from pathlib import Path; from windlass.io import write_bytes\n"
    program += "write_bytes(bytes(1 << 20), Path(sys.argv[1]))"

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a")], preexec_fn=small, capture_output=True, text=True
    )
    assert "cannot be written: File too large" in done.stderr
    assert (tmp_path / "a").read_text() == "one"
    assert names(tmp_path) == ["a"]


def test_names_of_the_maximum_length_are_written(tmp_path):
    write_bytes(b"one", tmp_path / ("a" * 250))
    assert names(tmp_path) == ["a" * 250]
    with pytest.raises(InputError, match="File name too long"):
        write_bytes(b"one", tmp_path / ("a" * 300))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("folder", "--x: .*folder is a folder, expected a file"),
        ("none/a", "--x: the folder .*none does not exist"),
        ("read", "--x: .*read is an input, expected another file"),
        ("link", "--x: .*link is an input, expected another file"),
        ("theirs", "--x: .*theirs exists and was not written by Windlass"),
    ],
)
def test_inputs_folders_and_foreign_files_are_rejected(tmp_path, name, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "read").write_text("<ours>")
    (tmp_path / "link").symlink_to(tmp_path / "read")
    (tmp_path / "theirs").write_text("mine")
    with pytest.raises(InputError, match=message):
        check_file("--x", tmp_path / name, (tmp_path / "read",), b"<ours>")


def test_new_empty_and_own_files_are_accepted(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "ours").write_text("<OURS> and more")
    for name in ("new", "empty", "ours"):
        check_file("--x", tmp_path / name, (tmp_path / "read",), b"<ours>")


def test_a_folder_can_be_synced(tmp_path):
    sync_folder(tmp_path)
    (tmp_path / "a").touch()
    with pytest.raises(OSError, match="Not a directory"):
        sync_folder(tmp_path / "a")


_KILLED = """
import os, sys
from pathlib import Path
from windlass.io import files
files.os.fsync = lambda handle: os.kill(os.getpid(), 9)
files.write_bytes(b"two", Path(sys.argv[1]))
"""


def test_a_killed_writer_leaves_no_files(tmp_path):
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"anonymous files are not supported here: {error.strerror}")
    write_text("one", tmp_path / "a")
    assert subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path / "a")]).returncode == -9
    assert (tmp_path / "a").read_text() == "one"
    assert names(tmp_path) == ["a"]


def test_writes_without_o_tmpfile_behave_the_same(tmp_path, monkeypatch):
    opened = os.open

    def named(path, flags, *more, **others):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        return opened(path, flags, *more, **others)

    monkeypatch.setattr(os, "open", named)
    (tmp_path / "a").write_text("one")
    (tmp_path / "a").chmod(0o604)
    write_text("two", tmp_path / "a")
    assert (tmp_path / "a").read_text() == "two"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o604
    with pytest.raises(InputError, match="File name too long"):
        write_bytes(b"one", tmp_path / ("a" * 300))
    assert names(tmp_path) == ["a"]


def test_a_system_without_o_tmpfile_writes_files(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    write_text("all", tmp_path / "a")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a", "all")]


def test_replace_file_is_atomic(tmp_path):
    file = tmp_path / "a.csv"
    with replace_file(file) as fresh:
        fresh.write_text("one")
        assert (fresh.suffix, file.exists()) == (".csv", False)

    def fails(error):
        with replace_file(file) as fresh:
            fresh.write_text("half")
            raise error

    with pytest.raises(InputError, match=r"a.csv: the file cannot be written: No space left on device"):
        fails(OSError(28, "No space left on device"))
    with pytest.raises(KeyError):
        fails(KeyError())
    assert file.read_text() == "one"
    assert names(tmp_path) == ["a.csv"]
