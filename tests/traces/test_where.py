"""Conditions of any length select the records that Polars selects, and wrong ones are refused in one line."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.io.traces import where
from windlass.io.traces.where import matching
from windlass.io.traces.where_terms import terms_of
from windlass.model import InputError

RECORDS = pl.DataFrame(
    {
        "run": [0, 1, 2, 3, None, 5, 6, None],
        "procs": [4, None, 2, 1, 8, 16, 2, None],
        "user": ["ann", "b AND c", None, "it's", "OR", "(", "dan", "ann"],
        "long": [True, False, None, True, False, True, None, False],
    }
)
_LEAVES = st.sampled_from(
    (
        *(
            "run > 2",
            "procs <= 4",
            "user = 'ann'",
            "user <> 'b AND c'",
            "user = 'it''s'",
            "\"user\" IN ('OR', '(')",
        ),
        *("run BETWEEN 1 AND 5", "run NOT BETWEEN (1) AND 2", "procs IS NULL", "run IS NOT NULL", "long"),
        *("(run + procs) * 2 > 9", "(run) > 3", "procs IN (2, 4)", "run NOT IN (1, 2)", "1 = 1"),
        "CASE WHEN run > 2 AND procs > 1 THEN procs > 4 ELSE run < 1 END",
        "CASE WHEN CASE WHEN run > 2 THEN long ELSE 1 = 1 END AND procs > 1 THEN procs > 4 ELSE run < 1 END",
        "user LIKE 'a%'",
    )
)
_CONDITIONS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from((" AND ", " OR ", "\n or ", " and ")), inner).map("".join),
        inner.map("({})".format),
        inner.map("NOT ({})".format),
        _LEAVES.map("NOT {}".format),
    ),
    max_leaves=12,
)


@given(_CONDITIONS)
@settings(max_examples=150, deadline=None)
def test_terms_select_the_records_of_the_whole_condition(condition):
    whole = matching("log", RECORDS, condition)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, "_FEW", -1)
        assert matching("log", RECORDS, condition).equals(whole)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "condition",
    [
        " OR ".join(f"run = {number}" for number in (*range(10, 3000), 5, 6)),
        " AND ".join(["run > 3", *(f"run <> {number}" for number in range(10, 3000))]),
        "(" * 3000 + "run > 3" + ")" * 3000,
        "NOT " * 3000 + "run > 3",
        "(run < 0 OR " * 3000 + "run > 3" + ")" * 3000,
        "(" * 3000 + "run > 3" + " OR run < 0)" * 3000,
        f"run IN ({', '.join(map(str, range(4, 9000)))})",
    ],
    ids=["or", "and", "parentheses", "not", "nested to the right", "nested to the left", "list"],
)
def test_thousands_of_terms_are_evaluated(condition):
    assert matching("log", RECORDS, condition)["run"].to_list() == [5, 6]


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("run > 1 OR " * 200, "no condition is at the end"),
        ("run > 1 OR " * 200 + "AND run > 1", "no condition precedes AND"),
        ("run > 1 OR " * 200 + "(run > 1", "a parenthesis is not closed"),
        ("run > 1 OR " * 200 + "run > 1)", "a parenthesis is closed that is not open"),
        ("run > 1 OR " * 200 + "() OR run > 1", "a condition is missing"),
        ("run > 1 OR " * 200 + "run > 1 -- all", "comments are not expected"),
        ("run > 1 OR " * 200 + "run + 1", "'run + 1' is Int64, expected a condition"),
        ("run > 1 OR " * 200 + "walltime > 1", "walltime"),
        ("run > 1 OR " * 200 + "long IS NOT DISTINCT FROM NULL OR run > 1", "expected parentheses around"),
        ("run > 1 OR run > 0" + " + 1" * 1500, "expected at most 1,000 in one term"),
    ],
)
def test_wrong_terms_are_refused_in_one_line(condition, reason):
    with pytest.raises(InputError, match=r"^log: where is ") as caught:
        matching("log", RECORDS, condition)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "term",
    [
        "(long IS DISTINCT FROM NULL)",
        "NOT (long IS NOT DISTINCT FROM (run > 2))",
        "CASE WHEN CASE WHEN run > 2 THEN long ELSE 1 = 1 END AND procs > 1 THEN procs > 4 ELSE run < 1 END",
    ],
)
def test_a_term_may_have_parentheses_and_cases_of_its_own(term):
    condition = f"procs > 1 AND {term} AND user <> 'dan'"
    whole = matching("log", RECORDS, condition)
    assert 0 < len(whole) < len(RECORDS)
    assert matching("log", RECORDS, " OR ".join([condition] * 60)).equals(whole)


def test_terms_are_linear_in_the_length():
    condition = " OR ".join(["(run > 1 AND NOT procs > 2)"] * 100)
    assert len(terms_of(condition)) == 100 * 4 + 99
