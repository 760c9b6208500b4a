"""Drawn tests run a share of their examples, which the nightly run raises to all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES, examples_of


@pytest.fixture(scope="module")
def drawn() -> list[int]:
    return []


def test_few_examples_are_all_run():
    assert [examples_of(listed) for listed in (1, 10)] == [1, 10]
    assert examples_of(25) >= 10


def test_of_many_examples_the_share_is_run():
    assert examples_of(1000) == round(1000 * EXAMPLES)


@settings(database=None, max_examples=200)
@given(number=st.integers())
def test_a_drawn_test_notes_its_examples(drawn, number):
    drawn.append(number)


def test_a_drawn_test_has_run_its_share(drawn, request):
    if not drawn:
        pytest.skip("the drawn test of this file was left out")
    assert len(drawn) == examples_of(200)
