;; A validator that takes memory without end, and goes on when it gets none.
;; validate: out_of_memory: the verdict took more than 67108864 bytes of memory

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (drop (memory.grow (i32.const 1)))
      (br $again))
    unreachable))
