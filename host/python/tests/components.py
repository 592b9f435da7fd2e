"""Components that do harm, made of readable text."""

from __future__ import annotations

from wasmtime import wat2wasm

_TEXT = """
(component
  (core module $module
    (memory (export "memory") 1)
    (data (i32.const 16) "{\\"id\\":null,\\"result\\":[\\"a\\"]}")
    (data (i32.const 256) "{answer}")
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
    (func $deeper (export "deeper") (result i32) (i32.add (call $deeper) (i32.const 1)))
    (func (export "call") (param i32 i32) (result i32)
      ;; {"op":"names"}, by which a gate begins, is answered.
      (i32.store (i32.const 0) (i32.const 16))
      (i32.store (i32.const 4) (i32.const 26))
      (if (i32.ne (local.get 1) (i32.const 14)) (then
        (i32.store (i32.const 0) (i32.const 256))
        (i32.store (i32.const 4) (i32.const {length}))
        {body}))
      (i32.const 0)))
  (core instance $instance (instantiate $module))
  (func $call (param "request" string) (result string)
    (canon lift (core func $instance "call") (memory (core memory $instance "memory"))
      (realloc (core func $instance "realloc"))))
  (instance $wire (export "call" (func $call)))
  (instance $registry (export "register" (func $call)) (export "lint" (func $call)))
  (export "seamgate:validator/wire@0.1.0" (instance $wire))
  (export "seamgate:validator/registry@0.1.0" (instance $registry)))
"""


def component(body: str = "", answer: str = "") -> bytes:
    """A component whose `wire.call` does this, and then answers so."""
    data = "".join(f"\\{byte:02x}" for byte in answer.encode())
    text = _TEXT.replace("{body}", body).replace("{answer}", data).replace("{length}", str(len(answer.encode())))
    return bytes(wat2wasm(text))


ENDLESS = "(loop $again (br $again))"
RECURSION = "(drop (call $deeper))"
TRAP = "(unreachable)"
# Takes memory until it gets none, and traps then.
HOARDER = """(loop $again (br_if $again (i32.ge_s (memory.grow (i32.const 16)) (i32.const 0)))) (unreachable)"""
