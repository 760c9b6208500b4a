"""The file of a journal as a process leaves it that is killed within a write."""

from windlass.engines.batch import store

#: What SQLite adds to the name of a file.
_ENDS = ("", "-wal", "-shm")


class JournalDisk:
    """The disk of a journal at `path`. Its writes need not survive the end of this machine."""

    def __init__(self, path):
        self.path, self._left = path, None
        self._files = [path.with_name(f"{path.name}{end}") for end in _ENDS]

    def cut(self, write, share):
        """Write, and note that only the first `share` of the bytes that change in SQLite's log are to be there.

        Returns
        -------
        Whether these are all.
        """
        log = self._files[1]
        before = log.read_bytes() if log.exists() else b""
        write()
        after = log.read_bytes()
        changed = [at for at in range(len(after)) if before[at : at + 1] != after[at : at + 1]]
        left = int(share * len(changed))
        end = changed[left] if left < len(changed) else len(after)
        self._left = self.path.read_bytes(), after[:end] + before[end:]
        return left >= len(changed)

    def restart(self):
        """Leave what a process left that was killed within a write; call it once its connection is closed."""
        if self._left is None:
            return
        for file, content in zip(self._files, (*self._left, None), strict=True):
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(content)
        self._left = None

    def clear(self):
        """Remove the journal."""
        for each in self.path.parent.glob(f"{self.path.name}*"):
            each.unlink()
        self._left = None


def unsynchronised(mock):
    """Return a patch by which nothing is forced to the disk, which takes most of the time of a run."""
    return mock.patch.object(store, "SYNCHRONOUS", "off")
