"""The command line, which the native module has."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run `seamgate` with the arguments of this process, and end with its exit status."""
    from ._backend import backend

    if backend != "native":
        print(
            "seamgate: this platform has no native wheel of seamgate, and so no command line in Python", file=sys.stderr
        )
        sys.exit(2)
    from . import _native
    from ._parquet import judge, write_rows

    # As in a program of its own: Python would keep Ctrl-C until the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = _native.main(["seamgate", *sys.argv[1:]], judge, write_rows)
    sys.exit(status)
