;; The document of the report is no JSON: two lines, the second of which looks like an answer.
;; validate: trap: the component failed: invalid report: expected each document as one line of JSON

(module
  (memory (export "memory") 1)
  (data (i32.const 512) "1\n{\22id\22:2}")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "seamgate:validator/validate@0.1.0#validate")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    ;; `output`.
    (i32.store8 (i32.const 36) (i32.const 1))
    (i32.store (i32.const 40) (i32.const 512))
    (i32.store (i32.const 44) (i32.const 10))
    (i32.const 0)))
