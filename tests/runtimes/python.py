"""Wasmtime for Python: `python.py COMPONENT` answers each line of standard input, a request, with one line, through the
component's `wire`. Each request has an instance of its own."""

import sys

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker


def main():
    engine = Engine()
    component = Component.from_file(engine, sys.argv[1])
    linker = Linker(engine)
    wire = component.get_export_index("seamgate:validator/wire@0.1.0")
    call = component.get_export_index("call", wire)
    for request in sys.stdin.buffer:
        store = Store(engine)
        instance = linker.instantiate(store, component)
        answer = instance.get_func(store, call)(store, request.rstrip(b"\n").decode())
        sys.stdout.buffer.write(answer.encode() + b"\n")


main()
