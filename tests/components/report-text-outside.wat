;; A text of the report lies outside of the memory.
;; validate: trap: the component failed: string pointer/length out of bounds of memory

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    ;; `feedback`.
    (i32.store (i32.const 140) (i32.const 0x7fffffff))
    (i32.store (i32.const 144) (i32.const 10))
    (i32.const 0)))
