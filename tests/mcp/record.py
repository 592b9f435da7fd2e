"""Passes every byte between a client and a server on, and keeps a copy.

`record.py FILE SERVER ...` writes FILE.in and FILE.out.
"""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path


def pump(source: int, target: int, copy: Path) -> None:
    """Pass on what comes, until one side ends."""
    with copy.open("wb", buffering=0) as kept:
        while piece := os.read(source, 1 << 16):
            kept.write(piece)
            while piece:
                try:
                    piece = piece[os.write(target, piece) :]
                except OSError:
                    return
    os.close(target)


def main() -> int:
    """Run the server between two pumps. Gives its exit status."""
    kept = Path(sys.argv[1])
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    there, back = os.dup(server.stdin.fileno()), server.stdout.fileno()
    server.stdin.close()
    # A client that stays silent must not keep us after the server's end.
    threading.Thread(target=pump, args=(0, there, kept.with_suffix(".in")), daemon=True).start()
    answers = threading.Thread(target=pump, args=(back, os.dup(1), kept.with_suffix(".out")))
    answers.start()
    answers.join()
    return server.wait()


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status & 0xFF)
