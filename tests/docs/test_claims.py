"""docs/claims.md agrees with its data, and the data agree with README and docs."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def claims(monkeypatch):
    """The script that makes the page, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("make_claims")


@pytest.fixture
def folder(claims, monkeypatch, tmp_path):
    """A folder with a test README and page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# A\nOurs is 12 % better, 3 times as\nfast.\n```sh\nrun 99\n```\n")
    (tmp_path / "docs" / "b.md").write_text(
        "# B\n## C\nIt takes 5 ms.\n## D\nField `every`: 3 s.\n```\n# 7 %\n```\n"
    )
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    monkeypatch.setattr(claims, "PAGE", tmp_path / "docs" / "claims.md")
    return tmp_path


def one(claims, at="README.md", section="# A", figures=("12 %", "3 times as fast")):
    return claims.Claim(at, section, "ours is better", "run", "here", "not measured", "there", figures)


def data(claims, *rows, settings=(), plain=()):
    return claims.Data(rows, frozenset(settings), frozenset(plain))


def test_the_page_is_up_to_date_and_each_figure_is_in_its_section(claims, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make_claims.py", "--check"])
    claims.main()


def test_every_claim_has_a_command_and_limits(claims):
    for claim in claims.read().claims:
        assert claim.interval.startswith("not measured") or len(claim.interval) > 4, claim.claim
        assert claim.command == "none" or claim.command.split()[0] in (
            "windlass",
            "python",
            "pytest",
            "none;",
        )
        assert claims.plainly(claim.claim) in (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")


def test_an_outdated_page_is_reported(claims, folder, monkeypatch):
    ours = (one(claims), one(claims, "docs/b.md", "## C", ("5 ms",)))
    monkeypatch.setattr(claims, "read", lambda: data(claims, *ours))
    monkeypatch.setattr(sys, "argv", ["make_claims.py", "--check"])
    with pytest.raises(SystemExit, match="is out of date: run python"):
        claims.main()
    monkeypatch.setattr(sys, "argv", ["make_claims.py"])
    claims.main()
    monkeypatch.setattr(sys, "argv", ["make_claims.py", "--check"])
    claims.main()
    (folder / "docs" / "claims.md").write_text("# else")
    with pytest.raises(SystemExit, match="out of date"):
        claims.main()


def test_consistent_claims_have_no_faults(claims, folder):
    assert claims.faults(data(claims, one(claims), one(claims, "docs/b.md", "## C", ("5 ms",)))) == []
    settings = [("docs/b.md", "## C")]
    assert claims.faults(data(claims, one(claims), settings=settings)) == []


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        ({"figures": ("13 %",)}, "README.md, '# A': '13 %' is missing"),
        ({"section": "# Z"}, "README.md: no section '# Z'"),
        ({"figures": ("12 %",)}, "README.md: 3 is in no claim"),
    ],
)
def test_a_changed_figure_is_reported(claims, folder, claim, fault):
    rows = (replace(one(claims), **claim), one(claims, "docs/b.md", "## C", ("5 ms",)))
    assert fault in claims.faults(data(claims, *rows))


def test_a_section_with_figures_and_no_row_is_reported(claims, folder):
    assert claims.faults(data(claims, one(claims))) == [
        "docs/b.md: section '## C' has figures, but no row in claims.yaml"
    ]


def test_plain_numbers_may_be_in_the_readme(claims, folder):
    rows = (one(claims, figures=("12 %",)), one(claims, "docs/b.md", "## C", ("5 ms",)))
    assert claims.faults(data(claims, *rows, plain=["3"])) == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{at: README.md, claim: a}", "claim 1: .*section"),
        (
            "{at: a, section: b, claim: c, command: d, setting: e, interval: ' ', fails: f}",
            "interval is empty",
        ),
        (
            "{at: a, section: b, claim: c, command: d, setting: e, interval: g, fails: f, why: h}",
            "claim 1: .*why",
        ),
    ],
)
def test_an_incomplete_row_is_reported(claims, tmp_path, row, words):
    path = tmp_path / "claims.yaml"
    path.write_text(f"claims: [{row}]\nsettings: []\nplain: {{}}\n")
    with pytest.raises(ValueError, match=words):
        claims.read(path)
