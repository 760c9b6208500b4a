"""The file of the control plane: what is read from it, and errors that name file, field and value."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.control.cluster_file import _KINDS, read_cluster
from windlass.model import InputError

MINE = """
class Mine:
    name = "mine"
    def decide(self, view):
        return None
"""


def read(tmp_path, text, acts=False):
    file = tmp_path / "cluster.yaml"
    file.write_text(text)
    return read_cluster(file, acts=acts, report=print)


def test_engines_and_journal_are_read_and_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    found = read(
        tmp_path,
        """
        journal: state/control.db
        engines:
        - engine: slurm
          policies: {order: mine.py, share: {pairs: {budget: 0.05}}}
          partition: main
        - {engine: slurm, name: second, policies: {order: easy}}
        """,
        acts=True,
    )
    assert found.journal == tmp_path / "state" / "control.db"
    assert [(each.name, each.about) for each in found.engines] == [
        ("slurm", "Slurm partition main, order by mine, share by pairs; drives the queue"),
        ("second", "Slurm, order by easy; drives the queue"),
    ]


SLURM = "engines: [{engine: slurm, policies: {order: easy}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[]", "expected a mapping with the field engines, found []"),
        ("", "expected a mapping with the field engines, found nothing"),
        ("engines: [a]", "engines.0: expected a mapping of fields, found 'a'"),
        ("engines: [{engine: kubernetes, types: no.yaml}]", "engines.0.types: "),
        ("engines: []", "engines: expected at least 1 entry, found []"),
        ("engine: []", "engine: no such field, found []; did you mean 'engines'?"),
        ("sites: {}", "sites: no such field, found an empty mapping; the fields are journal, engines"),
        ("engines: {a: {engine: slurm}}", "engines: expected a list, found a mapping; write a list"),
        ("engines: [{engine: slurm}]", "engines.0.policies: missing"),
        ("engines: [{policies: {}}]", "engines.0.engine: missing, expected one of slurm"),
        ("engines: [{engine: slrum}]", "engines.0.engine: unknown engine 'slrum', expected one of slurm"),
        (f"{SLURM}, perid: 1}}]", "engines.0.perid: no such field, found 1; did you mean 'period'?"),
        (f"{SLURM}, period: 0}}]", "engines.0.period: expected a number above 0, found 0"),
        (f"{SLURM}, period: yes}}]", "engines.0.period: expected a number, not true or false, found True"),
        (f"{SLURM}, patience: .inf}}]", "engines.0.patience: expected a finite number, found inf"),
        (f"{SLURM}, name: a/b}}]", "engines.0.name is 'a/b', expected up to 64 letters"),
        (
            f"{SLURM}}}, {{engine: slurm, policies: {{order: sjf}}}}]",
            "engines.1.name: 'slurm' is given twice",
        ),
        (
            "engines: [{engine: slurm, policies: {order: eazy}}]",
            "engines.0.policies.order: unknown policy 'eazy', expected one of",
        ),
        (
            "engines: [{engine: slurm, policies: {order: {easy: {depth: 3}}}}]",
            "engines.0.policies.order: easy has no parameter 'depth'",
        ),
        (
            "engines: [{engine: slurm, policies: {share: pairs}}]",
            "engines.0.policies: no policy of order, expected one such as order: easy",
        ),
        (
            "engines: [{engine: slurm, policies: {order: easy, admit: pronto}}]",
            "engines.0.policies.admit: cannot be driven on Slurm, expected order and perhaps share",
        ),
        (
            "engines: [{engine: slurm, policies: {ordr: easy}}]",
            "engines.0.policies.ordr: cannot be driven on Slurm, expected order and perhaps share;"
            " did you mean 'order'?",
        ),
        ("engines: [{engine: slurm, policies: {order: [easy, sjf]}}]", "engines.0.policies.order: "),
        ("engines: [{engine: slurm, policies: {order: none.py}}]", "none.py: no such file"),
    ],
)
def test_a_wrong_field_is_one_line_with_file_field_and_value(tmp_path, text, line):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'cluster.yaml'}: ")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_file_of_the_documentation_is_read(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "control-plane.md").read_text(encoding="utf-8")
    (tmp_path / "types.yaml").write_text("types: [{name: small, cores: 4, most: 9}]")
    found = read(tmp_path, page.partition("```yaml\n")[2].partition("```")[0])
    assert [engine.name for engine in found.engines] == ["slurm", "kubernetes"]
    assert found.journal == tmp_path / "control.db"
    # Each field of an engine is documented.
    fields = {name for kind in _KINDS.values() for name in kind.model_fields} - {"engine"}
    assert fields == {name for name in fields if f"`{name}`" in page}


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such file, expected a list of engines"):
        read_cluster(tmp_path / "none.yaml", acts=False, report=print)
