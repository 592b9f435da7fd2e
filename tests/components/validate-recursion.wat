;; A validator whose `validate` calls itself for ever.
;; validate: stack_overflow: the verdict took more than 524288 bytes of stack

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $again))
  (func $again (result i32)
    (i32.add (call $again) (i32.const 1))))
