;; The disposition of the report is none that there is.
;; validate: trap: the component failed: unexpected discriminant: 9

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.store8 (i32.const 4) (i32.const 9))
    (i32.const 0)))
