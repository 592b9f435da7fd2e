;; It answers, and then never ends to give back what the answer was in.
;; call: out_of_fuel: the verdict took more than 100001000 units of fuel

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/wire@0.1.0#call") (param i32 i32) (result i32) (i32.const 0))
  (func (export "cabi_post_seamgate:validator/wire@0.1.0#call") (param i32)
    (loop $again (br $again))))
