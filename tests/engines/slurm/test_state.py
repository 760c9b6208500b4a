"""Who shares, kept in a file."""

import pytest

from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.slurm.state import ShareState, read_state, write_state
from windlass.model import InputError


def test_what_was_kept_comes_back(tmp_path):
    state = ShareState("pairs", (Pair(1, 2, 30), Pair(3, 4, 0)), "{}", (("blast", 10.0, 950.0),))
    write_state(tmp_path / "shares", state)
    assert read_state(tmp_path / "shares") == state
    assert [file.name for file in tmp_path.iterdir()] == ["shares"]


def test_no_file_is_nothing_kept(tmp_path):
    assert read_state(tmp_path / "shares") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a saved state of shares"),
        ("[]", "not a saved state of shares"),
        ('{"version": 2}', "version is 2, expected 1"),
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
