"""The package for Python: answers each line of standard input, a request, with one line, and after a tab the fuel it took. Each
request has an instance of its own."""

import sys

from seamgate import Gate


def main():
    gate = Gate()
    for request in sys.stdin.buffer:
        answer = gate.call(request.rstrip(b"\n").decode())
        sys.stdout.buffer.write(f"{answer.json}\t{answer.usage.fuel}\n".encode())


main()
