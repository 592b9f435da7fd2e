"""The command line: `python -m seamgate`."""

from ._command import main

main()
