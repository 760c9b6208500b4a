"""The examples and lists of docs/scale.md are correct."""

import re
from pathlib import Path

from windlass.scale.forecast import forecasters

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")


def test_the_documented_example_prints_the_documented_output(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(code, {})
    documented = re.findall(r"^print\(.*\)  # (.*)$", code, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == documented


def test_every_forecaster_is_documented():
    assert all(f"`{name}`" in PAGE for name in forecasters())
