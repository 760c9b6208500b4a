"""The saved state of sharing jobs: a text of the journal, and the file in which it was before."""

import pytest

from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.slurm.state import ShareState, parse_shares, read_state, share_text
from windlass.io import seal_text
from windlass.model import InputError


def test_a_saved_state_is_read_back():
    state = ShareState("pairs", (Pair(1, 2, 30), Pair(3, 4, 0)), "{}", (("blast", 10.0, 950.0),))
    assert parse_shares(share_text(state), "here") == state
    with pytest.raises(InputError, match=r"^here: not a saved state of shares: KeyError: 'pairs'$"):
        parse_shares("{}", "here")


def test_the_format_before_the_container_is_read(tmp_path):
    text = '{"version": 1, "policy": "x", "pairs": [[1, 2, 30]], "learned": "", "uses": []}'
    (tmp_path / "shares").write_text(text)
    assert read_state(tmp_path / "shares") == ShareState("x", (Pair(1, 2, 30),))


def test_a_missing_file_is_no_state(tmp_path):
    assert read_state(tmp_path / "shares") is None


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_a_file_that_is_not_a_state_is_an_error(tmp_path, text, message):
    (tmp_path / "shares").write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_state(tmp_path / "shares")
    assert str(tmp_path / "shares") in str(error.value)
