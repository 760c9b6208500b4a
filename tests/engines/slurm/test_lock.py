"""The lock of a driver: private to its user, whatever other users do."""

import os
import stat

import pytest

from windlass.engines.batch import driver_lock as module
from windlass.engines.batch.driver_lock import DriverLock
from windlass.model import InputError

root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to act as another user")
OTHER = 65534


def test_the_lock_file_can_be_opened_by_its_owner_only(tmp_path):
    before = os.umask(0)
    try:
        with DriverLock("slurm", "c:h:1", tmp_path / "new") as lock:
            assert stat.S_IMODE(lock.path.stat().st_mode) == 0o600
            assert stat.S_IMODE(lock.path.parent.stat().st_mode) == 0o755
        # A file of an earlier release could be read, and so locked, by all users.
        lock.path.chmod(0o644)
        with DriverLock("slurm", "c:h:1", tmp_path / "new") as lock:
            assert stat.S_IMODE(lock.path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("mode", [0o1777, 0o770, 0o702])
def test_a_folder_that_other_users_may_write_is_rejected(tmp_path, mode):
    folder = tmp_path / "own"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(
        InputError, match=rf"own: owner \d+, mode {mode:o}; expected a folder that belongs to user"
    ):
        DriverLock("slurm", "c:h:1", folder)
    assert list(folder.iterdir()) == []


def test_a_lock_file_that_other_users_may_write_is_rejected(tmp_path):
    DriverLock("slurm", "c:h:1", tmp_path).close()
    (file,) = tmp_path.iterdir()
    file.chmod(0o666)
    with pytest.raises(InputError, match=r"mode 666; expected a lock file that belongs to user"):
        DriverLock("slurm", "c:h:1", tmp_path)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(InputError, match="expected a folder"):
        DriverLock("slurm", "c:h:1", tmp_path / "link")
    (tmp_path / "real" / "windlass-slurm-c-h-1.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="expected a lock file that this user owns"):
        DriverLock("slurm", "c:h:1", tmp_path / "real")
    assert not (tmp_path / "elsewhere").exists()


@root
def test_another_user_can_neither_take_the_lock_nor_be_replaced_by_one_that_is_not_root(tmp_path):
    # Other users may reach the folder, as they may reach /run.
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    with DriverLock("slurm", "c:h:1", tmp_path / "own") as lock:
        path = lock.path

    def as_other(action):
        """Return whether an action of another user succeeds."""
        if (child := os.fork()) == 0:
            os.setgroups([])
            os.setresgid(OTHER, OTHER, OTHER)
            os.setresuid(OTHER, OTHER, OTHER)
            try:
                action()
            except (OSError, InputError):
                os._exit(1)
            os._exit(0)
        return os.waitpid(child, 0)[1] == 0

    assert not as_other(lambda: os.open(path, os.O_RDONLY))
    assert not as_other(lambda: DriverLock("slurm", "c:h:1", tmp_path / "own"))
    # Nor in a folder of another user that it may write itself: it could be given a file to lock.
    os.chown(tmp_path / "own", OTHER, OTHER)
    DriverLock("slurm", "c:h:1", tmp_path / "own").close()
    os.chown(tmp_path / "own", 1234, 1234)
    assert not as_other(lambda: DriverLock("slurm", "c:h:2", tmp_path / "own"))


def test_the_default_folder_is_private_to_the_service_or_the_user(monkeypatch):
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module.os, "geteuid", lambda: 0)
    assert str(module._folder()) == "/run/windlass"
    monkeypatch.setattr(module.os, "geteuid", lambda: 54321)
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: "/t")
    assert str(module._folder()) == "/t/windlass-54321"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/54321")
    assert str(module._folder()) == "/run/user/54321/windlass"
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/windlass:/run/more")
    assert str(module._folder()) == "/run/windlass"


def test_a_folder_of_another_user_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(module.os, "geteuid", lambda: 54321)
    with pytest.raises(InputError, match="expected a folder that belongs to user 54321"):
        DriverLock("slurm", "c:h:1", tmp_path)
