"""Files and folders that are there whole, or as they were.

Whatever ends a command while it writes (a signal, a full disk, another command), what was in a place before stays
there until all that replaces it is on the disk.

- :mod:`~windlass.saving.files`: one file.
- :mod:`~windlass.saving.folder`: a folder of results, which one command at a time may write.
"""

from windlass.saving.files import check_file, write_bytes, write_text
from windlass.saving.folder import Claim, claimed

__all__ = ["Claim", "check_file", "claimed", "write_bytes", "write_text"]
