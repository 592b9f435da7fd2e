;; The report says that the output is accepted, and has no document.
;; validate: trap: the component failed: invalid report: expected `output` exactly where `disposition` is accepted or partial

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    ;; All of it is zero.
    (i32.const 0)))
