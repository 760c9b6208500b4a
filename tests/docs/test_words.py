"""Words that the project's style avoids are rare."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Jobs, processes and users are named by what they are, and texts say what a thing does.
AVOIDED = re.compile(
    r"\b(who|whom|whoever|nobody|somebody|told|said|says|asked|so many|so long|beside)\b", re.IGNORECASE
)
#: At most this many per 1,000 lines: JSON keys and names of saved fields that have such a word stay.
MOST = 0.25


def avoided_words(files: list[Path]) -> tuple[list[str], int]:
    """Return the lines with an avoided word, one entry per word, and the number of lines."""
    found, total = [], 0
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            total += 1
            where = f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            found += [where] * len(AVOIDED.findall(line))
    return found, total


@pytest.mark.matrix(0)
def test_texts_avoid_unclear_words():
    files = sorted((ROOT / "src").rglob("*.py")) + sorted((ROOT / "docs").glob("*.md")) + [ROOT / "README.md"]
    found, total = avoided_words(files)
    assert len(found) <= MOST * total / 1000.0, "\n".join(found)


def test_words_match_in_any_case_and_only_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.docs.test_words.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("Whose job?\nWho waits, so many as that. NOBODY\nbesides\n", encoding="utf-8")
    found, total = avoided_words([page])
    assert (len(found), total) == (3, 3)
