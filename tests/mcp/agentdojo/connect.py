"""Hands its standard streams to a server that `replay.py` forks, and lives as long: `connect.py SOCKET WHICH`."""

import socket
import sys

with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    socket.send_fds(line, [sys.argv[2].encode()], [0, 1])
    line.recv(1)
