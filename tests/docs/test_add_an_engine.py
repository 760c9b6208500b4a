"""The examples of docs/add-an-engine.md print the documented output; tests/engines/ runs the suites on them."""

import re

import pytest

from tests.docs.test_documents import ROOT, blocks

PAGE = "docs/add-an-engine.md"


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize(("first", "pattern"), [(0, r"It prints `(.*)`\."), (3, r"```text\n(.*?)\n```")])
def test_the_examples_print_the_documented_output(capfd, first, pattern):
    found: dict[str, object] = {}
    for code in blocks(PAGE, "python")[first : first + 2]:
        exec(code, found)
    expected = re.search(pattern, (ROOT / PAGE).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert expected is not None
    assert capfd.readouterr().out.strip() == expected[1]
