"""The page of limits has each of them as it is."""

from pathlib import Path

from windlass.model import limits

PAGE = (Path(__file__).parents[2] / "docs" / "careful.md").read_text(encoding="utf-8")


def test_the_page_has_every_limit():
    known = [each for each in vars(limits).values() if isinstance(each, limits.Limit)]
    rows = {f"| `{each.variable}` | {each.usual:,} | {each.things} |" for each in known}
    assert rows == {line for line in PAGE.splitlines() if line.startswith("| `WINDLASS_")}
