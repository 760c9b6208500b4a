"""Files: input is validated, and output is complete or absent.

If a command ends while it writes (by a signal, a full disk, or an error), the file or folder keeps its previous
content: it is only replaced once the whole replacement is on the disk.

- :mod:`~windlass.io.traces`: logs and other recorded data, one module per format.
- :mod:`~windlass.io.yaml_text`: YAML without duplicate keys or recursive values, and with a limit on the expanded size.
- :mod:`~windlass.io.fields`: typed fields of a file; booleans are not accepted as numbers.
- :mod:`~windlass.io.field_errors`: the first error of such fields in one line.
- :mod:`~windlass.io.json_errors`: the first error of a JSON message in one line.
- :mod:`~windlass.io.tables`: Parquet and CSV tables, with one-line errors for damaged files.
- :mod:`~windlass.io.files`: atomic writing of one file.
- :mod:`~windlass.io.folder`: a folder of results, which only one command at a time may write.
- :mod:`~windlass.io.saved_state`: the container format of learned state, with version and checksum.
- :mod:`~windlass.io.together`: several files that are added to a folder together.
- :mod:`~windlass.io.writer_lock`: the lock of a file that only one process at a time may write.
"""

from windlass.io.fields import Fields
from windlass.io.files import check_file, parquet, replace_file, write_bytes, write_text
from windlass.io.folder import Claim, claim_folder
from windlass.io.saved_state import seal, seal_text, unseal, unseal_text
from windlass.io.tables import read_csv, read_parquet
from windlass.io.together import add_to_folder, check_folder
from windlass.io.yaml_text import parse_yaml, read_yaml

__all__ = [
    "Claim",
    "Fields",
    "add_to_folder",
    "check_file",
    "check_folder",
    "claim_folder",
    "parquet",
    "parse_yaml",
    "read_csv",
    "read_parquet",
    "read_yaml",
    "replace_file",
    "seal",
    "seal_text",
    "unseal",
    "unseal_text",
    "write_bytes",
    "write_text",
]
