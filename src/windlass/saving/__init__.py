"""Files and folders that are there whole, or as they were.

Whatever ends a command while it writes (a signal, a full disk, another command), what was in a place before stays
there until all that replaces it is on the disk.

- :mod:`~windlass.saving.files`: one file.
- :mod:`~windlass.saving.folder`: a folder of results, which one command at a time may write.
- :mod:`~windlass.saving.together`: a few files, which go into a folder together.
"""

from windlass.saving.files import check_file, parquet, replaced, write_bytes, write_text
from windlass.saving.folder import Claim, claimed
from windlass.saving.together import added_to, check_folder

__all__ = [
    "Claim",
    "added_to",
    "check_file",
    "check_folder",
    "claimed",
    "parquet",
    "replaced",
    "write_bytes",
    "write_text",
]
