;; It fills 64 MiB over and over: few instructions, and much to do.
;; validate: out_of_fuel: the verdict took more than 100001500 units of fuel

(module
  (memory (export "memory") 1024)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x4000000))
      (br $again))
    unreachable))
