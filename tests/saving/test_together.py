"""Writes of several files into a folder are atomic."""

import pytest

from windlass.io import add_to_folder, check_folder, write_text
from windlass.model import InputError


def contents(folder):
    return {each.name: each.read_text() for each in folder.iterdir()}


def put(folder, **texts):
    with add_to_folder(folder, "--out") as fresh:
        for name, text in texts.items():
            write_text(text, fresh / name)


def test_files_are_added_or_replaced_and_others_stay(tmp_path):
    put(tmp_path / "deep" / "out", a="one", b="one")
    put(tmp_path / "deep" / "out", b="two", c="two")
    assert contents(tmp_path / "deep" / "out") == {"a": "one", "b": "two", "c": "two"}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device"), "--out: .*out cannot be written: No space left on device"),
        (InputError("no such row"), "--out: .*out cannot be written: no such row"),
    ],
)
def test_if_one_file_fails_none_is_written(tmp_path, error, message):
    put(tmp_path / "out", a="one")

    def fails():
        with add_to_folder(tmp_path / "out", "--out") as fresh:
            write_text("two", fresh / "a")
            raise error

    with pytest.raises(InputError, match=message):
        fails()
    assert contents(tmp_path / "out") == {"a": "one"}


def test_a_write_error_names_the_given_folder(tmp_path):
    def fails():
        with add_to_folder(tmp_path / "out", "--out") as fresh:
            write_text("one", fresh / "no" / "a")

    with pytest.raises(
        InputError, match=f"^--out: {tmp_path}/out cannot be written: No such file or directory$"
    ):
        fails()
    assert contents(tmp_path / "out") == {}


def test_an_invalid_folder_is_reported_before_the_write(tmp_path):
    (tmp_path / "file").touch()
    check_folder("--out", tmp_path)
    check_folder("--out", tmp_path / "new" / "newer")
    with pytest.raises(InputError, match=r"--out: .*file is a file, expected a folder"):
        check_folder("--out", tmp_path / "file")
    with pytest.raises(InputError, match=r"--out: .*file cannot be written"):
        check_folder("--out", tmp_path / "file" / "out")
