"""The page on logs: its example, formats and columns are correct."""

import re
from pathlib import Path

from windlass.io.traces import FORMATS
from windlass.io.traces.roles import ROLES

PAGE = (Path(__file__).parents[2] / "docs" / "logs.md").read_text(encoding="utf-8")


def test_the_example_prints_the_documented_output(capsys, tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    documented = re.findall(r"^print\(.*\)  # (.*)$", code, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == documented


def test_every_format_has_a_row():
    rows = {
        name
        for row in re.findall(r"^\| (`[^|]*`) \|", PAGE, flags=re.MULTILINE)
        for name in re.findall("`(.*?)`", row)
    }
    assert {known.name for known in FORMATS} <= rows


def test_every_column_has_a_row_with_all_of_its_names():
    for role in ROLES:
        (row,) = re.findall(
            rf"^\| `{role.name}` \| ((?:`\w+`(?:, )?)*) ?\| [^|]*\|$", PAGE, flags=re.MULTILINE
        )
        assert re.findall(r"`(\w+)`", row) == [name for name in role.names if name != role.name]
