;; A text of the report is not UTF-8.
;; validate: trap: the component failed: invalid utf-8 sequence of 1 bytes from index 0

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    ;; `feedback`: the byte FF, which no text has.
    (i32.store8 (i32.const 512) (i32.const 0xff))
    (i32.store (i32.const 140) (i32.const 512))
    (i32.store (i32.const 144) (i32.const 1))
    (i32.const 0)))
