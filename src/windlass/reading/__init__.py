"""What is read from outside and is checked: YAML, its fields, tables.

- :mod:`~windlass.reading.yaml_text`: YAML without what surprises: no key twice, no value that holds itself, no file
  that unfolds into more than memory.
- :mod:`~windlass.reading.fields`: fields of a file, each of its type; a truth value is no number.
- :mod:`~windlass.reading.tables`: tables in Parquet and CSV, of which a damaged one is an error in a line.
"""

from windlass.reading.fields import Fields
from windlass.reading.tables import read_csv, read_parquet
from windlass.reading.yaml_text import parse_yaml, read_yaml

__all__ = ["Fields", "parse_yaml", "read_csv", "read_parquet", "read_yaml"]
