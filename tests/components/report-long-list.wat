;; A list of the report has more entries than there is memory.
;; validate: trap: the component failed: list pointer/length out of bounds of memory

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    ;; `notes`.
    (i32.store (i32.const 132) (i32.const 0x80000000))
    (i32.const 0)))
