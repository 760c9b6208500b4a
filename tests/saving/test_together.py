"""A few files: all in their folder, or none."""

import pytest

from windlass.io import add_to_folder, check_folder, write_text
from windlass.model import InputError


def contents(folder):
    return {each.name: each.read_text() for each in folder.iterdir()}


def put(folder, **texts):
    with add_to_folder(folder, "--out") as fresh:
        for name, text in texts.items():
            write_text(text, fresh / name)


def test_files_are_added_and_replaced_and_others_stay(tmp_path):
    put(tmp_path / "deep" / "out", a="one", b="one")
    put(tmp_path / "deep" / "out", b="two", c="two")
    assert contents(tmp_path / "deep" / "out") == {"a": "one", "b": "two", "c": "two"}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "--out: .*out cannot be written: No space left on device"),
        (InputError("no such row"), "--out: .*out cannot be written: no such row"),
    ],
)
def test_where_one_fails_none_is_there(tmp_path, error, said):
    put(tmp_path / "out", a="one")

    def fails():
        with add_to_folder(tmp_path / "out", "--out") as fresh:
            write_text("two", fresh / "a")
            raise error

    with pytest.raises(InputError, match=said):
        fails()
    assert contents(tmp_path / "out") == {"a": "one"}


def test_a_file_that_cannot_be_written_is_said_of_the_folder_that_was_named(tmp_path):
    def fails():
        with add_to_folder(tmp_path / "out", "--out") as fresh:
            write_text("one", fresh / "no" / "a")

    with pytest.raises(
        InputError, match=f"^--out: {tmp_path}/out cannot be written: No such file or directory$"
    ):
        fails()
    assert contents(tmp_path / "out") == {}


def test_what_cannot_be_a_folder_is_said_before(tmp_path):
    (tmp_path / "file").touch()
    check_folder("--out", tmp_path)
    check_folder("--out", tmp_path / "new" / "newer")
    with pytest.raises(InputError, match=r"--out: .*file is a file, expected a folder"):
        check_folder("--out", tmp_path / "file")
    with pytest.raises(InputError, match=r"--out: .*file cannot be written"):
        check_folder("--out", tmp_path / "file" / "out")
