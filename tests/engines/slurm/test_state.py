"""Who shares, kept in a file."""

import pytest

from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.slurm.state import ShareState, read_state, write_state
from windlass.io import seal_text
from windlass.model import InputError


def test_what_was_kept_comes_back(tmp_path):
    state = ShareState("pairs", (Pair(1, 2, 30), Pair(3, 4, 0)), "{}", (("blast", 10.0, 950.0),))
    write_state(tmp_path / "shares", state)
    assert read_state(tmp_path / "shares") == state
    assert [file.name for file in tmp_path.iterdir()] == ["shares"]


def test_a_file_of_before_the_container_is_read(tmp_path):
    text = '{"version": 1, "policy": "x", "pairs": [[1, 2, 30]], "learned": "", "uses": []}'
    (tmp_path / "shares").write_text(text)
    assert read_state(tmp_path / "shares") == ShareState("x", (Pair(1, 2, 30),))


def test_no_file_is_nothing_kept(tmp_path):
    assert read_state(tmp_path / "shares") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "saved state: 0 bytes that do not begin"),
        ("[]", "saved state: 2 bytes that do not begin"),
        ("{", "not a saved state of shares"),
        (seal_text("slurm-shares", "[]"), "not a saved state of shares"),
        (seal_text("slurm-shares", "{}", version=2), "saved state: version is 2, expected 1"),
        (seal_text("sharing", "{}"), "saved state: is of kind 'sharing', expected 'slurm-shares'"),
        (
            '{"version": 1, "policy": "x", "pairs": [[1]], "learned": "", "uses": []}',
            "not a saved state of shares",
        ),
        ('{"version": 1, "policy": "x", "pairs": [], "learned": ""}', "not a saved state of shares"),
    ],
)
def test_a_file_that_is_something_else_is_named(tmp_path, text, said):
    (tmp_path / "shares").write_text(text)
    with pytest.raises(InputError, match=said) as error:
        read_state(tmp_path / "shares")
    assert str(tmp_path / "shares") in str(error.value)
