"""The site builds without a warning, from all pages and docstrings, and loads nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(file.stem for file in (ROOT / "docs").glob("*.md"))


def test_pages_in_the_navigation_exist_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"([\w-]+)\.md", text[text.index("\nnav:") :])
    assert {*listed} - {"index", "contributing", "changelog"} <= {*PAGES}, "nav of mkdocs.yml"
    assert len(listed) == len({*listed})


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built."""
    missing = [
        name for name in ("mkdocs", "material", "mkdocstrings") if importlib.util.find_spec(name) is None
    ]
    if missing:
        pytest.skip(f"needs the extra docs: {', '.join(missing)} is not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def text_of(file: Path) -> str:
    return re.sub(r"<[^>]*>", "", file.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_all_pages_and_packages_are_on_the_site(site):
    for page in PAGES:
        assert (site / page / "index.html").is_file(), page
    for file in (ROOT / "src" / "windlass").rglob("__init__.py"):
        room = ".".join(file.parent.relative_to(ROOT / "src").parts)
        assert (site / "reference" / room / "index.html").is_file(), room


@pytest.mark.slow
def test_docstrings_are_in_the_reference(site):
    page = site / "reference" / "windlass.order.site.policies" / "index.html"
    assert "shadow time" in text_of(page)
    assert "backfilled, ends before the head can start" in text_of(page)
    room = (site / "reference" / "windlass.order.site" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<a [^>]*href="#windlass\.order\.site\.backfills"><code>backfills</code></a>', room)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("command-line", "windlass slurm drive"),
        ("scenario-fields", "kill_at_walltime"),
        ("metrics", "mean_bounded_slowdown"),
    ],
)
def test_generated_pages_match_the_code(site, page, words):
    assert words in text_of(site / "reference" / page / "index.html")


@pytest.mark.slow
def test_links_to_modules_and_files_exist_on_the_site(site):
    page = (site / "add-a-policy" / "index.html").read_text(encoding="utf-8")
    target = re.search(r'href="([^"]*)#windlass\.order\.site\.view"', page)
    assert target is not None
    reference = site / "add-a-policy" / target[1] / "index.html"
    assert 'id="windlass.order.site.view"' in reference.read_text(encoding="utf-8")
    assert (site / "files" / "examples" / "plan" / "pipeline.yaml").is_file()
    assert "<!-- run as" not in page


@pytest.mark.slow
def test_the_site_loads_nothing_from_other_hosts(site):
    for file in site.rglob("*.html"):
        html = file.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(https?://[^"]*)"', html)
        assert not loaded, f"{file.relative_to(site)}: {loaded}"
