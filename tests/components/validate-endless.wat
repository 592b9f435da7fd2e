;; A validator whose `validate` never ends.
;; validate: out_of_fuel: the verdict took more than 100001500 units of fuel

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again (br $again))
    unreachable))
