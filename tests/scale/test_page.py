"""What the page says is what happens."""

import re
from pathlib import Path

from windlass.scale.forecast import forecasters

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")


def test_its_example_prints_what_it_says(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(code, {})
    said = re.findall(r"^print\(.*\)  # (.*)$", code, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said


def test_every_forecaster_is_on_it():
    assert all(f"`{name}`" in PAGE for name in forecasters())
