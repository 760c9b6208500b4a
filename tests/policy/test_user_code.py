"""Import of users' files: a changed file is imported as it is now."""

from __future__ import annotations

import os

import pytest

from windlass.policy.user_code import import_file, imported_again


@pytest.fixture(autouse=True)
def _bytecode(monkeypatch):
    # A user's Python writes bytecode. A test run may have switched this off.
    monkeypatch.setattr("sys.dont_write_bytecode", False)


def test_a_file_changed_within_a_second_is_imported_as_it_is_now(tmp_path):
    file = tmp_path / "mine.py"
    answers = []
    for number in (1, 2):
        file.write_text(f"ANSWER = {number}\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        with imported_again():
            answers.append(import_file(file).ANSWER)
    assert answers == [1, 2]
    assert [each.name for each in tmp_path.iterdir()] == ["mine.py"]


def test_a_file_is_imported_once_otherwise(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("ANSWER = 1\n")
    first = import_file(file)
    file.write_text("ANSWER = 2\n")
    assert import_file(file) is first
