"""docs/admit.md: its examples run, and its sizes in bytes are correct."""

from __future__ import annotations

from tests.docs.test_documents import ROOT, blocks
from windlass.admit import Subspace


def test_the_documented_examples_print_the_documented_output(capsys):
    shared: dict[str, object] = {}
    for code in blocks("docs/admit.md", "python"):
        exec(code, shared)
    assert capsys.readouterr().out == "True\n"
    assert shared["newcomer"].basis.shape == (134, 4)


def test_the_documented_bytes_are_the_size_of_a_subspace():
    shared: dict[str, object] = {}
    exec(blocks("docs/admit.md", "python")[0], shared)
    size = Subspace(shared["node"].basis, shared["node"].singular_values).bytes
    page = (ROOT / "docs" / "admit.md").read_text(encoding="utf-8")
    assert f"{size:,} bytes" in page
    assert f"{size * 3600 // (20 * 20):,} bytes an hour" in page
