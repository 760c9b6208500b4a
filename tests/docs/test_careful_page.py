"""The page of limits lists each limit with its default."""

from pathlib import Path

from windlass.model import limits

PAGE = (Path(__file__).parents[2] / "docs" / "careful.md").read_text(encoding="utf-8")


def test_the_page_lists_every_limit_with_its_default():
    known = [each for each in vars(limits).values() if isinstance(each, limits.Limit)]
    rows = {f"| `{each.variable}` | {each.usual:,} | {each.things} |" for each in known}
    assert rows == {line for line in PAGE.splitlines() if line.startswith("| `WINDLASS_")}
