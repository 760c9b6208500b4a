"""The README and each page have a limited length."""

import re

import pytest

from tests.docs.pages import PAGES, ROOT

#: Words of a page, code and tables included and diagrams not, and lines of the README.
WORDS, LINES = 2500, 120
#: Pages that a script makes, or tables that a command prints.
GENERATED = {"docs/claims.md", "docs/results-dispatch-drawn.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in GENERATED])
def test_a_page_has_at_most_2_500_words(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(re.sub(r"^```mermaid.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).split()) <= WORDS


def test_the_readme_has_at_most_120_lines():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= LINES
