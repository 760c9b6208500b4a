"""Make claims.md: the figures that README and docs claim, with the command, the setting, the interval and the limits.

The data are in claims.yaml, whose header documents the fields. ``python docs/make_claims.py`` writes the page;
``--check`` fails if the page is out of date, or if a figure is missing from the section that the data name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "claims.yaml"
PAGE = ROOT / "docs" / "claims.md"
HEAD = """# Claims

Each figure in README or a page of docs has a row. The columns are the command that prints it, the setting of the
measurement, its 95 % interval over repetitions, and where the claim does not hold.

- *Not measured* means that there is no interval.
- *None* as the command means that no command in the repository prints the figure in this form. A command after *none*
  prints a related figure.
- *Not examined* means that limits were not looked for.

[`make_claims.py`](make_claims.py) makes this page from [`claims.yaml`](claims.yaml). A test compares both with the
documents: if a figure changes there, its row must change, and a section with figures must have a row.
"""
#: Patterns of measured figures: shares, intervals, factors, and processor times.
FIGURE = re.compile(r"\d ?%|±|\d(?:\.\d+)? times\b|\d ?(?:ms|µs)\b")
NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(frozen=True, slots=True)
class Claim:
    """A row: page, section, claim, the figures that the section must contain, command, setting, interval and limits."""

    at: str
    section: str
    claim: str
    command: str
    setting: str
    interval: str
    fails: str
    figures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Data:
    """All claims; sections (document, heading) whose figures are settings; numbers in README that claim nothing."""

    claims: tuple[Claim, ...]
    settings: frozenset[tuple[str, str]]
    plain: frozenset[str]


def read(path: Path = DATA) -> Data:
    """Return the data; raise ValueError if a field is missing, empty or unknown."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    claims = []
    for number, row in enumerate(data["claims"], 1):
        try:
            claims.append(Claim(**{**row, "figures": tuple(row.get("figures", ()))}))
        except TypeError as error:
            raise ValueError(f"{path.name}: claim {number}: {error}") from None
        for field in ("at", "section", "claim", "command", "setting", "interval", "fails"):
            if not str(row[field]).strip():
                raise ValueError(f"{path.name}: claim {number}: {field} is empty")
    settings = frozenset((row["at"], row["section"]) for row in data["settings"])
    return Data(tuple(claims), settings, frozenset(str(number) for number in data["plain"]))


def sections(document: str) -> Iterator[tuple[str, str]]:
    """Yield the headings of a document, each with the text below it.

    >>> list(sections("# A\\none\\n## B\\ntwo"))
    [('# A', '\\none\\n'), ('## B', '\\ntwo')]
    """
    parts = re.split(r"^(#+ .*)$", _outside_code(document, keep=True), flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def _outside_code(document: str, *, keep: bool = False) -> str:
    # In a block of code, a line that begins with # is a comment, not a heading.
    def block(found: re.Match[str]) -> str:
        return re.sub(r"^#", " #", found[0], flags=re.MULTILINE) if keep else ""

    if not keep:
        # A comment is not part of the rendered page.
        document = re.sub(r"<!--.*?-->", "", document, flags=re.DOTALL)
    return re.sub(r"^```.*?^```", block, document, flags=re.DOTALL | re.MULTILINE)


def plainly(words: str) -> str:
    """Return the text with each run of white space as one blank.

    >>> plainly("of\\n  the")
    'of the'
    """
    return " ".join(words.split())


def documents() -> tuple[str, ...]:
    """Return the paths of README and the pages of docs, without the generated page."""
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path != PAGE)
    return ("README.md", *(f"docs/{name}" for name in pages))


def faults(data: Data) -> list[str]:
    """Return the differences between the data and the documents, one line each."""
    found = []
    texts = {at: dict(sections((ROOT / at).read_text(encoding="utf-8"))) for at in documents()}
    for claim in data.claims:
        below = texts.get(claim.at, {}).get(claim.section)
        if below is None:
            found.append(f"{claim.at}: no section {claim.section!r}")
            continue
        missing = [figure for figure in claim.figures if plainly(figure) not in plainly(below)]
        found += [f"{claim.at}, {claim.section!r}: {figure!r} is missing" for figure in missing]
    listed = {(claim.at, claim.section) for claim in data.claims} | data.settings
    for at, own in texts.items():
        for heading, below in own.items():
            if FIGURE.search(_outside_code(below)) and (at, heading) not in listed:
                found.append(f"{at}: section {heading!r} has figures, but no row in claims.yaml")
    return found + [f"README.md: {number} is in no claim" for number in unclaimed(data)]


def unclaimed(data: Data) -> list[str]:
    """Return the numbers in README's text that no claim has; code, links and file names do not count."""
    readme = _outside_code((ROOT / "README.md").read_text(encoding="utf-8"))
    for pattern in (r"!\[[^\]]*\]\([^)]*\)", r"`[^`]*`", r"\]\([^)]*\)"):
        readme = re.sub(pattern, " ", readme)
    claimed = {
        number for claim in data.claims if claim.at == "README.md" for number in _numbers(claim.figures)
    }
    return sorted(set(_numbers([readme])) - claimed - data.plain)


def _numbers(texts: Iterable[str]) -> Iterator[str]:
    for words in texts:
        yield from NUMBER.findall(words)


def page(data: Data) -> str:
    """Return the page, with a table per document."""
    parts = [HEAD]
    for at in dict.fromkeys(claim.at for claim in data.claims):
        link = "../README.md" if at == "README.md" else Path(at).name
        parts.append(f"\n## [{at}]({link})\n")
        parts.append("| claim | command | setting | 95 % interval | where it fails |\n|---|---|---|---|---|")
        parts += [_row(claim) for claim in data.claims if claim.at == at]
    measured = sum("not measured" not in claim.interval for claim in data.claims)
    parts.append(
        f"\nOf {len(data.claims)} claims, {measured} have an interval or are counts; the others have none."
    )
    return "\n".join(parts) + "\n"


def _row(claim: Claim) -> str:
    command = claim.command if claim.command.startswith("none") else f"`{claim.command}`"
    cells = (claim.claim, command, claim.setting, claim.interval, claim.fails)
    return "| " + " | ".join(plainly(cell).replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    """Write the page, or check it."""
    data = read()
    wrong = faults(data)
    if wrong:
        sys.exit("\n".join(wrong))
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(data), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page(data):
        sys.exit("docs/claims.md is out of date: run python docs/make_claims.py")


if __name__ == "__main__":
    main()
