"""Values of attributes that no reader expects."""

from hypothesis import strategies as st

#: Values of JSON, with numbers that no float and no text of digits that no integer of Python takes.
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**300, 10**420),
    st.floats(),
    st.text(),
    st.sampled_from(["9" * 400, "9" * 5000, "0" * 40 + "7", "-5", "1e400", "99999999999999999999:00:00"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)
#: A number with more digits than Python turns into an integer.
DIGITS = "9" * 5000
