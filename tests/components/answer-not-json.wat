;; Its answer is a word.
;; call: trap: the component failed: invalid answer: expected one line of JSON

(module
  (memory (export "memory") 1)
  (data (i32.const 512) "accepted")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/wire@0.1.0#call") (param i32 i32) (result i32)
    (i32.store (i32.const 0) (i32.const 512))
    (i32.store (i32.const 4) (i32.const 8))
    (i32.const 0)))
