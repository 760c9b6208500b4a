"""Files of the kernel and of users with non-ASCII bytes, on a machine with an ASCII locale."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.engines.linux.test_measure import TICKS, Proc
from windlass.agent.token import read_token
from windlass.engines.linux.cores import is_topmost
from windlass.engines.linux.files import Files
from windlass.engines.linux.job_progress import JobProgress, read
from windlass.model import InputError


@pytest.fixture(autouse=True)
def ascii_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ASCII the default encoding."""
    monkeypatch.setattr(io, "text_encoding", lambda encoding, level=2: encoding or "ascii")


def test_a_process_name_may_have_any_bytes(tmp_path: Path) -> None:
    proc = Proc(tmp_path)
    proc.process(7, 3.0, {7: 0.5}, mib=2)
    for name in ("stat", "smaps_rollup"):
        path = tmp_path / "7" / name
        path.write_bytes(path.read_bytes().replace(b"(a) b (c)", b"(\xff) \xc3 (c)") + b"\xff 1 \xc3\n")
    usage = proc.meter(7).sample()
    assert usage.cpu == pytest.approx(3.0, abs=1 / TICKS)
    assert usage.memory == 2 * 1024 * 1024


def test_a_group_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_bytes(b"3:memory:/caf\xc3\xa9\n2:cpuset:/\n1:cpu:/caf\xc3\xa9\n")
    assert is_topmost(tmp_path, 7, "cpuset")
    assert not is_topmost(tmp_path, 7, "cpu")
    (tmp_path / "file").write_bytes(b"7 \xff\n")
    assert Files().read(tmp_path / "file").startswith("7 ")


def test_an_existing_group_is_no_error(tmp_path: Path) -> None:
    for _ in range(2):
        Files().make(tmp_path / "group")
    assert (tmp_path / "group").is_dir()


def test_a_token_with_a_non_ascii_space_is_rejected_in_any_locale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(io, "text_encoding", lambda encoding, level=2: encoding or "utf-8")
    token = tmp_path / "token"
    token.write_bytes(b"x" * 20 + "\u00a0\n".encode())
    token.chmod(0o600)
    with pytest.raises(InputError, match="token"):
        read_token(token, {})


def test_the_error_of_a_binary_user_file_is_one_line(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_bytes(b"x" * 20 + b"\xff")
    token.chmod(0o600)
    with pytest.raises(InputError, match="token"):
        read_token(token, {})
    path = tmp_path / "progress"
    path.write_bytes(b"\xff" + JobProgress(1, 2, True, 0, 1).line().encode())
    found = read(path)
    assert found.progress is None
    assert "expected one line of JSON" in found.why
