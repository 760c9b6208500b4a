"""A batch system's commands as programs on the PATH, which a fake in this process answers."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import threading
from contextlib import contextmanager

_PROGRAM = """#!{python} -ES
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as to:
    to.connect({path!r})
    to.sendall(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]).encode() + b"\\n")
    status, out, errors = json.loads(to.makefile().read())
sys.stdout.write(out)
sys.stderr.write(errors)
sys.exit(status)
"""

#: The commands of PBS that its driver uses, and those of HTCondor.
PBS = ("qstat", "pbsnodes", "qhold", "qrls")
HTCONDOR = ("condor_q", "condor_status", "condor_history", "condor_hold", "condor_release")


@contextmanager
def shims(folder, fake, before=lambda command: None, after=lambda command: None, programs=PBS):
    """Yield the environment in which the `programs` are answered by `fake`.

    `before` and `after` are called with each command, before and after it is carried out.
    """
    where = folder / "bin"
    where.mkdir()
    path = str(folder / "fake.socket")
    for name in programs:
        file = where / name
        file.write_text(_PROGRAM.format(python=sys.executable, path=path))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()

    def serve():
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                line = client.makefile().readline()
                if not line:
                    continue
                command = json.loads(line)
                before(command)
                answer = fake(command, 60.0)
                after(command)
                try:
                    client.sendall(json.dumps(answer).encode())
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield {
            **os.environ,
            "PATH": f"{where}{os.pathsep}{os.environ['PATH']}",
            "XDG_RUNTIME_DIR": str(folder),
        }
    finally:
        # Closing alone does not end a call of accept().
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
