"""The file of a program's progress: it is read as written, and any content is handled without an exception."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.engines.linux.job_progress import MOST, JobProgress, read, report

GOOD = {"stage": 2, "stages": 4, "parallel": True, "done": 13, "left": 27}


@given(
    st.integers(1, 9),
    st.integers(0, 9),
    st.booleans(),
    st.integers(0, 10**9) | st.floats(0, 1e9),
    st.integers(0, 10**9),
)
def test_written_progress_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, stage: int, more: int, parallel: bool, done: float, left: int
) -> None:
    path = tmp_path_factory.mktemp("progress") / "file"
    progress = JobProgress(stage, stage + more, parallel, done, left)
    report(path, JobProgress(1, 1, True, 0, 1))
    report(path, progress)
    assert read(path).progress == progress
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_unknown_fields_of_a_newer_program_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps(GOOD | {"iteration": 7}))
    assert read(tmp_path / "file").progress == JobProgress(2, 4, True, 13, 27)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"stage": 0}, "stage is 0"),
        ({"stage": 5}, "stage is 5"),
        ({"stage": True}, "stage is True"),
        ({"stages": 2.0}, "stages is 2.0"),
        ({"stages": 10**30}, "stages is 1000"),
        ({"parallel": 1}, "parallel is 1"),
        ({"parallel": None}, "parallel is None"),
        ({"done": -1}, "done is -1"),
        ({"done": float("nan")}, "done is nan"),
        ({"left": float("inf")}, "left is inf"),
        ({"left": 10**400}, "left is 1000"),
        ({"left": "7"}, "left is '7'"),
        ({"done": True}, "done is True"),
    ],
)
def test_invalid_values_are_named(tmp_path: Path, changed: dict[str, object], named: str) -> None:
    path = tmp_path / "file"
    path.write_text(json.dumps(GOOD | changed))
    found = read(path)
    assert found.progress is None
    assert found.why.startswith(f"{path}: {named}")
    assert len(found.why.splitlines()) == 1


@pytest.mark.parametrize("missing", list(GOOD))
def test_a_missing_field_is_named(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "file"
    path.write_text(json.dumps({name: value for name, value in GOOD.items() if name != missing}))
    assert f": {missing} is None" in read(path).why


@pytest.mark.parametrize(
    "text", ["", json.dumps(GOOD)[:-9], "[" * 4000, "[1, 2]", "7", "null", "\x00\x00", "{}", "9" * 4096]
)
def test_truncated_or_foreign_content_gives_no_progress(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    found = read(path)
    assert found.progress is None
    assert found.why.startswith(f"{path}: ")


@given(st.binary(max_size=2 * MOST))
def test_garbage_raises_no_exception(tmp_path_factory: pytest.TempPathFactory, garbage: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage"
    path.write_bytes(garbage)
    assert (read(path).progress is None) == bool(read(path).why)


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(json.dumps(GOOD) + " " * MOST)
    assert "over 4096 bytes" in read(path).why


def test_links_folders_and_pipes_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps(GOOD))
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "absent", "."):
        found = read(tmp_path / name)
        assert found.progress is None
        assert str(tmp_path) in found.why
