"""Files: what is read from outside is validated, and what is written is complete or absent.

Whatever ends a command while it writes (a signal, a full disk, another command), the previous content of a file or
folder stays until all of its replacement is on the disk.

- :mod:`~windlass.io.traces`: logs and other recorded data, one file a format.
- :mod:`~windlass.io.yaml_text`: YAML without duplicate keys, recursive values, or files that unfold into more than
  memory.
- :mod:`~windlass.io.fields`: typed fields of a file; a truth value is not a number.
- :mod:`~windlass.io.tables`: Parquet and CSV tables; a damaged one is an error of one line.
- :mod:`~windlass.io.files`: writing one file atomically.
- :mod:`~windlass.io.folder`: a folder of results that one command at a time may write.
- :mod:`~windlass.io.saved_state`: the container of learned state, with version and checksum.
- :mod:`~windlass.io.together`: several files that enter a folder together.
"""

from windlass.io.fields import Fields
from windlass.io.files import check_file, parquet, replaced, write_bytes, write_text
from windlass.io.folder import Claim, claimed
from windlass.io.saved_state import seal, seal_text, unseal, unseal_text
from windlass.io.tables import read_csv, read_parquet
from windlass.io.together import added_to, check_folder
from windlass.io.yaml_text import parse_yaml, read_yaml

__all__ = [
    "Claim",
    "Fields",
    "added_to",
    "check_file",
    "check_folder",
    "claimed",
    "parquet",
    "parse_yaml",
    "read_csv",
    "read_parquet",
    "read_yaml",
    "replaced",
    "seal",
    "seal_text",
    "unseal",
    "unseal_text",
    "write_bytes",
    "write_text",
]
