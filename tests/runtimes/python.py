"""The package for Python: answers each line of standard input, a request, with one line. Each request has an instance of its
own."""

import sys

from seamgate import Gate


def main():
    gate = Gate()
    for request in sys.stdin.buffer:
        sys.stdout.buffer.write(gate.call(request.rstrip(b"\n").decode()).encode() + b"\n")


main()
