"""The container of learned state: sealed state round-trips, and other data is a one-line error."""

import json
import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.io import seal, seal_text, unseal, unseal_text
from windlass.model import InputError

KINDS = st.text(string.ascii_lowercase + "-", min_size=1, max_size=40)
VERSIONS = st.integers(0, 999_999_999)


@given(KINDS, st.binary(), VERSIONS)
def test_sealed_bytes_round_trip(kind, body, version):
    assert unseal(seal(kind, body, version), kind, version) == body


@given(KINDS, st.text(), VERSIONS)
def test_sealed_text_round_trips_as_text_and_bytes(kind, body, version):
    sealed = seal_text(kind, body, version)
    assert unseal_text(sealed, kind, version) == unseal_text(sealed.encode(), kind, version) == body


@given(KINDS, st.binary(max_size=60), st.integers(0), st.integers(0, 7))
def test_a_flipped_bit_is_detected(kind, body, at, bit):
    data = bytearray(seal(kind, body))
    data[at % len(data)] ^= 1 << bit
    with pytest.raises(InputError, match=r"^saved state: .*$"):
        unseal(bytes(data), kind)


@given(KINDS, st.binary(max_size=60), st.data())
def test_a_truncated_state_is_rejected(kind, body, data):
    sealed = seal(kind, body)
    with pytest.raises(InputError, match="saved state: "):
        unseal(sealed[: data.draw(st.integers(0, len(sealed) - 1))], kind)


@given(st.binary(max_size=100) | st.text(max_size=100))
def test_other_data_is_a_one_line_error(data):
    if data[:1] in (b"{", "{"):
        return
    with pytest.raises(InputError) as error:
        unseal_text(data, "sharing")
    assert str(error.value).startswith("saved state: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (seal("agent", b""), "saved state: is of kind 'agent', expected 'arrays'"),
        (seal("arrays", b"", 2), "saved state: version is 2, expected 1"),
        (seal("arrays", b"body")[:-1], "saved state: its checksum is wrong: it was truncated or changed"),
        (b"", "saved state: 0 bytes that do not begin with 'windlass-arrays 1' and a checksum"),
        (b"WINDLASS" + bytes(4) + b"body", "saved state: its checksum is wrong: it was truncated or changed"),
    ],
)
def test_the_error_names_the_expected_state(data, message):
    with pytest.raises(InputError) as error:
        unseal(data, "arrays")
    assert str(error.value) == message


@given(st.binary(min_size=1))
def test_arrays_in_the_old_format_are_read(body):
    old = b"WINDLASS" + zlib.crc32(body).to_bytes(4, "little") + body
    assert unseal(old, "arrays") == body


@given(st.dictionaries(st.text(), st.integers()))
def test_json_in_the_old_format_is_read(tree):
    text = json.dumps(tree)
    assert unseal_text(text, "sharing") == text


def test_a_body_that_is_not_utf_8_is_rejected():
    with pytest.raises(InputError, match="saved state: is not UTF-8"):
        unseal_text(seal("sharing", b"\xff"), "sharing")
