"""The command line, which is part of the native module."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run `seamgate` with the arguments of this process, and exit with its status."""
    from ._backend import backend

    if backend != "native":
        print(
            "seamgate: this platform has no native wheel of seamgate, and so no command line in Python", file=sys.stderr
        )
        sys.exit(2)
    from . import _native
    from ._parquet import judge, write_rows

    # Lets Ctrl-C end the command at once: Python's own handler would wait until the command returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = _native.main(["seamgate", *sys.argv[1:]], judge, write_rows)
    sys.exit(status)
