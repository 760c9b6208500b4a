"""The examples of docs/add-an-engine.md print what the page says; tests/engines/ holds them to the suites."""

import re

import pytest

from tests.docs.test_documents import ROOT, blocks

PAGE = "docs/add-an-engine.md"


@pytest.mark.parametrize(("first", "said"), [(0, r"It prints `(.*)`\."), (3, r"```text\n(.*?)\n```")])
def test_an_engine_s_example_prints_what_the_page_says(capfd, first, said):
    found: dict[str, object] = {}
    for code in blocks(PAGE, "python")[first : first + 2]:
        exec(code, found)
    expected = re.search(said, (ROOT / PAGE).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert expected is not None
    assert capfd.readouterr().out.strip() == expected[1]
