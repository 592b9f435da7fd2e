"""The package for Python: answers each line of standard input, a request, with one line, and after a tab the fuel it took. Each
request has an instance of its own. The argument, where there is one, is the folder with the package that is asked."""

import sys

if len(sys.argv) > 1:
    sys.path.insert(0, sys.argv[1])

from seamgate import Gate, backend


def main():
    expected = "wasmtime" if len(sys.argv) > 1 else "native"
    assert backend == expected, f"this is the backend {backend}, not {expected}"
    gate = Gate()
    for request in sys.stdin.buffer:
        answer = gate.call(request.rstrip(b"\n").decode())
        sys.stdout.buffer.write(f"{answer.json}\t{answer.usage.fuel}\n".encode())


main()
