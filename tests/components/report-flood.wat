;; The texts of the report are few in memory, and would be 150 MB outside: they are all the same.
;; validate: trap: the component failed: too much data is being copied between the host and the guest

(module
  (memory (export "memory") 900)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    ;; `notes`: a list of three.
    (i32.store (i32.const 128) (i32.const 512))
    (i32.store (i32.const 132) (i32.const 3))
    (i32.store (i32.const 512) (i32.const 1024))
    (i32.store (i32.const 516) (i32.const 50000000))
    (i32.store (i32.const 520) (i32.const 1024))
    (i32.store (i32.const 524) (i32.const 50000000))
    (i32.store (i32.const 528) (i32.const 1024))
    (i32.store (i32.const 532) (i32.const 50000000))
    (i32.const 0)))
